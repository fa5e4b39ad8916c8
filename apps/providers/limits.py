"""Bounds on what passes between us and a model, each named for what it bounds."""

from __future__ import annotations

SSE_EVENT_BYTES = 16 * 1024 * 1024
"""One event of a stream, its line ends included, however it is cut into chunks."""

TOOL_INPUT_BYTES = 1024 * 1024
"""The arguments of one tool call, as UTF-8. Checked on deltas and on the final call."""

TOOL_CALLS = 128
"""Tool calls in one answer."""

ANSWER_BYTES = 16 * 1024 * 1024
"""The text of one answer, as UTF-8: an endless stream of small events ends here."""

REQUEST_BYTES = 64 * 1024 * 1024
"""One request body as sent."""

ERROR_BODY_BYTES = 64 * 1024
"""How much of a refusal's body is read for its reason."""

DELTA_SECONDS = 0.1
"""How long text may wait to be joined with what follows it. The first never waits."""

DELTA_CHARACTERS = 32_768
"""The most that one delta carries; more is split."""

MODEL_LIST_BYTES = 8 * 1024 * 1024
"""A provider's list of models, as sent."""

MODEL_LIST_NAMES = 5000
"""Names kept of that list."""

PROBE_SECONDS = 10.0
"""A test of a key, waiting for everything included."""

CONNECT_SECONDS = 10.0
"""How long a connection may take."""

IDLE_SECONDS = 60.0
"""How long a provider may be silent, before the first byte and between two."""

RETRIES = 2
"""Further attempts after a failure that may pass, before the first delta only."""

RETRY_AFTER_SECONDS = 10.0
"""The longest wait that a provider may ask for; more is a refusal at once."""

INPUT_TOKENS_PER_BYTE = 0.5
"""The stated ratio for a worst case. Text runs at about 0.25 for English, 0.4 for JSON."""

MOST_TOKENS_PER_BYTE = 4.0
"""How far a model's own ratio may rise above the stated one."""

BYTES_PER_TOKEN = 4
"""For an estimate when a provider counts nothing."""
