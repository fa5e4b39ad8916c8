"""Template tags of every page: icons, money, times and addresses."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django import template
from django.http import HttpRequest
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from apps.core.money import format_cost, format_money

register = template.Library()


@register.simple_tag
def icon(name: str, label: str = "") -> SafeString:
    """An icon of the page's sprite. Without a label it is decoration."""
    if label:
        return format_html(
            '<svg class="i" role="img" aria-label="{}"><use href="#i-{}"/></svg>', label, name
        )
    return format_html('<svg class="i" aria-hidden="true"><use href="#i-{}"/></svg>', name)


@register.simple_tag
def arch() -> SafeString:
    """The mark of the house: an arch."""
    return mark_safe('<svg class="arch" aria-hidden="true"><use href="#arch"/></svg>')


@register.filter
def money(amount: Decimal | str | None, currency: str = "") -> str:
    """An amount with its currency's sign; a dash where there is none."""
    if amount in (None, ""):
        return "–"
    return format_money(Decimal(str(amount)), currency)


@register.filter
def cost(amount: Decimal | None) -> str:
    """Model cost in US dollars, with the places that small sums need."""
    return format_cost(amount or Decimal(0))


@register.filter
def initials(name: str) -> str:
    """At most two capitals of a name, for the circle of a person."""
    words = [word for word in str(name).replace(".", " ").split() if word[0].isalnum()]
    if not words:
        return "?"
    last = words[-1][0] if len(words) > 1 else ""
    return (words[0][0] + last).upper()


@register.filter
def moment(value: datetime | None) -> SafeString | str:
    """The hour today, the day with its hour otherwise, as a ``time`` element."""
    if value is None:
        return ""
    local = timezone.localtime(value)
    today = timezone.localdate()
    shape = "H:i" if local.date() == today else "j M H:i"
    if local.year != today.year:
        shape = "j M Y"
    return _time(value.isoformat(), date_format(local, shape), date_format(local, "j M Y H:i T"))


@register.filter
def day(value: date | datetime | None) -> SafeString | str:
    """A date as ``3 Feb 2025``, as a ``time`` element."""
    if value is None:
        return "–"
    local = timezone.localtime(value) if isinstance(value, datetime) else value
    return _time(local.isoformat(), date_format(local, "j M Y"), "")


def _time(machine: str, shown: str, title: str) -> SafeString:
    if title:
        return format_html('<time datetime="{}" title="{}">{}</time>', machine, title, shown)
    return format_html('<time datetime="{}">{}</time>', machine, shown)


@register.filter
def number(value: int | None) -> str:
    """A count with its thousands set apart: ``4,012``."""
    return "" if value is None else f"{value:,}"


@register.filter
def duration(milliseconds: int | float | None) -> str:
    """Milliseconds as people read them: ``12 ms``, ``2.1 s``, ``3 min``."""
    if milliseconds is None:
        return ""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


@register.simple_tag(takes_context=True)
def address(context: dict[str, Any], **changes: Any) -> str:
    """The query of this page with some values changed; ``None`` and ``""`` drop a value."""
    request: HttpRequest = context["request"]
    query = request.GET.copy()
    for name, value in changes.items():
        query.pop(name, None)
        if value not in (None, ""):
            query[name] = str(value)
    return f"?{query.urlencode()}"
