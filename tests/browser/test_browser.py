"""What only a browser can tell: layout, keyboard, colour schemes, accessibility; no script is needed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.browser.conftest import PATIENCE_MS, TOKEN

WIDTHS = (360, 1440)
SCHEMES = ("light", "dark")
PAGES = (
    "/",
    "/?state=failed&tag=prod",
    "/servers/payments?days=30",
    "/servers/legacy-crm",
    "/servers/onboarding",
    "/servers/payments/diff",
    "/events",
    "/outbox",
    "/login",
    "/nothing",
)

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
FOCUSABLE = "a[href], button, input:not([type=hidden]), select, summary, [tabindex='0']"
VISIBLE = f"""() => [...document.querySelectorAll("{FOCUSABLE}")]
    .filter(each => each.checkVisibility()).map((each, place) => (each.dataset.place = place))"""
FOCUSED = """() => {
    const focused = document.activeElement, style = getComputedStyle(focused);
    return [focused.dataset.place, style.outlineStyle !== "none" && style.outlineWidth !== "0px"];
}"""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@contextmanager
def page_of(browser: Any, **how: Any) -> Iterator[Any]:
    context = browser.new_context(**how)
    context.set_default_timeout(PATIENCE_MS)
    try:
        yield context.new_page()
    finally:
        context.close()


def size(width: int) -> dict[str, int]:
    return {"width": width, "height": 900}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_pages_fit_and_the_browser_has_nothing_to_complain_of(
    browser: Any, pages: str, width: int, scheme: str
) -> None:
    with page_of(browser, viewport=size(width), color_scheme=scheme) as page:
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        for path in PAGES:
            page.goto(pages + path)
            assert page.evaluate(OVERFLOW) <= 0, path
            for closed in page.query_selector_all("details:not([open]) > summary")[:12]:
                closed.click()
            assert page.evaluate(OVERFLOW) <= 0, f"{path} with its details open"
        # A 404 is one that was asked for, and the form has no name to type in by design.
        expected = ("404 (Not Found)", "Password forms should have")
        assert [each for each in said if not any(part in each for part in expected)] == []


def test_the_two_schemes_are_two(browser: Any, pages: str) -> None:
    papers = set()
    for scheme in SCHEMES:
        with page_of(browser, color_scheme=scheme) as page:
            page.goto(pages)
            papers.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(papers) == 2


@pytest.mark.parametrize("path", ["/", "/servers/payments", "/servers/payments/diff", "/outbox"])
def test_everything_is_reached_by_keyboard_and_seen_there(browser: Any, pages: str, path: str) -> None:
    with page_of(browser, viewport=size(1440)) as page:
        page.goto(pages + path)
        places = {str(place) for place in page.evaluate(VISIBLE)}
        assert len(places) > 8
        reached = {}
        for _ in range(len(places) + 5):
            page.keyboard.press("Tab")
            place, seen = page.evaluate(FOCUSED)
            reached[place] = seen
        assert places <= set(reached)
        assert all(reached[place] for place in places)


def test_the_first_key_offers_to_skip_to_the_content(browser: Any, pages: str) -> None:
    with page_of(browser) as page:
        page.goto(pages)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"


def test_a_person_goes_from_the_fleet_to_what_changed_without_a_script(browser: Any, pages: str) -> None:
    with page_of(browser, java_script_enabled=False) as page:
        page.goto(pages)
        page.get_by_label("Name").fill("pay")
        page.get_by_role("button", name="Filter").click()
        assert page.get_by_role("row").count() == 2
        page.get_by_role("link", name="payments").click()
        page.get_by_text("transport/endpoint", exact=True).click()
        assert page.get_by_role("heading", name="Why it matters").first.is_visible()
        page.get_by_role("link", name="What is different, side by side").click()
        assert page.get_by_role("heading", level=1).inner_text() == "Toolset of payments, compared"
        assert page.get_by_text("Existing callers fail.").is_visible()


def test_a_person_logs_in_and_out(browser: Any, closed: str) -> None:
    with page_of(browser, java_script_enabled=False) as page:
        page.goto(f"{closed}/servers/payments?days=30")
        page.get_by_label("Token").fill("wrong")
        page.keyboard.press("Enter")
        assert page.get_by_role("alert").inner_text() == "This token does not open these pages."
        page.get_by_label("Token").fill(TOKEN)
        page.get_by_role("button", name="Log in").click()
        assert page.get_by_role("heading", level=1).inner_text() == "payments"
        (cookie,) = page.context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
        page.get_by_role("button", name="Log out").click()
        assert page.context.cookies() == []
        page.goto(closed)
        assert page.get_by_role("heading", level=1).inner_text() == "Log in"


def test_on_paper_there_is_nothing_to_press(browser: Any, pages: str) -> None:
    with page_of(browser) as page:
        page.goto(pages)
        page.emulate_media(media="print")
        assert not page.get_by_role("navigation", name="Pages").is_visible()
        assert not page.get_by_role("button", name="Filter").is_visible()
        assert page.get_by_role("link", name="payments").is_visible()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_no_violation(browser: Any, pages: str, axe: str, width: int, scheme: str) -> None:
    # The policy of the pages would keep axe out; that they have one is tested elsewhere.
    with page_of(browser, viewport=size(width), color_scheme=scheme, bypass_csp=True) as page:
        for path in PAGES:
            page.goto(pages + path)
            page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
            page.evaluate(axe)
            found = page.evaluate(f"axe.run(document, {{ runOnly: {RULES} }})")
            assert len(found["passes"]) > 10
            told = [
                (each["id"], node["target"], node["failureSummary"])
                for each in found["violations"]
                for node in each["nodes"][:3]
            ]
            assert told == [], path
