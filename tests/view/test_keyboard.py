"""Does the keyboard reach everything on the page, in the order in which it is read, and see where it is?"""

from __future__ import annotations

import pytest

from tests.view.conftest import TRACED, until

pytestmark = pytest.mark.slow

BAR = ["theme"]
MOVES = ["start", "back", "step", "over", "out", "continue", "interrupt", "cycle", "run to", "place", "add"]
PANES = ["timeline", "follow", "listing", "what", "map", "byte 0: 0", "named ranges (0)", "where", "said", "text"]
CHOICES = ["model", "samples", "moving", "schedule", "library", "machine", "size", "flat", "turning"]
INTO = ["What is counted, and what not", "into-tessellation", "into-region", "region"]

FOCUSED = """() => {
  const at = document.activeElement;
  if (at === document.body) return null;
  const ringed = at.closest("label.file") ?? at, style = getComputedStyle(ringed);
  const out = parseFloat(style.outlineWidth) + parseFloat(style.outlineOffset);
  const box = ringed.getBoundingClientRect();
  const hidden = (frame) => box.left - out < frame.left || box.right + out > frame.right + 1;
  let cut = style.outlineStyle === "none" || box.bottom < 0 || box.top > innerHeight || out < 0 && box.width < 9;
  for (let over = ringed.parentElement; over; over = over.parentElement) {
    if (getComputedStyle(over).overflowX !== "visible") cut ||= hidden(over.getBoundingClientRect());
  }
  return { name: at.id || at.name || at.getAttribute("aria-label") || at.textContent.trim(), cut };
}"""


def walked(page) -> tuple[list[str], list[str]]:
    """Go through the page by Tab; return what was met, and of it what has no outline that is wholly seen."""
    met, cut = [], []
    for _ in range(60):
        page.keyboard.press("Tab")
        found = page.evaluate(FOCUSED)
        if found is None:
            return met, cut
        met.append(found["name"])
        if found["cut"]:
            cut.append(found["name"])
    raise AssertionError(f"the walk never ends: {met}")


@pytest.mark.slow
def test_tab_goes_through_the_run(page_of_run: str, opened) -> None:
    page = opened(page_of_run)
    page.wait_for_selector(TRACED)
    page.wait_for_selector(".memory button")
    met, cut = walked(page)
    met = [each if not each.startswith("named") else "named ranges (0)" for each in met]
    assert met == ["tab-run", *BAR, *MOVES, *PANES]
    assert cut == []


@pytest.mark.slow
def test_tab_goes_through_the_machine(page_of_run: str, opened) -> None:
    page = opened(page_of_run.removesuffix("#run"))
    until(page, "Number(document.getElementById('picture').dataset.frames) > 0")
    met, cut = walked(page)
    assert met == ["tab-alive", *BAR, "picture", "file", *CHOICES, *INTO]
    assert cut == []
