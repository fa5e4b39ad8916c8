"""Numbers, prices and limits in lower-case English text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from apps.providers.house.mentions import Mention, Price

_SMALL = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90,
}  # fmt: skip
_WHOLE = {
    "a couple of": 2, "a couple": 2, "couple of": 2, "a dozen": 12, "dozen": 12, "half a dozen": 6,
    "a hundred": 100, "hundred": 100, "a thousand": 1000, "a grand": 1000, "thousand": 1000,
}  # fmt: skip
_TENS = "|".join(word for word, value in _SMALL.items() if value >= 20)
_ONES = "|".join(word for word, value in _SMALL.items() if 0 < value < 10)
_ALL = "|".join(sorted(_SMALL, key=len, reverse=True))
WORDS = (
    rf"(?:(?:{_TENS})[ -](?:{_ONES})|(?:{_ONES}) hundred(?: and (?:{_TENS}|{_ALL}))?|"
    r"half a dozen|(?:a )?couple(?: of)?|(?:a )?dozen|(?:a )?hundred|(?:a )?thousand|a grand|"
    rf"{_ALL})"
)
DIGITS = r"(?:\d{1,3}(?:[,'’]\d{3})+|\d+)(?:[.,]\d{1,2})?(?!\d)"
NUMBER = rf"(?:{DIGITS}|\b{WORDS}\b)"


def value_of(text: str) -> Decimal:
    """The number that digits or number words stand for; a comma before two digits is decimal."""
    text = text.strip().lower()
    if text[:1].isdigit():
        plain = re.sub(r"[,'’](?=\d{3}(?!\d))", "", text).replace(",", ".")
        return Decimal(plain)
    if text in _WHOLE:
        return Decimal(_WHOLE[text])
    return Decimal(_spoken(text))


def _spoken(text: str) -> int:
    total = 0
    for word in re.split(r"[ -]", text):
        if word == "hundred":
            total = max(total, 1) * 100
        else:
            total += _SMALL.get(word, 0)
    return total


_SIGN = r"(?:us\$|ca\$|a\$|\$|€|£|¥)"
_UNIT = (
    r"(?:dollars?|bucks?|quid|pounds?|euros?|eur|usd|gbp|yen|jpy|pence|cents?|a piece|apiece|"
    r"each|[€$£¥])"
)
_NOT_MONEY = (
    r"(?!\s*\+?\s*(?:-\s*)?(?:days?|weeks?|months?|years?|yrs?|hours?|inch|inches|in\.|\"|copies|"
    r"copy|"
    r"records?|items?|discs?|pieces|units?|orders?|sales|times|per ?cent|%|results?|rows?|"
    r"fortnights?|"
    r"tracks?|people|customers?|wants?|releases?|quarters?|[a-z]*\s?(?:january|february|march|"
    r"april|june|"
    r"july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|"
    r"dec)\b))"
)
_NOTE = r"(?:a )?(?:fiver|tenner)"
_NOTES = {"fiver": Decimal(5), "tenner": Decimal(10)}
_ONE = r"a(?= (?:dollar|euro|pound|buck|quid)\b)"
_PLAIN = rf"(?:{_NOTE}|\b{_ONE}|(?<![\w#.]){NUMBER}(?:k\b)?(?!\d|[.,]\d|\s?(?:st|nd|rd|th)\b))"
_AMOUNT = rf"(?:{_SIGN}\s?)?{_PLAIN}(?:\s?{_UNIT}(?!\w))?"
_SURE = rf"(?:{_SIGN}\s?{_PLAIN}(?:\s?{_UNIT}(?!\w))?|{_PLAIN}\s?{_UNIT}(?!\w)|{_NOTE})"

_EXCLUDES_MOST = (
    r"(?:priced |costing |cost |going for |for |that(?:'s| is| are) )?"
    r"(?<!at or )(?:under|below|beneath|less than|lower than|cheaper than|smaller than|fewer "
    r"than|<(?!=)|"
    r"costing less than|short of|shy of)"
)
_INCLUDES_MOST = (
    r"(?:up to|upto|at most|at the most|no more than|not more than|nothing over|not over|nothing "
    r"above|"
    r"not above|no higher than|not higher than|not dearer than|no dearer than|"
    r"at or (?:below|under)|equal to or (?:less|lower) than|"
    r"max(?:imum)?(?: price)?(?: of)?|maxing out at|capped at|within|<=|≤|until|till|not exceeding|"
    r"to a maximum of|for|a budget of|budget)"
)
_EXCLUDES_LEAST = (
    r"(?<!at or )(?:over|above|more than|greater than|north of|exceeding|higher than|dearer than|"
    r"pricier than|more expensive than|costlier than|beyond|past|>(?!=)|in excess of)"
)
_INCLUDES_LEAST = (
    r"(?:at least|at the least|at or (?:above|over)|from|min(?:imum)?(?: price)?(?: of)?|no less "
    r"than|not less than|no cheaper than|not cheaper than|not lower than|"
    r"nothing under|nothing below|not under|not below|starting at|starting from|upwards of|"
    r"upward of|>=|≥)"
)
_AFTER_MOST = (
    r"(?:or less|or under|or below|or cheaper|or lower|and under|and below|max\b|"
    r"maximum|tops|at most|and less|or so at most)"
)
_AFTER_LEAST = (
    r"(?:or more|or over|or above|or dearer|or higher|and up(?:wards?)?|and over|and "
    r"above|and more|\+|plus|minimum|min\b|at least|upwards?)"
)
_OF = r"\s*(?:the |about |around |only |just )?"

_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("range", re.compile(rf"\b(?:between|from|priced|costing)\s+(?P<a>{_AMOUNT})\s*(?:and|to|-|"
        rf"until|up to)\s*(?P<b>{_AMOUNT}){_NOT_MONEY}")),
    ("range", re.compile(rf"(?P<a>{_SURE})\s*(?:to|-|and)\s*(?P<b>{_AMOUNT}){_NOT_MONEY}")),
    ("range", re.compile(rf"(?P<a>{_PLAIN})\s*(?:to|-)\s*(?P<b>{_SURE})")),
    ("at_most", re.compile(rf"(?P<a>{_AMOUNT}){_NOT_MONEY}\s*{_AFTER_MOST}")),
    ("at_least", re.compile(rf"(?P<a>{_SURE})\s*{_AFTER_LEAST}(?!\w)")),
    ("at_least", re.compile(rf"(?P<a>{_PLAIN}){_NOT_MONEY}\s*(?:or more|and up(?:wards?)?|or "
        r"above|and above|or over|and over)\b")),
    ("at_most", re.compile(rf"(?:\b|(?=[<≤])){_INCLUDES_MOST}{_OF}(?P<a>{_AMOUNT}){_NOT_MONEY}")),
    ("at_least", re.compile(rf"(?:\b|(?=[>≥])){_INCLUDES_LEAST}{_OF}(?P<a>{_AMOUNT}){_NOT_MONEY}")),
    ("below", re.compile(rf"(?:\b|(?=<)){_EXCLUDES_MOST}{_OF}(?P<a>{_AMOUNT}){_NOT_MONEY}")),
    ("above", re.compile(rf"(?:\b|(?=>)){_EXCLUDES_LEAST}{_OF}(?P<a>{_AMOUNT}){_NOT_MONEY}")),
    ("exactly", re.compile(rf"(?P<a>{_SURE})")),
)  # fmt: skip
_BARE_WORDS = re.compile(
    rf"\b(?:for|from|until|till|within|past|beyond|budget)\s+{_OF}(?:{WORDS}|\d+)\b$"
)


def prices(text: str) -> Iterator[Mention]:
    """Prices with their bounds: "under" and "over" leave the price itself out."""
    for name, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if _BARE_WORDS.search(match.group().strip()):
                continue
            yield Mention("money", match.start(), match.end(), _price(name, match))


def _price(name: str, match: re.Match[str]) -> Price:
    amount = _amount(match["a"])
    if name == "range":
        low, high = sorted((amount, _amount(match["b"])))
        return Price(least=low, most=high, most_included=True)
    if name in ("at_most", "below"):
        return Price(most=amount, most_included=name == "at_most")
    if name in ("at_least", "above"):
        return Price(least=amount, least_excluded=name == "above")
    return Price(least=amount, most=amount, most_included=True)


def _amount(text: str) -> Decimal:
    for note, value in _NOTES.items():
        if note in text:
            return value
    if re.search(rf"\b{_ONE}", text):
        return Decimal(1)
    number = re.search(rf"{NUMBER}(k\b)?", text)
    if number is None:
        return Decimal(0)
    digits = number.group().removesuffix("k")
    pence = Decimal("0.01") if re.search(r"\b(?:pence|cents)\b", text) else 1
    return value_of(digits) * (1000 if number[1] else 1) * pence


_MOST = (
    r"(?:cheapest|dearest|priciest|newest|latest|oldest|slowest|longest|best|biggest|lowest|"
    r"highest|"
    r"least|most|largest|smallest|top|costliest|recent|rarest|worst|poorest|freshest)"
)
_ROWS = r"(?:rows?|results?|lines?|entries|matches|hits)"
_COUNT = rf"(?<![\w#.$€£¥])(?P<n>\d{{1,4}}|{WORDS})(?![\w\"']|\s?(?:inch|in\b|\"|')|[.,]\d)"
_LIMITS = (
    re.compile(
        r"\b(?:top|first|bottom|limit(?:ed)?(?: to| of)?|max(?:imum)?(?: of)?|at most|up to|"
        rf"show(?: me)? only|just|only)\s+{_COUNT}(?=\s+{_ROWS})"
    ),
    re.compile(
        rf"\b(?:top|first|bottom|limit(?:ed)?(?: to| of)?|cap(?: it)?(?: at)?|best)\s+{_COUNT}"
    ),
    re.compile(rf"{_COUNT}\s+(?:of (?:the |our )?)?{_MOST}\b"),
    re.compile(rf"{_COUNT}\s+{_ROWS}\b"),
    re.compile(
        r"^\W*(?:please )?(?:can you |could you )?(?:show|list|give|name|get|find|pick)\s+(?:me "
        rf"|us |out )?(?:just |only |any |the |our )?{_COUNT}(?!\s*(?:days?|weeks?|months?|"
        r"years?|-|bucks|dollars?|euros?|quid))"
    ),
)


def limits(text: str) -> Iterator[Mention]:
    """How many rows are asked for: "top 5", "the ten cheapest", "show me 20"."""
    for pattern in _LIMITS:
        for match in pattern.finditer(text):
            amount = int(value_of(match["n"]))
            if amount > 0:
                yield Mention("limit", match.start("n"), match.end("n"), amount)
