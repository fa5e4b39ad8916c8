"""Documents that list things are current."""

from __future__ import annotations

import re
from pathlib import Path

from apps.agents.management.commands import reference

ROOT = Path(__file__).resolve().parents[2]


def test_the_generated_pages_are_current() -> None:
    for name, text in reference.pages().items():
        assert (ROOT / "docs" / "reference" / name).read_text() == text, "run bin/manage reference"


def test_every_setting_read_from_the_environment_is_documented() -> None:
    source = (ROOT / "config" / "settings.py").read_text()
    names = set(re.findall(r'(?:env\.\w+|_required|_decimal)\(\s*"([A-Z_]+)"', source))
    names |= set(re.findall(r'_database\("([A-Z_]+)"', source))
    documented = (ROOT / "docs" / "reference" / "settings.md").read_text()
    assert names
    assert {name for name in names if f"`{name}`" not in documented} == set()
