"""The demo shop: a seeded record shop of invented names, wholly demo and deletable at once."""

from apps.shop.demo.loading import SEED, NotEmpty, NothingToDelete, delete, load

__all__ = ["SEED", "NotEmpty", "NothingToDelete", "delete", "load"]
