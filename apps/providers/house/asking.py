"""What the house model says when it looks nothing up: who it is, what it can do, what it can't."""

from __future__ import annotations

import re
from collections.abc import Sequence

from apps.providers.house.filling import fields_of
from apps.providers.house.lexicon import CHANGES
from apps.providers.house.words import cut, listed, stem
from apps.providers.types import ToolSpec

SELF = "House model (no key)"
LONGEST_QUESTION = 1000
_POLITE = re.compile(
    r"^\W*(?:(?:please|pls|hey|hi|hello|ok|okay|so|now|and|then|kindly|quickly|go ahead and|"
    r"(?:can|could|would|will) you|i(?:'d| would)? (?:want|like|need)(?: you)? to|you (?:should|"
    r"must)|"
    r"let's|help me|try to|just)\b\W*)+"
)
_ALSO_NOUNS = listed(
    "order refund book charge post mail email cut mark sell buy discount update change export "
    "import reserve close clear raise drop move increase decrease reset double"
)
_OBJECT = re.compile(
    r"^\W*[\w-]+ (?:down |up |out |off )?(?:the|all|that|these|those|every|everything|an?|me|my|"
    r"our|to|it|them|"
    r"release|item|order|prices?|customers?|stock|#?\d|this (?!week|month|quarter|year|morning))\b"
)
_WHO = re.compile(
    r"\b(?:who|what) (?:are|r) (?:you|u)\b|\bwhat (?:can|do) you do\b|\bwhich (?:model|ai)\b|"
    r"^\W*(?:help|hi|hello|hey|hiya|good (?:morning|evening|afternoon))\W*$|"
    r"\b(?:what|which) (?:model|ai) (?:are|is)\b|\bare you (?:an? )?(?:ai|bot|robot|human|real|"
    r"gpt|chatgpt)|"
    r"\bwhat (?:can|may|could) i ask\b|\bhow can you help\b|\bintroduce yourself\b|"
    r"\bwhat(?:'s| is) your name\b"
)
_AHEAD = re.compile(r"\b(?:tomorrow|next (?:week|weekend|month|quarter|year))\b")
_THANKS = re.compile(
    r"^\W*(?:thanks|thank you|thx|ta|cheers|great|ok|okay|nice|perfect)\b[^?]{0,20}$"
)


def too_long(question: str) -> str | None:
    """A polite refusal of a question longer than anybody asks, else None."""
    if len(question) <= LONGEST_QUESTION:
        return None
    return (
        f"That question has {len(question):,} characters, and I read up to {LONGEST_QUESTION:,}. "
        "Nothing was looked up. Please ask it in a sentence or two."
    )


def small_talk(low: str, tools: Sequence[ToolSpec]) -> str | None:
    """An answer to "who are you?", "help" and "thanks", else None."""
    if not low.strip():
        return f"The question is empty. {offer(tools)}"
    if _WHO.search(low):
        return (
            f"I am the {SELF[0].lower()}{SELF[1:]}: built in, the same answer every time, and no "
            f"outside service is asked. I look things up and change nothing. {offer(tools)}"
        )
    if _THANKS.match(low):
        return "You're welcome. Ask whenever something is to be looked up."
    return None


def refusal(low: str, tools: Sequence[ToolSpec]) -> str | None:
    """Words for a request to change something, unless a tool's examples begin like that."""
    words = [word.plain for word in cut(_POLITE.sub("", low, count=1))[:3]]
    if not words or words[0] not in CHANGES:
        return None
    if words[0] in _ALSO_NOUNS and not _OBJECT.match(_POLITE.sub("", low, count=1)):
        return None
    opening = {stem(word) for tool in tools for word in _openings(tool)}
    if stem(words[0]) in opening:
        return None
    return f"I can't change, send or delete anything; I only look things up. {offer(tools)}"


def not_yet(low: str, tools: Sequence[ToolSpec]) -> str | None:
    """Words for a question about days that have not come, else None."""
    if not _AHEAD.search(low):
        return None
    return f"{SELF}: no record tells what lies ahead; I look up what there is. {offer(tools)}"


def _openings(tool: ToolSpec) -> list[str]:
    return [word.plain for text in tool.examples for word in cut(text)[:1]]


def ask_back(tools: Sequence[ToolSpec]) -> str:
    """One short question back, with questions that would work."""
    return f"{SELF}: I'm not sure what to look up. {offer(tools)} Which of these comes near?"


def ask_for(spec: ToolSpec, missing: Sequence[str]) -> str:
    """A question for an argument without which the best tool can't run."""
    wanted = ", ".join(_in_words(spec, name) for name in missing)
    return f"{SELF}: that needs {wanted}. For example: “{spec.examples[0]}”"


def _in_words(spec: ToolSpec, name: str) -> str:
    field = next((one for one in fields_of(spec) if one.name == name), None)
    if field is not None and field.fills.startswith("id:"):
        return f"the {field.fills.removeprefix('id:')}'s number"
    return f"the {name.replace('_', ' ')}"


def offer(tools: Sequence[ToolSpec]) -> str:
    """What can be asked, from the tools' own examples: three at most."""
    with_examples = [tool for tool in tools if tool.examples]
    if not with_examples:
        return "There is nothing that I can look up yet."
    # The tools with the most examples are the broadest.
    broad = sorted(with_examples, key=lambda tool: (-len(tool.examples), tool.name))[:3]
    return "You can ask, for example: " + "; ".join(f"“{tool.examples[0]}”" for tool in broad) + "."
