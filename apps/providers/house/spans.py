"""Days and spans of days, read from lower-case English text and relative to today.

Weeks start on Monday. A span that would lie ahead is read as the latest one gone by; a span
that runs on ends today.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta

from apps.providers.house.mentions import Mention, Span
from apps.providers.house.numbers import WORDS, value_of

DAY = timedelta(days=1)
_MONTHS = {
    name: number
    for number in range(1, 13)
    for name in (calendar.month_name[number].lower(), calendar.month_abbr[number].lower())
} | {"sept": 9}
_WEEKDAYS = {
    name: number
    for number in range(7)
    for name in (calendar.day_name[number].lower(), calendar.day_abbr[number].lower())
} | {"tues": 1, "thur": 3, "thurs": 3}
MONTH = r"(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
WEEKDAY = r"(?:" + "|".join(sorted(_WEEKDAYS, key=len, reverse=True)) + r")\b"
_ORDINAL = r"(?P<{0}>\d{{1,2}})(?:st|nd|rd|th)?"
_UNITS = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "quarter": 91, "year": 365, "yr": 365}
_UNIT = r"(?P<unit>day|week|fortnight|month|quarter|year|yr|(?<=\d)d|wk|mo)s?\b"
_SHORT = {"d": "day", "wk": "week", "mo": "month"}
_COUNT = rf"(?P<n>\d+(?!\w*\w\w\d)|(?:half an?|an?|{WORDS})(?=[\s-]))"
_LENGTH = (
    rf"{_COUNT}(?P<plus>\s?\+)?[\s-]*(?:(?:whole|full|calendar) )?{_UNIT}(?P<half> and a half)?"
)

Read = Callable[[re.Match[str], date], Span | None]


def months_before(day: date, months: int) -> date:
    """The same day so many months earlier, or the last day of that month."""
    index = day.year * 12 + day.month - 1 - months
    year, month = divmod(index, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return date(year, month + 1, min(day.day, last))


def period(unit: str, day: date) -> tuple[date, date]:
    """First and last day of the week, month, quarter or year that holds the day."""
    if unit == "week":
        first = day - day.weekday() * DAY
        return first, first + 6 * DAY
    if unit == "year":
        return date(day.year, 1, 1), date(day.year, 12, 31)
    start = day.month if unit == "month" else (day.month - 1) // 3 * 3 + 1
    end = start if unit == "month" else start + 2
    return date(day.year, start, 1), date(day.year, end, calendar.monthrange(day.year, end)[1])


def length(match: re.Match[str]) -> int:
    """Days of a named length: weeks of 7, months of 30, half a year 182, a year 365."""
    unit = _SHORT.get(match["unit"], match["unit"])
    size = _UNITS[unit]
    if match["n"].startswith("half"):
        return size // 2
    count = 1 if match["n"] in ("a", "an") else int(value_of(match["n"]))
    return count * size + (size // 2 if match["half"] else 0)


def trailing(match: re.Match[str], today: date) -> Span:
    """A length of time that ends today, today counted."""
    days = length(match)
    unit = _SHORT.get(match["unit"], match["unit"])
    months = {"month": 1, "quarter": 3, "year": 12, "yr": 12}.get(unit)
    if months and not match["n"].startswith("half") and not match["half"]:
        count = 1 if match["n"] in ("a", "an") else int(value_of(match["n"]))
        if count * months <= today.year * 12 - 12:
            return Span(months_before(today, count * months) + DAY, today, days)
    if days >= today.toordinal():
        return Span(None, today, days)
    return Span(today - (days - 1) * DAY, today, days)


def _the_last(match: re.Match[str], today: date) -> Span:
    unit = match["unit"]
    months = {"month": 1, "quarter": 3, "year": 12}.get(unit)
    first = months_before(today, months) + DAY if months else today - (_UNITS[unit] - 1) * DAY
    return Span(first, today, _UNITS[unit])


def _this(match: re.Match[str], today: date) -> Span:
    return Span(period(match["unit"], today)[0], today)


def _last(match: re.Match[str], today: date) -> Span:
    first, last = period(match["unit"], period(match["unit"], today)[0] - DAY)
    return Span(first, last)


def _before_last(match: re.Match[str], today: date) -> Span:
    unit = match["unit"]
    previous = period(unit, period(unit, today)[0] - DAY)[0]
    first, last = period(unit, previous - DAY)
    return Span(first, last)


def _day(offset: int) -> Read:
    return lambda match, today: Span(today - offset * DAY, today - offset * DAY)


def _weekday(match: re.Match[str], today: date) -> Span:
    back = (today.weekday() - _WEEKDAYS[match["weekday"]]) % 7
    day = today - (back or (7 if match["when"] else 0)) * DAY
    return Span(day, day)


def _weekend(match: re.Match[str], today: date) -> Span:
    monday = period("week", today)[0]
    saturday = monday + 5 * DAY
    if saturday > today or match["when"] in ("last", "past", "previous"):
        saturday -= 7 * DAY
    return Span(saturday, min(saturday + DAY, today))


def _ago(match: re.Match[str], today: date) -> Span | None:
    days = length(match)
    if days >= today.toordinal():
        return None
    unit = _SHORT.get(match["unit"], match["unit"])
    if unit in ("week", "month", "quarter", "year") and match["of"] is None:
        count = 1 if match["n"] in ("a", "an") else int(value_of(match["n"]) or 0)
        return _periods_ago(unit, count, today, days)
    day = today - days * DAY
    return Span(day, day, days)


def _periods_ago(unit: str, count: int, today: date, days: int) -> Span:
    months = {"month": 1, "quarter": 3, "year": 12}.get(unit, 0)
    day = months_before(today, count * months) if months else today - days * DAY
    first, last = period(unit, day)
    return Span(first, last, days)


_DATES = (
    rf"(?:(?P<iso{{0}}>\d{{{{4}}}}-\d{{{{1,2}}}}-\d{{{{1,2}}}})|"
    rf"(?:{WEEKDAY},? (?:the )?)?(?P<d{{0}}>\d{{{{1,2}}}})(?:st|nd|rd|th)?(?: of)? "
    rf"(?P<m{{0}}>{MONTH})(?:,? (?P<y{{0}}>\d{{{{4}}}}))?|"
    rf"(?P<mm{{0}}>{MONTH}) (?:the )?(?P<dd{{0}}>\d{{{{1,2}}}})(?:st|nd|rd|th)?(?!\d)(?:,? "
    rf"(?P<yy{{0}}>\d{{{{4}}}}))?|"
    rf"(?P<mo{{0}}>{MONTH})(?: (?:of )?(?P<my{{0}}>\d{{{{4}}}}))?|"
    rf"(?P<only{{0}}>(?:19|20)\d\d)(?!\d)|(?:last )?(?P<word{{0}}>today|now|yesterday|{WEEKDAY})|"
    rf"(?:the )?(?:start|beginning) of (?P<start{{0}}>(?:this|last|the) (?:week|month|quarter|"
    r"year))|"
    rf"(?P<rel{{0}}>(?:this|last) (?:week|month|quarter|year)))"
)


def _date(name: str) -> str:
    return _DATES.format(name)


def _group(match: re.Match[str], key: str) -> str | None:
    return match.groupdict().get(key)


def _named(match: re.Match[str], name: str, today: date) -> tuple[date, date] | None:
    """First and last day of one written date: a day, a month or a year."""
    for read in (_iso, _day_month, _month_alone, _year_alone, _spoken, _relative):
        found = read(match, name, today)
        if found:
            return found
    return None


def _iso(match: re.Match[str], name: str, today: date) -> tuple[date, date] | None:
    text = _group(match, f"iso{name}")
    if not text:
        return None
    year, month, day = (int(part) for part in text.split("-"))
    return _safe(year, month, day)


def _safe(year: int, month: int, day: int) -> tuple[date, date] | None:
    try:
        found = date(year, month, day)
    except ValueError:
        return None
    return found, found


def _day_month(match: re.Match[str], name: str, today: date) -> tuple[date, date] | None:
    day = _group(match, f"d{name}") or _group(match, f"dd{name}")
    month = _group(match, f"m{name}") or _group(match, f"mm{name}")
    if not day or not month:
        return None
    year = _group(match, f"y{name}") or _group(match, f"yy{name}")
    number = _MONTHS[month.rstrip(".")]
    if year:
        return _safe(int(year), number, int(day))
    found = _safe(today.year, number, int(day))
    if found and found[0] > today:
        return _safe(today.year - 1, number, int(day))
    return found


def _month_alone(match: re.Match[str], name: str, today: date) -> tuple[date, date] | None:
    month = _group(match, f"mo{name}")
    if not month:
        return None
    number = _MONTHS[month.rstrip(".")]
    written = _group(match, f"my{name}")
    year = int(written) if written else today.year - (number > today.month)
    return (period("month", date(year, number, 1))) if year else None


def _year_alone(match: re.Match[str], name: str, today: date) -> tuple[date, date] | None:
    year = _group(match, f"only{name}")
    return (date(int(year), 1, 1), date(int(year), 12, 31)) if year else None


def _spoken(match: re.Match[str], name: str, today: date) -> tuple[date, date] | None:
    word = _group(match, f"word{name}")
    if not word:
        return None
    if word in _WEEKDAYS:
        back = (today.weekday() - _WEEKDAYS[word]) % 7
    else:
        back = 1 if word == "yesterday" else 0
    return today - back * DAY, today - back * DAY


def _relative(match: re.Match[str], name: str, today: date) -> tuple[date, date] | None:
    start = _group(match, f"start{name}")
    text = start or _group(match, f"rel{name}")
    if not text:
        return None
    which, unit = text.split()
    first, last = period(unit, today)
    if which == "last":
        first, last = period(unit, first - DAY)
    return (first, first) if start else (first, min(last, today))


def _between(match: re.Match[str], today: date) -> Span | None:
    end = _named(match, "b", today)
    start = _named(match, "a", today)
    if not start or not end:
        return _day_to_day(match, end)
    if start[0] > end[1] and start[0].year == end[1].year:
        start = (start[0].replace(year=start[0].year - 1, day=min(start[0].day, 28)), start[1])
    return Span(start[0], end[1])


def _day_to_day(match: re.Match[str], end: tuple[date, date] | None) -> Span | None:
    first = _group(match, "first")
    if not first or not end or end[0] != end[1]:
        return None
    start = _safe(end[1].year, end[1].month, int(first))
    return Span(start[0], end[1]) if start else None


def _since(match: re.Match[str], today: date) -> Span | None:
    start = _named(match, "a", today)
    if not start:
        return None
    return Span(start[1] + DAY if match["after"] else start[0])


def _until(match: re.Match[str], today: date) -> Span | None:
    end = _named(match, "a", today)
    if not end:
        return None
    return Span(None, end[0] - DAY if match["before"] else end[1])


def _on(match: re.Match[str], today: date) -> Span | None:
    found = _named(match, "a", today)
    return Span(*found) if found else None


def _week_of(match: re.Match[str], today: date) -> Span | None:
    found = _named(match, "a", today)
    return Span(*period("week", found[0])) if found else None


def _day_of_month(match: re.Match[str], today: date) -> Span | None:
    day = int(match["day"])
    month = today if day <= today.day else months_before(today, 1)
    found = _safe(month.year, month.month, day)
    return Span(*found) if found else None


_NTH = ("first", "second", "third", "fourth")


def _quarter(match: re.Match[str], today: date) -> Span:
    number = int(match["q"] or 0) or _NTH.index(match["nth"]) + 1
    first = date(int(match["y"]) if match["y"] else today.year, number * 3 - 2, 1)
    if first > today and not match["y"]:
        first = first.replace(year=today.year - 1)
    return Span(*period("quarter", first))


def _half(match: re.Match[str], today: date) -> Span:
    second = match["h"] in ("2", "second")
    year = int(match["y"]) if match["y"] else today.year
    return (
        Span(date(year, 7, 1), date(year, 12, 31))
        if second
        else Span(date(year, 1, 1), date(year, 6, 30))
    )


def _to_date(match: re.Match[str], today: date) -> Span:
    unit = {"wtd": "week", "mtd": "month", "qtd": "quarter", "ytd": "year"}.get(match.group())
    return Span(period(unit or match["unit"], today)[0], today)


def _season(match: re.Match[str], today: date) -> Span:
    first_month = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9}[match["season"]]
    year = today.year - (match["when"] == "last" and first_month + 2 >= today.month)
    year -= date(year, first_month, 1) > today
    return Span(date(year, first_month, 1), period("month", date(year, first_month + 2, 1))[1])


_PERIOD = r"(?P<unit>week|month|quarter|year)"
_READERS: tuple[tuple[re.Pattern[str], Read], ...] = tuple(
    (re.compile(pattern), read)
    for pattern, read in (
        (r"\bthe day before yesterday\b", _day(2)),
        (rf"\b(?:from|between) (?:the )?{_date('a')} (?:to|and|until|till|through|-|up to) "
            rf"(?:the )?(?:end of )?{_date('b')}", _between),
        (rf"(?<!\w){_date('a')} ?(?:to|until|till|through|-) ?{_date('b')}", _between),
        (rf"\b(?:from |between )?(?:the )?(?P<first>\d{{1,2}})(?:st|nd|rd|th)? ?(?:to|and|until|"
            rf"till|through|-) ?(?:the )?{_date('b')}", _between),
        (r"\b(?:in |for |of )?the week (?:of|beginning|starting|from|commencing) (?:the "
            rf")?{_date('a')}", _week_of),
        (r"\b(?:since|from|starting(?: on| from| in)?|beginning(?: on)?|(?P<after>after)) "
            rf"(?:the )?{_date('a')}(?: on(?:wards?)?)?(?! (?:to|and|until|till|through)\b)",
            _since),
        (r"\b(?:until|(?<!the )till|up to|through|by the end of|(?P<before>before|prior to|"
            rf"earlier than)) (?:the )?(?:end of )?{_date('a')}", _until),
        (rf"\b{_LENGTH} (?P<of>from )?ago\b", _ago),
        (rf"\b(?:the )?{_PERIOD} before last\b", _before_last),
        (r"\byesterday(?:'s)?\b", _day(1)),
        (r"\b(?:today(?:'s)?|tonight|this (?:morning|afternoon|evening)|so far today)\b", _day(0)),
        (r"\b(?:in |over |within |during |for |from )?(?:the |these |our )?(?:last|past|"
            rf"previous|trailing|preceding|recent) {_LENGTH}", trailing),
        (rf"\b{_PERIOD}[- ]to[- ]date\b|\b(?:wtd|mtd|qtd|ytd)\b", _to_date),
        (rf"\b(?:so far )?(?:this|the current|current){{1}} (?:calendar )?{_PERIOD}(?:'s)?(?: so "
            r"far)?\b", _this),
        (rf"\b(?:in|over|within|during|for) the (?:last|past) {_PERIOD}\b(?!')", _the_last),
        (r"\b(?:in |over |during )?(?:the |this )?(?:past|last) (?P<unit>fortnight)\b", _the_last),
        (rf"\b(?:the )?past {_PERIOD}\b", _the_last),
        (rf"\b(?:last|previous|the previous|prior) (?:calendar )?{_PERIOD}(?:'s)?\b", _last),
        (r"\b(?:on |over |at |during )?(?:(?P<when>this|the|last|past|previous) "
            r")?weekend(?:'s)?\b", _weekend),
        (r"\b(?:in |for |during )?(?:the )?(?:q(?P<q>[1-4])|(?P<nth>first|second|third|fourth) "
            r"quarter)(?: (?:of )?(?P<y>\d{4}))?\b", _quarter),
        (r"\b(?:in |for |during )?(?:the )?(?:h(?=[12])|(?=first half|second half))(?P<h>1|2|"
            r"first|second)(?: half)?(?: of)?(?: (?P<y>\d{4})| (?:this|the) year)?\b", _half),
        (r"\b(?:in |over |during )?(?:the )?(?:(?P<when>last|this|past) |(?<=in )|(?<=during "
            r"))(?P<season>spring|summer|autumn|fall)\b", _season),
        (r"\b(?:on |for |of )?(?:(?P<when>last|this past|past|previous) "
            rf")(?P<weekday>{WEEKDAY})(?:'s)?", _weekday),
        (rf"\b(?:on |for |of )(?P<when>)(?P<weekday>{WEEKDAY})(?:'s)?", _weekday),
        (rf"\b(?!(?:mon|wed|fri|sat|sun)\b)(?P<when>)(?P<weekday>{WEEKDAY})(?:'s)?", _weekday),
        (r"\b(?:in |on |for |during |of |all |throughout )(?:the )?(?:month of "
            rf")?{_date('a')}(?:'s)?", _on),
        (r"\bon the (?P<day>\d{1,2})(?:st|nd|rd|th)\b", _day_of_month),
        (r"(?<![\w.#$€£-])(?!(?:may|mar|sat|sun|wed|mon|fri|now)\b(?!\.? \d))(?:last "
            rf")?{_date('a')}(?:'s)?(?![\w-])", _on),
        (rf"\b{_LENGTH}", lambda match, today: Span(days=length(match))),
    )
)  # fmt: skip


def spans(text: str, today: date) -> Iterator[Mention]:
    """Spans of days in the text, the surest readings first; they may overlap."""
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            found = read(match, today)
            if found is not None:
                yield Mention("span", match.start(), match.end(), found)
