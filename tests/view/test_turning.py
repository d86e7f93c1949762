"""Is the picture in the browser the machine's, turned, chosen anew, dropped, and loaded again?"""

from __future__ import annotations

import base64
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from pixelflow.simd.drawing import Draw, Frame, draw, draw_frame
from tessellation import format_bpt, load, tessellate
from tessellation.picture import BACKGROUND, View, lit_triangles
from tests.view.conftest import served, until

PIXELS = """() => {
  const canvas = document.getElementById("picture");
  const pen = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0);
  const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
  let text = "";
  for (let at = 0; at < data.length; at += 4) text += String.fromCharCode(data[at], data[at + 1], data[at + 2]);
  return btoa(text);
}"""


@pytest.fixture(scope="module")
def page_of_patches(require_server: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served("enneper", folder=tmp_path_factory.mktemp("patches")) as (address, _):
        yield address


def frames(page) -> int:
    return int(page.locator("#picture").get_attribute("data-frames") or 0)


def drawn_again(page, act) -> None:
    before = frames(page)
    act()
    until(page, f"Number(document.getElementById('picture').dataset.frames) > {before}")


def without_rest(page) -> None:
    """Wait for the picture of a page just opened, and have no more of it than is asked for."""
    page.evaluate("document.querySelector('#choices .more').open = true")
    until(page, "document.getElementById('picture').dataset.side === '8'")
    drawn_again(page, lambda: page.locator("#choices [name=antialias]").uncheck())


def chosen(page, **values: str) -> None:
    page.evaluate("document.querySelector('#choices .more').open = true")
    for name, value in values.items():
        field = page.locator(f"#choices [name={name}]")
        if field.evaluate("element => element.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
            field.blur()


@pytest.mark.slow
def test_the_picture_in_the_browser_is_the_machine_s_bit_by_bit(page_of_patches: str, opened, tmp_path: Path) -> None:
    page = opened(page_of_patches)
    without_rest(page)
    drawn_again(page, lambda: chosen(page, samples="3"))
    drawn_again(page, lambda: chosen(page, size="160x120"))
    page.wait_for_selector("#link[data-state='open']", timeout=60_000)
    page.locator("#picture").focus()
    drawn_again(page, lambda: page.keyboard.press("ArrowRight"))
    page.wait_for_selector("#link[data-state='open']", timeout=60_000)
    view = page.evaluate("JSON.parse(sessionStorage.getItem('pixelflow.view'))")
    assert view["azimuth"] == 304  # -62 and 6 more
    mesh = tessellate(load("enneper").patches, 3).mesh(weld=True)
    seen = View(**view, width=160, height=120)
    triangles = lit_triangles(mesh.points, mesh.normals, mesh.triangles, seen)
    assert base64.b64decode(page.evaluate(PIXELS)) == draw(triangles, 160, 120, BACKGROUND).colours.tobytes()
    assert "machine time" in page.locator("#figures").text_content()
    page.locator("#choices [name=antialias]").check()
    until(page, "document.getElementById('picture').dataset.pixel === '4'")
    frame = Frame(160, 120, BACKGROUND, (Draw("enneper", triangles),), 4)
    assert base64.b64decode(page.evaluate(PIXELS)) == draw_frame(frame).colours.tobytes()
    assert "4 samples a pixel" in page.locator("#figures").text_content()
    drawn_again(page, lambda: page.locator("#choices [name=antialias]").uncheck())
    assert page.locator("#stages table").count() == 2
    assert "1,344 cycles" in page.locator("#figures").text_content()
    assert "LEE configuration" not in page.locator("#stages").text_content()

    box = page.locator("#picture").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 100)
    page.mouse.down()
    drawn_again(page, lambda: page.mouse.move(box["x"] + 260, box["y"] + 120, steps=4))
    page.mouse.up()
    assert page.evaluate("JSON.parse(sessionStorage.getItem('pixelflow.view')).azimuth") == 274

    (tmp_path / "two.bpt").write_text(format_bpt(load("teapot").patches[:2]))
    page.locator("#file").set_input_files(tmp_path / "two.bpt")
    until(page, "document.querySelector('#choices [name=model]').value === 'dropped'")
    until(page, "document.getElementById('figures').textContent.includes('samples, triangles18, 16')")
    (tmp_path / "bad.bpt").write_text("1\n3 3\nno numbers")
    page.locator("#file").set_input_files(tmp_path / "bad.bpt")
    page.wait_for_selector("#frame-error:not([hidden])")
    assert "bad.bpt" in page.locator("#frame-error").text_content()


@pytest.mark.slow
def test_a_page_that_is_loaded_again_has_what_was_chosen_and_turns_if_it_turned(page_of_patches: str, opened) -> None:
    page = opened(page_of_patches)
    without_rest(page)
    assert page.locator("#choices [name=model]").input_value() == "enneper"
    wanted = {"size": "160x120", "samples": "3", "moving": "2", "schedule": "shared-columns", "library": "plain"}
    for name, value in {**wanted, "model": "rosette", "machine": "larrabee"}.items():
        drawn_again(page, lambda name=name, value=value: chosen(page, **{name: value}))
    drawn_again(page, lambda: page.locator("#choices [name=flat]").check())
    wanted |= {"model": "rosette", "machine": "larrabee"}
    page.reload()
    until(page, "document.getElementById('picture').dataset.side === '3'")
    assert {name: page.locator(f"#choices [name={name}]").input_value() for name in wanted} == wanted
    assert page.locator("#choices [name=flat]").is_checked()
    assert not page.locator("#choices [name=turning]").is_checked()
    assert "drawing, Larrabee" in page.locator("#figures").text_content()
    assert page.evaluate("[picture.width, picture.height, picture.dataset.side]") == [160, 120, "3"]

    page.locator("#choices [name=turning]").check()
    turned = "Number(document.getElementById('picture').dataset.frames) > 3"
    until(page, turned)
    azimuth = "JSON.parse(sessionStorage.getItem('pixelflow.view')).azimuth"
    before = page.evaluate(azimuth)
    page.reload()
    until(page, turned)
    assert page.locator("#choices [name=turning]").is_checked() and page.evaluate(azimuth) != before
    page.locator("#choices [name=turning]").uncheck()
    page.reload()
    until(page, "document.getElementById('picture').dataset.side === '3'")
    assert not page.locator("#choices [name=turning]").is_checked()
    page.evaluate("""sessionStorage.setItem("pixelflow.choices",
      JSON.stringify({ page: "/another/", chosen: { model: "teapot", samples: "3" } }))""")
    page.reload()
    until(page, "document.getElementById('picture').dataset.side === '8'")
    assert page.locator("#choices [name=model]").input_value() == "enneper", "another address has other patches"
    assert page.locator("#choices [name=samples]").input_value() == "8"


@pytest.mark.slow
def test_a_picture_is_looked_into(page_of_patches: str, opened) -> None:
    page = opened(page_of_patches)
    without_rest(page)
    chosen(page, samples="2", size="160x120")
    page.get_by_role("button", name="Look into region").click()
    until(page, "document.getElementById('run-name').textContent.startsWith('region 0,0')")
    page.get_by_role("button", name="step", exact=True).click()
    until(page, "Number(document.getElementById('timeline').dataset.cycle) > 0")
    page.get_by_role("tab", name="Machine").click()
    assert page.locator("#picture").is_visible() and not page.locator("#timeline").is_visible()


@pytest.mark.slow
def test_a_page_whose_server_ends_while_it_turns_says_so(require_server: None, opened, tmp_path: Path) -> None:
    """It does not ask again and again: a click still counts."""
    with served("enneper", "--jobs", "2", folder=tmp_path) as (address, process):
        page = opened(address)
        page.locator("#choices [name=turning]").check()
        until(page, "Number(document.getElementById('picture').dataset.frames) > 30")
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        page.wait_for_selector("#link[data-state='closed']", timeout=20_000)
        page.locator("#choices [name=turning]").uncheck()
        assert not page.locator("#choices [name=turning]").is_checked()
        assert "server" in page.locator("#frame-error").text_content()
