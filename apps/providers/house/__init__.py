"""The house model: deterministic, without a key, it knows tools only by what they register."""

from apps.providers.house.model import MODEL, PROVIDER, HouseModel

__all__ = ["MODEL", "PROVIDER", "HouseModel"]
