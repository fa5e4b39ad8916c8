"""Rules that every template keeps."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import get_template

ROOT = Path(settings.BASE_DIR) / "templates"
TEMPLATES = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.html"))
LAYERS = ["console", "chat", "agents", "shop", "llm", "usage", "providers", "jobs", "guilds"]
LAYERS += ["audit", "core"]
FRAMES = {"console/base.html", "console/door.html"}


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_short_says_its_context_and_holds_no_script_or_style(name):
    text = (ROOT / name).read_text()
    lines = text.splitlines()
    assert len(lines) <= 60
    assert re.match(r"\{# .*Context: .+ #\}$", lines[0]), lines[0]
    assert not re.search(r"<script>|<style|\sstyle=|\son[a-z]+=|javascript:", text)
    get_template(name)


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_uses_only_rooms_below_its_own(name):
    """The frame of a page is console's; what it shows of a room comes by the context."""
    room = name.split("/")[0] if "/" in name else "console"
    text = (ROOT / name).read_text()
    used = set(re.findall(r"{% (?:include|extends) \"([^\"]+)\"", text)) - FRAMES
    used |= set(re.findall(r"{% url '([a-z]+):", text))
    below = set(LAYERS[LAYERS.index(room) :])
    assert {each.split("/")[0] for each in used} <= below


def test_every_icon_that_a_page_draws_is_in_the_sprite():
    sprite = set(re.findall(r'id="i-([a-z-]+)"', (ROOT / "core/_icons.html").read_text()))
    everything = "".join((ROOT / name).read_text() for name in TEMPLATES)
    drawn = set(re.findall(r'{% icon "([a-z-]+)"', everything))
    drawn |= {"ask", "runs", "crate", "disc", "sales", "wants", "down-to", "usage", "stop", "warn"}
    assert drawn <= sprite
