"""A plain client of both wires: raw HTTP, so that tests see bytes and not an SDK's reading."""

import json
import re
from typing import Any

import anthropic
import httpx2
import openai

from evals.model_server import ModelServer

SEARCH_TOOL = {"type": "function", "function": {"name": "stock_search", "parameters": {}}}


def body(question: str = "hello", *after: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A chat-completions body: a question and what came after it."""
    messages = [{"role": "user", "content": question}, *after]
    return {"model": "scripted-model", "messages": messages, **fields}


def called(*ids: str) -> dict[str, Any]:
    """An assistant message with one call per id."""
    function = {"name": "stock_search", "arguments": "{}"}
    calls = [{"id": id_, "type": "function", "function": function} for id_ in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def returned(id_: str, content: str = "{}") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": content}


def post(server: ModelServer, sent: Any = None, **options: Any) -> httpx2.Response:
    """Ask for a whole answer."""
    return httpx2.post(f"{server.base_url}/v1/chat/completions", json=sent or body(), **options)


def chunks(server: ModelServer, sent: Any = None) -> list[bytes]:
    """Ask for a stream; its chunks as they were written."""
    url = f"{server.base_url}/v1/chat/completions"
    asked = {**(sent or body()), "stream": True}
    with httpx2.stream("POST", url, json=asked, timeout=10) as response:
        assert response.status_code == 200
        return list(response.iter_raw())


def chat_sdk(server: ModelServer, key: str = "test-key") -> Any:
    """OpenAI's own client; untyped, since scripts say what its types rule out."""
    return openai.OpenAI(base_url=server.base_url + "/v1", api_key=key, max_retries=0, timeout=10)


def messages_sdk(server: ModelServer) -> Any:
    """Anthropic's own client, untyped too."""
    return anthropic.Anthropic(base_url=server.base_url, api_key="k", max_retries=0, timeout=10)


def seconds(start: float | None, end: float | None) -> float:
    """Between two moments of a record, both of which must have come."""
    assert start is not None
    assert end is not None
    return end - start


def data_of(stream: bytes) -> list[Any]:
    """The stream's events, parsed but for the last mark."""
    lines = re.split(rb"\r\n|\r|\n", stream)
    texts = [line.removeprefix(b"data: ") for line in lines if line.startswith(b"data: ")]
    return [text.decode() if text == b"[DONE]" else json.loads(text) for text in texts]


def text_of(events: list[Any]) -> str:
    """The text that the deltas add up to."""
    deltas = [e["choices"][0]["delta"] for e in events if e != "[DONE]" and e["choices"]]
    return "".join(delta.get("content") or "" for delta in deltas)
