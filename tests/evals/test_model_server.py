"""The scripted model server as the SDKs see it: rules, both wires, and the record."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from evals.model_server import BadScript, ModelServer, NeverCame, load
from tests.evals.wire import (
    SEARCH_TOOL,
    body,
    called,
    chat_sdk,
    chunks,
    data_of,
    messages_sdk,
    post,
    returned,
    seconds,
    text_of,
)

ASK = [{"role": "user", "content": "hello"}]


def said(server: ModelServer, sent: dict[str, Any] | None = None) -> str:
    return str(post(server, sent).json()["choices"][0]["message"]["content"])


def test_stream_adds_up_to_the_whole_answer(model_server: ModelServer) -> None:
    calls = [
        {"name": "stock_search", "arguments": {"q": "Björk – Début", "limit": 5}},
        {"id": "mine", "name": "sales_summary", "arguments": {"group_by": "month"}},
    ]
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "cost": 0.25, "cached_tokens": 3}
    model_server.reset(
        [{"reply": {"text": "I  look.\nTwice.", "tool_calls": calls, "usage": usage}}]
    )
    client = chat_sdk(model_server)
    with client.chat.completions.stream(
        model="m", messages=ASK, stream_options={"include_usage": True}
    ) as stream:
        for _ in stream:
            pass
    streamed = stream.get_final_completion()
    whole = client.chat.completions.create(model="m", messages=ASK)
    for answer in (streamed, whole):
        choice = answer.choices[0]
        assert choice.finish_reason == "tool_calls"
        assert choice.message.content == "I  look.\nTwice."
        assert [c.function.name for c in choice.message.tool_calls] == [
            "stock_search",
            "sales_summary",
        ]
        first, second = choice.message.tool_calls
        assert first.function.arguments == '{"q": "Björk – Début", "limit": 5}'
        assert second.id == "mine"
        assert answer.usage.total_tokens == 12
        assert answer.usage.prompt_tokens_details.cached_tokens == 3
        assert answer.usage.model_extra["cost"] == 0.25


def test_parallel_calls_are_interleaved_by_index(model_server: ModelServer) -> None:
    calls = [{"name": name, "arguments": {"text": "0123456789" * 3}} for name in ("a", "b")]
    reply = {"tool_calls": calls, "chunk_chars": 8}
    model_server.reset(
        [
            {"reply": reply},
        ]
    )
    taken = _call_indexes(model_server)
    assert taken[:6] == [0, 1, 0, 1, 0, 1]
    model_server.reset([{"reply": reply | {"interleave": False}}])
    assert _call_indexes(model_server) == sorted(taken)
    model_server.reset([{"reply": reply | {"chunk_chars": 0}}])
    assert _call_indexes(model_server) == [0, 1]


def _call_indexes(server: ModelServer) -> list[int]:
    deltas = [e["choices"][0]["delta"] for e in data_of(b"".join(chunks(server)))[:-1]]
    return [call["index"] for delta in deltas for call in delta.get("tool_calls", [])]


def test_malformed_arguments_go_out_as_they_stand(model_server: ModelServer) -> None:
    model_server.reset([{"reply": {"tool_calls": [{"name": "a", "arguments": '{"x": '}]}}])
    message = post(model_server).json()["choices"][0]["message"]
    assert message["tool_calls"][0]["function"]["arguments"] == '{"x": '


def test_usage_is_streamed_when_asked_for_and_can_be_withheld(
    model_server: ModelServer,
) -> None:
    def usages(sent: dict[str, Any]) -> list[dict[str, Any]]:
        events = data_of(b"".join(chunks(model_server, sent)))[:-1]
        return [event["usage"] for event in events if "usage" in event]

    asking = body(stream_options={"include_usage": True})
    model_server.reset([{"reply": {"text": "hi"}}])
    assert usages(body()) == []
    assert usages(asking)[0]["prompt_tokens"] > 0
    model_server.reset([{"reply": {"text": "hi", "usage": None}}])
    assert usages(asking) == []
    assert "usage" not in post(model_server).json()
    model_server.reset([{"reply": {"text": "hi", "usage_unasked": True}}])
    assert len(usages(body())) == 1


def test_finish_reason_and_reasoning(model_server: ModelServer) -> None:
    model_server.reset([{"reply": {"text": "cut", "reasoning": "hm", "finish_reason": "length"}}])
    choice = post(model_server).json()["choices"][0]
    assert (choice["finish_reason"], choice["message"]["reasoning"]) == ("length", "hm")
    model_server.reset([{"reply": {"text": "cut", "finish_reason": None}}])
    reasons = [
        e["choices"][0]["finish_reason"] for e in data_of(b"".join(chunks(model_server)))[:-1]
    ]
    assert set(reasons) == {None}


@pytest.mark.parametrize("prefix", ["", "/v1", "/api/v1"])
def test_any_prefix_leads_to_the_same_endpoints(model_server: ModelServer, prefix: str) -> None:
    model_server.reset({"rules": [{"reply": {"text": "hi"}}], "models": ["a", {"id": "b", "x": 1}]})
    base = model_server.base_url + prefix
    assert httpx2.post(f"{base}/chat/completions", json=body()).status_code == 200
    listed = httpx2.get(f"{base}/models").json()["data"]
    assert [model["id"] for model in listed] == ["a", "b"]
    assert httpx2.get(f"{base}/elsewhere").status_code == 404


def test_the_first_rule_that_holds_answers(model_server: ModelServer) -> None:
    model_server.reset(
        [
            {"when": {"wire": "anthropic"}, "reply": {"text": "wire"}},
            {"when": {"model": "^mini"}, "reply": {"text": "model"}},
            {"when": {"question": "PRICE", "tools": True}, "reply": {"text": "question+tools"}},
            {"when": {"result": "not found"}, "reply": {"text": "result"}},
            {"when": {"turn": "1-2"}, "reply": {"text": "turn"}},
            {"when": {"system": "title"}, "reply": {"text": "system"}},
            {"when": {"stream": True}, "reply": {"text": "stream"}},
            {"when": {"request": "7-"}, "reply": {"text": "request"}},
            {"reply": {"text": "default"}},
        ]
    )
    turn = [called("c1"), returned("c1", "a row")]
    missed = [called("c1"), returned("c1", "Not found")]
    system = {"role": "system", "content": "Write a title."}
    assert said(model_server, body(model="mini")) == "model"
    assert said(model_server, body("price?", tools=[SEARCH_TOOL])) == "question+tools"
    assert said(model_server, body("price?")) == "default"
    assert said(model_server, body("x", *missed)) == "result"
    assert said(model_server, body("x", *turn)) == "turn"
    assert said(model_server, body("x", *turn, {"role": "user", "content": "y"})) == "default"
    assert said(model_server, {**body(), "messages": [system, *ASK]}) == "system"
    assert text_of(data_of(b"".join(chunks(model_server)))) == "stream"
    assert said(model_server) == "request"


def test_replies_go_by_turn_and_repeat_the_last(model_server: ModelServer) -> None:
    model_server.reset([{"replies": [{"text": "first"}, {"text": "then"}]}])
    history = [{"role": "user", "content": "old"}, {"role": "assistant", "content": "answer"}]
    again = [m for i in range(3) for m in (called(f"c{i}"), returned(f"c{i}"))]
    assert said(model_server, {**body(), "messages": [*history, *ASK]}) == "first"
    assert said(model_server, body("q", *again[:2])) == "then"
    assert said(model_server, body("q", *again)) == "then"


def test_attempts_go_by_how_often_the_same_was_sent(model_server: ModelServer) -> None:
    model_server.reset([{"attempts": [{"error": 429}, {"text": "fine"}]}])
    assert [post(model_server).status_code for _ in range(4)] == [429, 200, 429, 200]
    assert post(model_server, body("another question")).status_code == 429
    assert [request.attempt for request in model_server.requests] == [0, 1, 2, 3, 0]


def test_places_are_filled_from_the_conversation(model_server: ModelServer) -> None:
    text = "${question}|${turn}|${find /rows: (\\d+)/}|${find /nowhere/}|${repeat /ab/ 3}|${other}"
    call = {"name": "a", "arguments": {"q": ["${result}"]}}
    model_server.reset([{"reply": {"text": text, "tool_calls": [call]}}])
    asked = body("how many", called("c"), returned("c", "rows: 47"))
    message = post(model_server, asked).json()["choices"][0]["message"]
    assert message["content"] == "how many|1|47|[no nowhere in results]|ababab|${other}"
    assert message["tool_calls"][0]["function"]["arguments"] == '{"q": ["rows: 47"]}'


def test_a_question_that_no_rule_knows_is_refused_in_words(model_server: ModelServer) -> None:
    response = post(model_server, body("what now"))
    assert response.status_code == 400
    assert response.json()["error"]["message"] == (
        "No rule of the script matches turn 0 of 'what now'."
    )


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ([called("c1", "c2"), returned("c1")], "without an answer: ['c2']"),
        ([called("c1"), {"role": "user", "content": "go on"}], "without an answer: ['c1']"),
        ([called("c1"), {"role": "user", "content": "x"}, returned("c1")], "an answer: ['c1']"),
        ([returned("c9")], "must answer a preceding"),
        ([called("c1"), returned("c1"), returned("c1")], "must answer a preceding"),
    ],
)
def test_a_history_that_a_provider_would_refuse_is_refused(
    model_server: ModelServer, after: list[dict[str, Any]], words: str
) -> None:
    rules = [{"reply": {"text": "hi"}}]
    model_server.reset(rules)
    response = post(model_server, body("q", *after))
    assert response.status_code == 400
    assert words in response.json()["error"]["message"]
    model_server.reset({"rules": rules, "lenient": True})
    assert post(model_server, body("q", *after)).status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"{",
        b"[]",
        b'{"messages": []}',
        b'{"model": "m", "messages": []}',
        b'{"model": "m", "messages": ["hi"]}',
    ],
)
def test_a_body_that_is_no_request_is_a_400(model_server: ModelServer, sent: bytes) -> None:
    model_server.reset([{"reply": {"text": "hi"}}])
    response = httpx2.post(f"{model_server.base_url}/v1/chat/completions", content=sent)
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"


def test_the_messages_wire_streams_named_events(model_server: ModelServer) -> None:
    call = {"name": "stock_search", "arguments": {"q": "Début", "limit": 5}}
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "cached_tokens": 2}
    reply = {"text": "I look.", "reasoning": "hm", "tool_calls": [call], "usage": usage}
    model_server.reset([{"when": {"wire": "anthropic"}, "reply": reply}])
    client = messages_sdk(model_server)
    with client.messages.stream(model="m", max_tokens=99, messages=ASK) as stream:
        streamed = stream.get_final_message()
    whole = client.messages.create(model="m", max_tokens=99, messages=ASK)
    for message in (streamed, whole):
        assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]
        assert message.content[1].text == "I look."
        assert message.content[2].input == {"q": "Début", "limit": 5}
        assert message.stop_reason == "tool_use"
        assert (message.usage.input_tokens, message.usage.output_tokens) == (5, 5)
        assert message.usage.cache_read_input_tokens == 2


def test_the_messages_wire_reads_turns_and_results(model_server: ModelServer) -> None:
    reply = {"text": "${turn} ${result}"}
    model_server.reset([{"when": {"question": "^hello$", "system": "shop"}, "reply": reply}])
    use = {"type": "tool_use", "id": "t1", "name": "stock_search", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "47 rows"}
    history = [*ASK, {"role": "assistant", "content": [use]}]
    client = messages_sdk(model_server)
    answered = [*history, {"role": "user", "content": [result]}]
    message = client.messages.create(model="m", max_tokens=9, system="A shop.", messages=answered)
    assert message.content[0].text == "1 47 rows"
    with pytest.raises(anthropic.BadRequestError, match="tool_use"):
        client.messages.create(
            model="m", max_tokens=9, messages=[*history, {"role": "user", "content": "go on"}]
        )


def test_the_key_of_the_script_is_asked_for(model_server: ModelServer) -> None:
    model_server.reset({"rules": [{"reply": {"text": "hi"}}], "api_key": "right"})
    assert chat_sdk(model_server, "right").chat.completions.create(model="m", messages=ASK)
    with pytest.raises(openai.AuthenticationError):
        chat_sdk(model_server, "wrong").chat.completions.create(model="m", messages=ASK)
    with pytest.raises(openai.AuthenticationError):
        chat_sdk(model_server, "wrong").models.list()


def test_requests_are_recorded(model_server: ModelServer) -> None:
    model_server.reset([{"name": "greeting", "reply": {"text": "hi"}}])
    got = post(model_server, body("hello", tools=[SEARCH_TOOL]), headers={"X-Trace": "7"})
    model_server.wait_until(lambda: model_server.requests[0].finished_at is not None)
    request = model_server.requests[0]
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.headers["x-trace"] == "7"
    assert request.body["messages"] == request.messages == ASK
    assert (request.question, request.tools) == ("hello", ("stock_search",))
    assert (request.rule, request.status) == ("greeting", 200)
    assert request.bytes_sent == len(got.content)
    assert seconds(request.received_at, request.first_byte_at) >= 0
    assert seconds(request.first_byte_at, request.finished_at) >= 0
    assert request.closed_by_client_at is None


def test_another_process_reads_the_record_without_keys(model_server: ModelServer) -> None:
    model_server.reset([{"reply": {"text": "hi"}}])
    post(model_server, headers={"Authorization": "Bearer secret-key"})
    shown = httpx2.get(f"{model_server.base_url}/_requests")
    assert shown.json()[0]["body"]["messages"] == ASK
    assert "secret-key" not in shown.text


def test_reset_forgets_and_waiting_in_vain_says_what_was_seen(model_server: ModelServer) -> None:
    model_server.reset([{"name": "one", "reply": {"text": "hi"}}])
    post(model_server)
    assert len(model_server.wait_for(1)) == 1
    with pytest.raises(NeverCame, match=r"2 requests did not come in 0\.1 s; seen: .*one"):
        model_server.wait_for(2, timeout=0.1)
    model_server.reset()
    assert model_server.requests == []
    assert said(model_server) == "hi"


def test_servers_run_side_by_side_and_stop_while_a_response_runs() -> None:
    rules = [{"reply": {"silence": 60}}]
    with ModelServer(rules) as one, ModelServer(rules) as two:
        assert one.port != two.port
        url = f"{one.base_url}/v1/chat/completions"
        with httpx2.stream("POST", url, json=body(stream=True)) as response:
            started = time.monotonic()
            one.stop()
            assert time.monotonic() - started < 3
            with pytest.raises(httpx2.TransportError):
                response.read()
        assert one.requests[0].closed_by_client_at is None
        with pytest.raises(httpx2.ConnectError):
            post(one)


def test_a_port_that_is_taken_is_an_error(model_server: ModelServer) -> None:
    with pytest.raises(OSError, match="address already in use"):
        ModelServer([], port=model_server.port).start()


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"reply": {"txet": "hi"}}, "txet"),
        ({"when": {"question": "("}, "reply": {}}, "not a regular expression"),
        ({"when": {"turn": "some"}, "reply": {}}, "'some' is not a number"),
        ({"when": {"turn": 1}}, "give one of reply, replies"),
        ({"reply": {}, "replies": [{}]}, "give one of reply, replies"),
    ],
)
def test_a_script_with_a_mistake_is_refused(rule: dict[str, Any], words: str) -> None:
    with pytest.raises(BadScript, match="given in Python cannot be read") as caught:
        load([rule])
    assert words in str(caught.value)


def test_the_command_serves_until_it_is_stopped(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("rules: [{reply: {text: 'from a file'}}]", encoding="utf-8")
    command = [sys.executable, "-m", "evals.model_server", str(script), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        url = line.split()[3].rstrip(",")
        answer = httpx2.post(f"{url}/v1/chat/completions", json=body()).json()
        process.terminate()
        assert process.wait(timeout=10) == 0
    assert answer["choices"][0]["message"]["content"] == "from a file"


def test_the_command_names_a_script_that_is_missing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "evals.model_server", str(tmp_path / "none.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert done.returncode == 2
    assert "none.yaml cannot be read" in done.stderr
