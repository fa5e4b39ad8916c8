"""The closed list of capabilities, each with what it allows."""

from __future__ import annotations

CAPABILITIES: dict[str, str] = {
    "agent.ask": "Ask questions in the Ask panel",
    "usage.read": "Open the Usage page; today's total is in every header",
    "budget.manage": "Change budgets",
    "llm.provider.write": "Add, replace and revoke keys of model providers; change their policy",
    "llm.provider.test": "Test keys of model providers",
    "llm.provider.select": "Choose which model serves which purpose",
    "shop.read": "Look at stock, releases, sales and catalogue health",
    "shop.customers.read": "Look at customers and their want lists",
    "shop.import": "Import files into the shop",
    "shop.manage": "Delete the demo shop and change the shop's settings",
    "job.read": "See imports and other jobs",
    "member.manage": "Invite staff and grant capabilities",
}
"""Names follow ``room.verb``; a name missing here can be neither granted nor required."""


def check(capability: str) -> str:
    """The same name, or ``ValueError`` when no such capability exists."""
    if capability not in CAPABILITIES:
        raise ValueError(f"there is no capability {capability!r}")
    return capability
