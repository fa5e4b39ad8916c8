"""The house's own order, where import-linter can't look: strings, templates, addresses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.apps import apps

ROOT = Path(__file__).resolve().parents[2]
LAYERS = [
    ["console"], ["chat"], ["agents"], ["shop"], ["llm"], ["usage"], ["providers"],
    ["jobs"], ["guilds"], ["audit"], ["core"],
]  # fmt: skip
HEIGHT = {room: len(LAYERS) - level for level, rooms in enumerate(LAYERS) for room in rooms}


def test_no_foreign_key_points_up() -> None:
    for model in apps.get_models():
        room = model._meta.app_label
        if room not in HEIGHT:
            continue
        for field in model._meta.get_fields():
            target = getattr(field, "related_model", None)
            if field.concrete and target is not None and target._meta.app_label in HEIGHT:
                above = HEIGHT[target._meta.app_label] > HEIGHT[room]
                assert not above, f"{model._meta.label}.{field.name} points up"


GUILD_FREE = {"guilds.Guild", "guilds.User", "guilds.SignInLink", "audit.Event"}


def test_every_row_belongs_to_a_guild() -> None:
    for model in apps.get_models():
        if model._meta.app_label not in HEIGHT or model._meta.label in GUILD_FREE:
            continue
        names = {field.name for field in model._meta.get_fields()}
        assert "guild" in names, model._meta.label


def test_every_room_has_its_own_place() -> None:
    rooms = {path.name for path in (ROOT / "apps").iterdir() if (path / "apps.py").exists()}
    assert rooms == set(HEIGHT)


@pytest.mark.parametrize("path", sorted((ROOT / "templates").rglob("*.html")), ids=lambda p: p.name)
def test_templates_are_short_and_name_their_context(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert len(lines) <= 60 or path.name == "_icons.html"
    text = path.read_text()
    assert "style=" not in text
    assert "<script>" not in text
    assert not re.search(r"\son\w+=", text)


def test_no_file_grows_past_five_hundred_lines() -> None:
    for folder in ("apps", "config", "evals", "tests", "bin", "static"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".js", ".css"} and "migrations" not in path.parts:
                assert len(path.read_text().splitlines()) <= 500, path


def test_one_door_to_the_wire_clients() -> None:
    for path in (ROOT / "apps").rglob("*.py"):
        text = path.read_text()
        if not {"providers", "llm"} & set(path.parts):
            assert "providers.clients" not in text, path
        if "providers" not in path.parts:
            assert not re.search(r"^\s*(import|from) (openai|anthropic)\b", text, re.MULTILINE)


def test_the_project_names_no_package_registry() -> None:
    hosts = ["py" + "pi.org", "python" + "hosted.org", "registry.npm" + "js", "deb.deb" + "ian"]
    for path in [*ROOT.glob("requirements/*"), *ROOT.glob("bin/*"), *ROOT.glob("*.toml")]:
        text = path.read_text()
        assert not [host for host in hosts if host in text], path


def test_no_tool_starts_a_thread() -> None:
    """A thread of its own would leave the reader's scope: contexts are not inherited."""
    for path in (ROOT / "apps" / "shop").glob("*.py"):
        found = re.search(
            r"^\s*(import|from) (threading|concurrent|asyncio)\b", path.read_text(), re.M
        )
        assert not found, path
