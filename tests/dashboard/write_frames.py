"""Write the frames that `test_frames.py` compares with; look at the difference before you commit it.

python -m tests.dashboard.write_frames
"""

from tests.dashboard.drawing import FRAMES, drawn, stored
from tests.dashboard.states import SIZES, STATES


def main() -> None:
    """Draw every state in every size."""
    FRAMES.mkdir(exist_ok=True)
    for name, state in STATES.items():
        for width, height in SIZES:
            stored(name, width, height).write_text(drawn(state, width, height), encoding="utf-8")


if __name__ == "__main__":
    main()
