"""What the rail and the guide may offer to a member."""

from __future__ import annotations

from apps.guilds.capabilities import CAPABILITIES
from apps.guilds.models import Member


def held(member: Member) -> frozenset[str]:
    """What the rail may offer. Every view behind it still asks ``guilds.policy.decide``."""
    if member.is_owner:
        return frozenset(CAPABILITIES)
    return frozenset(member.grants.values_list("capability", flat=True))
