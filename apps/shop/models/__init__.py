"""Rows of the record shop. Every table carries its own guild."""

from apps.shop.models.catalog import (
    Identifier,
    Release,
    ReleaseArtist,
    ReleaseFormat,
    ReleaseLabel,
    Track,
)
from apps.shop.models.lists import CollectionEntry, Want
from apps.shop.models.sales import Customer, Sale, SaleItem
from apps.shop.models.shop import Shop
from apps.shop.models.stock import StockItem

__all__ = [
    "CollectionEntry",
    "Customer",
    "Identifier",
    "Release",
    "ReleaseArtist",
    "ReleaseFormat",
    "ReleaseLabel",
    "Sale",
    "SaleItem",
    "Shop",
    "StockItem",
    "Track",
    "Want",
]
