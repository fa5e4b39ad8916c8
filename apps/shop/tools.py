"""The record shop's read tools: stock, releases, sales, wants and gaps in the catalogue.

Each docstring is what a model reads. Queries live in ``search`` and ``reading``.
"""

from __future__ import annotations

from apps.core.tools import Table, ToolContext, tool
from apps.shop import gaps, reading, sales_reading, search
from apps.shop.arguments import (
    CatalogHealth,
    CustomerWants,
    ReleaseLookup,
    SalesSummary,
    StockForRelease,
    StockSearch,
)


@tool(
    effect="read",
    capability="shop.read",
    examples=[
        "what's under $10 that hasn't sold in 90 days?",
        "DnB 12s under $10 not sold in 90 days",
        "how many items are priced under $10?",
        "show me jazz LPs in VG+ or better up to 25",
        "slow stock",
        "which records have been sitting longest without a sale?",
        "do we have any techno on vinyl over 40 dollars?",
        "cheapest house 12 inches in stock",
        "find items by Kestrel Vane on cassette",
        "list our most expensive 7 inch singles",
        "newest arrivals in hip hop",
        "what is the total value of the CDs we have for sale?",
        'how many copies of "Night Ferry" are in stock?',
        "what do we charge for Harbour Lights on LP?",
        "rock records",
        "search our stock for Silver Heron",
        "look for Kestrel Vane in stock",
        "singles by Juno Marsh",
        "have we got the Night Ferry album on CD?",
        "anything that has been sitting for over a year",
    ],
)
def stock_search(ctx: ToolContext, args: StockSearch) -> Table:
    """Find and count stock items by words, genre, style, format, grade, price and time unsold."""
    return search.stock_search(ctx, args)


@tool(
    effect="read",
    capability="shop.read",
    examples=[
        "tell me about release 249504",
        "look up release 12345",
        "what is release 12345?",
        "pull up release 801",
        "genre and style of release 33",
        "what is catno HRN-014?",
        "which pressing is catalogue number HRN-014?",
        'what label was "Paper Lanterns" released on?',
        "what year did that album come out?",
        "show the tracklist of release 77",
        'find the release "Harbour Lights" by Kestrel Vane',
        "details of release 5012: country, year, barcode",
        "who is the artist on release 801?",
        'search the catalogue for releases called "Night Ferry"',
    ],
)
def release_lookup(ctx: ToolContext, args: ReleaseLookup) -> Table:
    """Look up a release in the catalogue by number or words: label, year, country, tracks."""
    return reading.release_lookup(ctx, args)


@tool(
    effect="read",
    capability="shop.read",
    examples=[
        "how many copies of release 249504 do we have?",
        "which copies of release 12 are in stock?",
        "what do we charge for release 5012?",
        "conditions and prices of our copies of release 77",
        "is release 801 in stock?",
        "are the copies of release 12 sold out?",
        "where in the shop are the copies of release 33?",
        "stock for release 249504",
        "list every copy we hold of release 9",
    ],
)
def stock_for_release(ctx: ToolContext, args: StockForRelease) -> Table:
    """List every copy of one release, of any status, with grade, price, market value and place."""
    return reading.stock_for_release(ctx, args)


@tool(
    effect="read",
    capability="shop.read",
    examples=[
        "this week's sales",
        "what was bought yesterday?",
        "how is business this month?",
        "which week was the best?",
        "how much did we sell last month?",
        "revenue by genre this year",
        "sales per day from 1 March to 15 March",
        "how many orders did we get yesterday?",
        "what were our best sellers last month?",
        "compare turnover month by month for the last year",
        "which format earns the most?",
        "how many records did we sell in the last 30 days?",
        "how much was refunded last week?",
        "top selling items this quarter",
        "takings today",
    ],
)
def sales_summary(ctx: ToolContext, args: SalesSummary) -> Table:
    """Sum completed sales of a span of days: revenue, units, orders, refunds and top items."""
    return sales_reading.sales_summary(ctx, args)


@tool(
    effect="read",
    capability="shop.customers.read",
    examples=[
        "who wants release 249504?",
        "open want list entries for jazz",
        "what are customers looking for?",
        "which wants are still open?",
        "how many people are waiting for release 12?",
        "show the want lists for electronic",
        "wants we have filled",
        "which customer requests were dropped?",
        "is anybody after release 77?",
    ],
)
def customer_wants(ctx: ToolContext, args: CustomerWants) -> Table:
    """List what customers want, with their initials only and copies in stock for each."""
    return reading.customer_wants(ctx, args)


@tool(
    effect="read",
    capability="shop.read",
    examples=[
        "catalog health",
        "what is missing in our catalogue?",
        "how many releases have no barcode?",
        "which gaps does our release data have?",
        "how many releases are without an image or a year?",
        "check the catalogue for incomplete data",
    ],
)
def catalog_health(ctx: ToolContext, args: CatalogHealth) -> Table:
    """Count the gaps in the catalogue: no barcode, no duration, no style, no date, no image…"""
    return gaps.catalog_health(ctx, args)
