"""How long the house model takes to turn a question into a call, over a real shop's names."""

from __future__ import annotations

import time
from pathlib import Path

import yaml

from apps.agents.context import tool_specs
from apps.core import clock
from apps.guilds.models import Guild, Member
from apps.providers.house.model import MODEL, HouseModel
from apps.providers.types import ChatMessage, ChatRequest
from evals.bench.report import Measured, median, quantile

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "known.yaml"
NOTHING = "none: nothing else answers without a key"


def measure(member: Member, questions: int) -> list[Measured]:
    """The first reply reads names and examples; the others find them prepared."""
    cases = yaml.safe_load(GOLDEN.read_text(encoding="utf-8"))["cases"]
    step = max(1, len(cases) // questions)
    asked = [str(case["question"]) for case in cases[::step]][:questions]
    model = HouseModel()
    first = _milliseconds(model, member.guild, asked[0])
    took = [_milliseconds(model, member.guild, question) for question in asked]
    name, case = "house model's reply", f"{len(asked)} golden questions"
    return [
        Measured(name, f"{case}, p50", median(took), "ms", NOTHING),
        Measured(name, f"{case}, p95", quantile(took, 0.95), "ms", NOTHING),
        Measured(name, "first one of a process", first, "ms", NOTHING, note="reads the names"),
    ]


def _milliseconds(model: HouseModel, guild: Guild, question: str) -> float:
    request = ChatRequest(
        model=MODEL,
        messages=(ChatMessage("user", question),),
        tools=tuple(tool_specs()),
        max_output_tokens=1024,
        guild_id=guild.pk,
        now=clock.now(),
        time_zone=guild.time_zone,
        currency="USD",
    )
    started = time.perf_counter()
    model.reply(request)
    return (time.perf_counter() - started) * 1000
