"""Markdown as shown to people: rendered, then sanitised; no images, no raw HTML."""

from __future__ import annotations

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

_TAGS = {
    "p", "br", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li", "hr",
    "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
_parser = (
    MarkdownIt("commonmark", {"html": False, "linkify": False})
    .enable(["table", "strikethrough"])
    .disable(["image"])
)


def render(text: str) -> SafeString:
    """Safe HTML of an answer.

    A link shows its address as text and is not clickable: an answer may quote text that
    someone planted. Links to rows are made from citations, never from the model's words.
    """
    tokens = _parser.parse(text)
    for token in tokens:
        _spell_out_links(token)
    html = _parser.renderer.render(tokens, _parser.options, {})
    return mark_safe(nh3.clean(html, tags=_TAGS, attributes={}))  # noqa: S308


def _spell_out_links(token: object) -> None:
    children = getattr(token, "children", None) or []
    for position, child in enumerate(children):
        if child.type == "link_open":
            href = child.attrGet("href") or ""
            shown = children[position + 1].content if position + 1 < len(children) else ""
            child.type, child.tag, child.nesting, child.attrs = "text", "", 0, {}
            child.content = "" if shown == href else f"{href} "
        elif child.type == "link_close":
            child.type, child.tag, child.nesting, child.content = "text", "", 0, ""
