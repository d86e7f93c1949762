"""Mesa's llvmpipe through OpenGL without a screen: how often does it cover each pixel?"""

import os
from collections.abc import Iterator

import numpy as np
import pytest

moderngl = pytest.importorskip("moderngl", reason="moderngl is not installed")

VERTEX = """
#version 330
uniform float half_side;
in vec2 place;
void main() { gl_Position = vec4(place / half_side - 1.0, 0.0, 1.0); }
"""
FRAGMENT = """
#version 330
out float count;
void main() { count = 1.0; }
"""


def llvmpipe() -> Iterator[moderngl.Context]:
    """Yield a context of llvmpipe; skip where there is none."""
    for name, value in (
        ("EGL_PLATFORM", "surfaceless"),
        ("LIBGL_ALWAYS_SOFTWARE", "1"),
        ("GALLIUM_DRIVER", "llvmpipe"),
    ):
        os.environ.setdefault(name, value)
    try:
        found = moderngl.create_context(standalone=True, backend="egl")
    except Exception as error:
        pytest.skip(f"no OpenGL without a screen here: {error}")
    if not found.info["GL_RENDERER"].startswith("llvmpipe"):
        pytest.skip(f"the renderer is {found.info['GL_RENDERER']}, not llvmpipe")
    yield found
    found.release()


def overdraw(context: moderngl.Context, points: np.ndarray, side: int, samples: int = 0) -> np.ndarray:
    """Return how often llvmpipe covers each pixel, or all its samples together; row 0 is at y = 0.

    ``side`` is a power of two, so that window coordinates are exact in binary32.
    """
    program = context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
    program["half_side"].value = side / 2
    buffer = context.buffer(points.astype("f4").reshape(-1, 2).tobytes())
    target = context.framebuffer([context.renderbuffer((side, side), 1, samples=samples, dtype="f4")])
    target.use()
    target.clear()
    context.enable(moderngl.BLEND)
    context.blend_func = moderngl.ONE, moderngl.ONE
    context.vertex_array(program, [(buffer, "2f", "place")]).render(moderngl.TRIANGLES)
    resolved = context.framebuffer([context.texture((side, side), 1, dtype="f4")])
    context.copy_framebuffer(resolved, target)  # the mean of the samples
    mean = np.frombuffer(resolved.read(components=1, dtype="f4"), "f4").reshape(side, side)
    return np.rint(mean * max(1, samples)).astype(int)


PAINTED_VERTEX = """
#version 330
uniform float half_side;
in vec3 place;
in vec2 texel;
in vec3 light;
out vec2 at;
out vec3 colour;
void main() {
    gl_Position = vec4((place.xy / half_side - 1.0) * place.z, 0.0, place.z);
    at = texel;
    colour = light;
}
"""
PAINTED_FRAGMENT = """
#version 330
uniform sampler2D image;
in vec2 at;
in vec3 colour;
out vec4 pixel;
void main() { pixel = vec4(colour * texture(image, at).rgb, 1.0); }
"""


def painted(
    context: moderngl.Context,
    side: int,
    corners: np.ndarray,
    texels: np.ndarray,
    colours: np.ndarray,
    coordinates: np.ndarray,
    levels: int = 0,
) -> np.ndarray:
    """Return what llvmpipe paints on black, float32[row, column, rgb] from 0 to 255; row 0 is at y = 0.

    ``corners`` are float[corner, xyw] in pixels and w, ``colours`` float[corner, rgb] from 0 to 255, ``coordinates``
    float[corner, uv] in texels of the picture ``texels``, uint8[row, column, rgba], which repeats and is filtered
    bilinearly, trilinearly between mipmaps where it has ``levels`` below the first. Texels are floats, since llvmpipe
    filters those of bytes in bytes.
    """
    program = context.program(vertex_shader=PAINTED_VERTEX, fragment_shader=PAINTED_FRAGMENT)
    program["half_side"].value = side / 2
    height, width = texels.shape[:2]
    image = context.texture((width, height), 4, (texels / 255).astype("f4").tobytes(), dtype="f4")
    image.filter = moderngl.LINEAR, moderngl.LINEAR
    if levels:
        image.build_mipmaps(max_level=levels)
        image.filter = moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR
    image.repeat_x = image.repeat_y = True
    image.use()
    data = np.concatenate([corners, coordinates / (width, height), colours / 255], axis=-1).astype("f4")
    target = context.framebuffer([context.texture((side, side), 4, dtype="f4")])
    target.use()
    target.clear()
    context.disable(moderngl.BLEND)
    buffer = context.buffer(data.tobytes())
    context.vertex_array(program, [(buffer, "3f 2f 3f", "place", "texel", "light")]).render(moderngl.TRIANGLES)
    return 255 * np.frombuffer(target.read(components=3, dtype="f4"), "f4").reshape(side, side, 3)
