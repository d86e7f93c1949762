"""Can the program beside a run be read, at any width, and by a screen reader?"""

from __future__ import annotations

COLUMNS = """() => {
  const heads = [...document.querySelectorAll("#listing [role=columnheader]")].filter((each) => each.checkVisibility());
  const wide = (each) => {
    const { left, right } = each.getBoundingClientRect();
    return [Math.round(left), Math.round(right)];
  };
  const rows = [...document.querySelectorAll("#listing .ground [role=row]")];
  const kept = (row) => [...row.querySelectorAll("[role=cell]")].filter((each) => each.checkVisibility());
  return {
    names: heads.map((each) => each.textContent),
    off: rows.filter((row) => heads.some((head, at) => wide(head)[0] !== wide(kept(row)[at])[0])).length,
    many: rows.filter((row) => kept(row).length !== heads.length).length,
    cut: rows.flatMap(kept).filter((cell) => !cell.matches(".who") && cell.scrollWidth > cell.clientWidth).length,
    number: wide(document.querySelector("#listing .row.line .number")),
    place: wide(document.getElementById("listing")),
    text: wide(document.querySelector("#listing .row.line .text")),
    rows: rows.length,
  };
}"""
NARROW = ["cycles", "at", "line", "program"]
WIDE = ["cycles", "share", "at", "line", "word", "each", "program"]


def test_columns_of_the_program_have_headings_and_nothing_is_cut(page_of_run: str, opened) -> None:
    """Headings stand above their cells; the text is scrolled sideways, and the numbers of its lines stay in sight."""
    page = opened(page_of_run, height=844)
    page.wait_for_selector("#listing .row.line")
    table = page.get_by_role("table", name="Program with the cycles of each line")
    assert page.locator(".row.file").first.text_content() == "texture_copy.mc"
    for width, names in ((1280, WIDE), (390, NARROW)):
        page.set_viewport_size({"width": width, "height": 844})
        page.evaluate("document.getElementById('listing').scrollLeft = 0")
        page.wait_for_timeout(100)
        found = page.evaluate(COLUMNS)
        assert found["names"] == names
        assert (found["off"], found["many"], found["cut"]) == (0, 0, 0) and found["rows"] > 10
        assert [each.text_content() for each in table.get_by_role("columnheader").all()] == names
        assert int(table.get_attribute("aria-rowcount")) > found["rows"]
        page.evaluate("document.getElementById('listing').scrollLeft = 130")
        page.wait_for_timeout(100)
        after = page.evaluate(COLUMNS)
        left, right = after["place"]
        assert after["text"][0] < found["text"][0] and left <= after["number"][0] <= after["number"][1] <= right
        assert after["off"] == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= width
