"""The closed list of audit events, each with the metadata fields it may carry.

A field holds a name, a number, a code or an id. Prompts, snippets, results, arguments' text
and secrets have no field to go into.
"""

from __future__ import annotations

KINDS: dict[str, frozenset[str]] = {
    "sign_in": frozenset({"method"}),
    "sign_out": frozenset(),
    "sign_in_link": frozenset({"method"}),
    "permission": frozenset({"capability", "surface"}),
    "grant": frozenset({"capability", "member"}),
    "run": frozenset({"run", "number", "termination_reason", "turns", "model", "cost_usd"}),
    "run_cancel": frozenset({"run", "number"}),
    "thread_delete": frozenset({"thread", "runs"}),
    "job": frozenset({"job", "job_kind", "read", "created", "updated", "skipped", "errors"}),
    "shop_delete": frozenset({"rows", "demo"}),
    "budget_refused": frozenset({"needed_usd", "left_usd"}),
    "create_roles": frozenset(),
    "credential_add": frozenset({"credential", "provider"}),
    "credential_replace": frozenset({"credential", "provider", "base_url_changed"}),
    "credential_revoke": frozenset({"credential", "provider", "profiles"}),
    "credential_test": frozenset({"credential", "provider", "draft"}),
    "model_select": frozenset({"profile", "purpose", "credential", "provider", "model"}),
    "model_clear": frozenset({"purpose", "profiles"}),
    "provider_policy": frozenset({"operator_credential_allowed", "personal_keys"}),
    "key_rotation": frozenset({"key", "resealed", "current", "broken"}),
}
LONGEST = 120
