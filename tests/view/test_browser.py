"""Does the page of a run do in a real browser what it says: dragged, clicked, typed at, loaded again, opened twice?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pixelflow.node import SavedRun
from tests.view.conftest import END, TRACED, served, until


def cycle_of(page) -> int:
    return int(page.locator("#timeline").get_attribute("data-cycle"))


def window_of(page) -> list[int]:
    return [int(each) for each in page.locator("#timeline").get_attribute("data-window").split(":")]


def stands_at(page, cycle: int) -> None:
    page.wait_for_selector(f"#timeline[data-cycle='{cycle}']")


def carried_out(page, command: str) -> None:
    page.locator("#text").fill(command)
    page.locator("#text").press("Enter")


def test_a_run_is_stepped_through(page_of_run: str, recorded: Path, opened) -> None:
    page = opened(page_of_run)
    page.wait_for_selector(TRACED)
    assert window_of(page) == [0, END]
    page.get_by_role("button", name="step", exact=True).click()
    stands_at(page, SavedRun.load(recorded).replay().step())
    page.locator("#cycle").fill("3,000")
    page.get_by_role("button", name="run to").click()
    stands_at(page, 3000)
    assert "cycle 3,000" in page.locator("#where").text_content()
    page.reload()
    stands_at(page, 3000)
    assert page.locator(".row.here").count() >= 1


@pytest.mark.slow
@pytest.mark.parametrize("nonsense", ["-5", "abc", "1e99", "17,239", "0.5", "", "9" * 400])
@pytest.mark.parametrize("width", [1280, 390])
def test_a_cycle_that_cannot_be_is_answered_beside_its_field(
    page_of_run: str, opened, nonsense: str, width: int
) -> None:
    page = opened(page_of_run, width=width, height=720 if width > 700 else 844)
    page.wait_for_selector(TRACED)
    before, field, answer = cycle_of(page), page.locator("#cycle"), page.locator("#cycle-error")
    field.fill(nonsense)
    field.press("Enter")
    assert "17,238" in answer.text_content()
    assert field.input_value() == nonsense and field.get_attribute("aria-invalid") == "true"
    box, below = field.bounding_box(), answer.bounding_box()
    assert abs(below["y"] - box["y"]) < 90 and below["x"] >= 0 and below["x"] + below["width"] <= width
    assert cycle_of(page) == before
    field.fill("7")
    assert answer.text_content() == "" and field.get_attribute("aria-invalid") is None
    field.press("Enter")
    stands_at(page, 7)


@pytest.mark.slow
def test_a_run_is_explored(page_of_run: str, opened) -> None:
    page = opened(page_of_run)
    page.wait_for_selector(TRACED)
    timeline = page.locator("#timeline")
    box = timeline.bounding_box()

    timeline.focus()
    for _ in range(6):
        page.keyboard.press("+")
    until(page, "document.getElementById('timeline').dataset.window !== '0:17238'")
    page.wait_for_timeout(200)
    begin, end = window_of(page)
    assert end - begin == pytest.approx(END * 0.7**6, abs=6)
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(200)
    assert window_of(page)[0] > begin

    before = window_of(page)
    page.mouse.move(box["x"] + 800, box["y"] + 60)
    page.mouse.down()
    for step in range(1, 21):
        page.mouse.move(box["x"] + 800 - 20 * step, box["y"] + 60)
    page.mouse.up()
    page.wait_for_timeout(200)
    after = window_of(page)
    assert after[0] > before[0] and after[1] - after[0] == before[1] - before[0]
    assert page.evaluate("performance.getEntriesByName('drag-to-picture').length") > 5

    page.mouse.click(box["x"] + 700, box["y"] + 60)
    until(page, "Number(document.getElementById('timeline').dataset.cycle) > 0")
    inside = cycle_of(page)
    begin, end = window_of(page)
    assert begin < inside < end
    page.mouse.click(box["x"] + box["width"] - 30, box["y"] + 27)  # in the strip of the whole run
    until(page, f"document.getElementById('timeline').dataset.window.endsWith(':{END}')")
    assert window_of(page)[1] - window_of(page)[0] == end - begin
    page.mouse.move(box["x"] + 650, box["y"] + 42)
    until(page, "document.getElementById('hover').textContent.includes('eigc')")
    timeline.focus()
    page.keyboard.press("Home")
    page.wait_for_selector("#timeline[data-window='0:17238']")

    carried_out(page, "break stage read")
    until(page, "document.getElementById('stops').textContent.includes('stage read')")
    carried_out(page, "goto 0")
    stands_at(page, 0)
    page.get_by_role("button", name="continue").click()
    until(page, "document.getElementById('said').textContent.includes('begins stage read')")
    assert 2000 < cycle_of(page) < 4000
    carried_out(page, "flurb")
    until(page, "document.getElementById('said').textContent.includes('unknown command')")

    page.wait_for_selector("#listing[data-heat='0:17238']")
    carried_out(page, "goto 5000")
    stands_at(page, 5000)
    page.locator(".row.here .heat").filter(has_text="14,345").first.wait_for()  # as `run` prints: read, wait sem 1


@pytest.mark.slow
def test_pes_are_looked_at(page_of_run: str, opened) -> None:
    page = opened(page_of_run)
    page.wait_for_selector(TRACED)
    carried_out(page, "end")
    stands_at(page, END)
    page.locator("#what").fill("byte 320")
    page.locator("#what").press("Enter")
    page.wait_for_selector("#map[data-what='byte 320']")
    assert "byte 320: black" in page.locator("#map-caption").text_content()
    chosen = page.locator("#map")
    chosen.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    until(page, "document.getElementById('element').textContent.includes('at x 2, y 1')")
    page.locator(".memory button[data-at='352']").click()
    until(page, "document.getElementById('decoded').textContent.startsWith('byte 352 (output port)')")
    page.keyboard.press("ArrowRight")
    until(page, "document.getElementById('decoded').textContent.startsWith('byte 353 (output port)')")
    page.locator("#what").fill("nix")
    page.locator("#what").press("Enter")
    page.wait_for_selector("#map-caption.error")


@pytest.mark.slow
def test_two_pages_at_once_have_their_own_runs(page_of_run: str, opened) -> None:
    first, second = (opened(page_of_run) for _ in range(2))
    for page in (first, second):
        page.wait_for_selector(TRACED)
    for cycle in (100, 200, 300):
        carried_out(first, f"goto {cycle}")
        carried_out(second, f"goto {cycle + 7}")
    stands_at(first, 300)
    stands_at(second, 307)
    twin = first.context.new_page()  # a copy of a tab brings the copy of its name along
    name = first.evaluate("sessionStorage.getItem('pixelflow.page')")
    twin.add_init_script(
        f"sessionStorage.getItem('pixelflow.page') ?? sessionStorage.setItem('pixelflow.page', '{name}')"
    )
    twin.goto(page_of_run)
    stands_at(twin, 300)
    until(first, f"sessionStorage.getItem('pixelflow.page') !== '{name}'")


CHAIN = "vaddps v1, v2, v3\nvaddps v4, v1, v1\nvmulps v5, v4, v4\n"
"""On Larrabee: issues in cycles 0, 4 and 8, each waits for the result of the one before."""


@pytest.fixture(scope="module")
def page_of_larrabee(require_server: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("larrabee")
    (folder / "chain.mc").write_text(CHAIN)
    with served("--machine", "larrabee", str(folder / "chain.mc"), folder=folder) as (address, _):
        yield address


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 400])
def test_a_run_of_larrabee_is_explored(page_of_larrabee: str, opened, width: int) -> None:
    """Timeline, source with heat and a cursor; what a node alone has is not there to be seen or reached."""
    page = opened(page_of_larrabee.removesuffix("#run"), width=width)
    page.wait_for_selector("#timeline[data-known='9']")
    assert "Larrabee" in page.locator("#run-about").text_content()
    for name in ("#map", "#element", "#command", "#stop", "#interrupt", "#calls", "#stops", "#said", "#tab-alive"):
        assert not page.locator(name).is_visible()
    assert page.locator("[data-command]:visible").all_text_contents() == ["start", "back", "step"]
    assert page.locator("button.mark").count() == 0
    page.get_by_role("button", name="step", exact=True).click()
    stands_at(page, 1)
    page.keyboard.press("s")
    stands_at(page, 4)
    page.keyboard.press("u")
    stands_at(page, 1)
    page.locator("#cycle").fill("8")
    page.get_by_role("button", name="run to").click()
    stands_at(page, 8)
    assert "vmulps v5," in page.locator("#streams").text_content()
    page.locator(".row.here").filter(has_text="vmulps v5, v4, v4").wait_for()
    page.locator("#cycle").fill("soon")
    page.get_by_role("button", name="run to").click()
    until(page, "document.getElementById('cycle-error').textContent === 'allowed: a whole number from 0 to 9'")
    page.wait_for_selector("#listing[data-heat='0:9']")
    hot = page.locator(".row.line").filter(has=page.locator(".heat", has_text=re.compile("^4$")))
    assert hot.first.locator(".share").text_content() == "44.4%"  # four cycles of nine
    box = page.locator("#timeline").bounding_box()
    page.mouse.click(box["x"] + box["width"] - 3, box["y"] + 42)
    stands_at(page, 9)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
def test_a_page_gives_a_killed_server_up(recorded: Path, tmp_path: Path, browser) -> None:
    context = browser.new_context()
    with served(str(recorded), folder=tmp_path) as (address, process):
        page = context.new_page()
        page.goto(address)
        page.wait_for_selector(TRACED)
        process.kill()
        page.wait_for_selector("#link[data-state='closed']:has-text('not connected')")
        page.wait_for_selector("#link[data-state='closed']:has-text('the server has ended')", timeout=30_000)
    context.close()
