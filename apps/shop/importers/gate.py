"""What an import needs to know about the shop before it writes a row."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from apps.core import money
from apps.guilds.models import Guild
from apps.jobs.errors import JobError
from apps.shop.models import Shop
from apps.shop.operations import delete_all


@dataclass
class Terms:
    """How this import runs. ``rate`` turns the file's currency into the shop's."""

    guild: Guild
    dry_run: bool
    shop_currency: str = ""
    currency: str = ""
    rate: Decimal | None = None
    as_if_empty: bool = False
    replaces_demo: bool = False


def enter_shop(guild: Guild, args: dict[str, Any]) -> Terms:
    """Refuse a demo shop unless its rows may go, and settle the currency.

    With ``replace_demo`` the demo rows go together with the first good row's coming, so a
    file without one costs nothing. A dry run reports as if they were gone.
    """
    shop = Shop.objects.filter(guild=guild).first()
    terms = Terms(guild=guild, dry_run=bool(args.get("dry_run")))
    if shop is not None and shop.is_demo:
        if not args.get("replace_demo"):
            raise JobError(
                "This shop holds the demo rows, and demo and real rows never mix. Import with "
                "--replace-demo (on the page: replace the demo shop) to delete them first."
            )
        terms.as_if_empty, shop = terms.dry_run, None
    terms.shop_currency = shop.currency if shop else ""
    _settle_currency(terms, str(args.get("currency") or ""), str(args.get("rate") or ""))
    terms.replaces_demo = bool(args.get("replace_demo")) and not terms.dry_run
    return terms


def claim_shop(terms: Terms, currency: str = "") -> None:
    """Lock the shop for one batch, so that imports of a guild take turns.

    An empty shop takes the currency of its first import.
    """
    Shop.objects.get_or_create(guild=terms.guild)
    shop = Shop.objects.select_for_update().get(guild=terms.guild)
    if shop.is_demo and terms.replaces_demo:
        delete_all(terms.guild, keep=(Shop,))
        shop.is_demo, shop.currency = False, ""
        shop.save(update_fields=["is_demo", "currency", "updated_at"])
    if shop.is_demo:
        raise JobError("Somebody loaded the demo shop meanwhile. Delete it, then import again.")
    if not shop.currency and currency:
        shop.currency = currency
        shop.save(update_fields=["currency", "updated_at"])
    if terms.shop_currency and shop.currency != terms.shop_currency:
        raise JobError(f"The shop now counts in {shop.currency}. Start the import again.")
    terms.shop_currency = shop.currency


def _settle_currency(terms: Terms, currency: str, rate: str) -> None:
    if not currency:
        return
    try:
        terms.currency = money.check_currency(currency)
    except money.PriceError as error:
        raise JobError(f"--currency: {error}.") from None
    terms.rate = _rate(rate) if rate else None
    shop = terms.shop_currency or terms.currency
    if terms.currency != shop and terms.rate is None:
        raise JobError(
            f"The file is in {terms.currency}, the shop in {shop}. Say what one {terms.currency} "
            f"is worth in {shop} with --rate (on the page: rate); the original price is kept."
        )
    if terms.currency == shop and terms.rate is not None:
        raise JobError(f"The file is in {shop}, as the shop is: leave --rate out.")


def _rate(text: str) -> Decimal:
    try:
        rate = Decimal(text)
    except InvalidOperation:
        rate = Decimal(0)
    if not rate.is_finite() or not Decimal("0.000001") <= rate <= Decimal(1_000_000):
        raise JobError(f"--rate {text[:40]!r} is no rate; write a number such as 1.08.")
    return rate
