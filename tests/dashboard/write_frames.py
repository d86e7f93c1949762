"""Write the frames that `test_frames.py` compares with; look at the difference before you commit it.

python -m tests.dashboard.write_frames
"""

from tests.dashboard import pipelines
from tests.dashboard.drawing import FRAMES, drawn, stored
from tests.dashboard.pipelines import PIPELINES
from tests.dashboard.states import SIZES, STATES


def main() -> None:
    """Draw every state in every size."""
    FRAMES.mkdir(exist_ok=True)
    states = [(STATES, SIZES), (PIPELINES, pipelines.SIZES)]
    for name, state, sizes in ((name, each, sizes) for some, sizes in states for name, each in some.items()):
        for width, height in sizes:
            stored(name, width, height).write_text(drawn(state, width, height), encoding="utf-8")


if __name__ == "__main__":
    main()
