"""The golden script: every case of its table does what the table says."""

import re
from pathlib import Path
from typing import Any

import httpx2
import pytest

from evals.model_server import ModelServer, load
from tests.evals.wire import (
    SEARCH_TOOL,
    body,
    called,
    chunks,
    data_of,
    post,
    returned,
    seconds,
    text_of,
)

GOLDEN = Path(__file__).resolve().parents[2] / "evals" / "scripts" / "golden.yaml"


@pytest.fixture
def golden(model_server: ModelServer) -> ModelServer:
    model_server.reset(GOLDEN)
    return model_server


def answer(
    server: ModelServer, question: str, turns: int = 0, result: str = "{}"
) -> dict[str, Any]:
    """The model's message after so many turns of one call each."""
    past = [m for i in range(turns) for m in (called(f"c{i}"), returned(f"c{i}", result))]
    response = post(server, body(question, *past, tools=[SEARCH_TOOL]))
    assert response.status_code == 200, response.text
    message: dict[str, Any] = response.json()["choices"][0]["message"]
    return message


def calls(message: dict[str, Any]) -> list[tuple[str, str]]:
    functions = [call["function"] for call in message.get("tool_calls", [])]
    return [(function["name"], function["arguments"]) for function in functions]


SEARCH = ("stock_search", '{"price_max": 10, "not_sold_days": 90}')


def test_every_case_of_the_table_has_its_rule() -> None:
    rows = re.findall(r"^# \| ([\w ]+?) +\|", GOLDEN.read_text(encoding="utf-8"), re.MULTILINE)
    named = {rule.name for rule in load(GOLDEN).rules} - {"title"}
    assert set(rows) - {"case"} == named


@pytest.mark.parametrize(
    "result", ['{"kind": "table", "total_rows": 47, "rows": [1]}', "total_rows=47", "rows: 47"]
)
def test_one_call_then_an_answer_from_the_result(golden: ModelServer, result: str) -> None:
    question = "what's under $10 that hasn't sold in 90 days?"
    assert calls(answer(golden, question)) == [SEARCH]
    message = answer(golden, question, 1, result)
    assert message["content"] == "47 items cost less than $10 and have not sold in 90 days."


def test_two_parallel_calls(golden: ModelServer) -> None:
    first = answer(golden, "Compare our stock with last month's sales")
    assert [name for name, _ in calls(first)] == ["stock_search", "sales_summary"]
    assert not calls(answer(golden, "compare stock and sales", 1))


def test_malformed_arguments_then_a_correct_call(golden: ModelServer) -> None:
    name, arguments = calls(answer(golden, "try malformed arguments"))[0]
    assert name == "stock_search"
    with pytest.raises(ValueError, match="Unterminated"):
        httpx2.Response(200, content=arguments).json()
    assert calls(answer(golden, "try malformed arguments", 1)) == [SEARCH]
    assert not calls(answer(golden, "try malformed arguments", 2))


def test_an_unknown_tool_then_an_apology(golden: ModelServer) -> None:
    assert calls(answer(golden, "use an unknown tool"))[0][0] == "set_price_now"
    assert "sorry" in answer(golden, "use an unknown tool", 1)["content"]


def test_calls_for_ever_differ_and_the_same_call_comes_three_times(golden: ModelServer) -> None:
    endless = [calls(answer(golden, "go on for ever", turn))[0] for turn in range(9)]
    assert len(set(endless)) == 9
    same = [calls(answer(golden, "make the same call three times", turn)) for turn in range(4)]
    assert same == [[SEARCH], [SEARCH], [SEARCH], []]


def test_refusals(golden: ModelServer) -> None:
    def statuses(question: str, times: int = 2) -> list[int]:
        return [post(golden, body(question)).status_code for _ in range(times)]

    assert statuses("the provider is broken") == [500, 500]
    assert statuses("are you busy once?") == [429, 200]
    assert statuses("are you always busy?") == [429, 429]
    assert statuses("you have the wrong key") == [401, 401]
    assert statuses("this redirects") == [302, 302]


def test_the_slow_answer_takes_three_seconds(golden: ModelServer) -> None:
    past = [called("c"), returned("c")]
    events = data_of(b"".join(chunks(golden, body("tell me slowly", *past))))
    assert len(text_of(events).split()) >= 40
    request = golden.requests[0]
    golden.wait_until(lambda: request.finished_at is not None)
    assert 3 <= seconds(request.received_at, request.finished_at) < 10


@pytest.mark.parametrize(
    ("question", "words", "ending"),
    [
        ("ask the silent provider", 0, "ReadTimeout"),
        ("now it falls silent", 5, "ReadTimeout"),
        ("the line goes dead", 5, "RemoteProtocolError"),
        ("it returns broken JSON", 3, "JSONDecodeError"),
        ("it breaks halfway", 5, "error"),
    ],
)
def test_streams_that_do_not_end_well(
    golden: ModelServer, question: str, words: int, ending: str
) -> None:
    url = f"{golden.base_url}/v1/chat/completions"
    told, ended = "", ""
    with httpx2.stream("POST", url, json=body(question, stream=True), timeout=1.5) as response:
        try:
            for line in response.iter_lines():
                for event in data_of(line.encode()):
                    told += text_of([event])
                    ended = "error" if "error" in event else ended
        except (httpx2.TransportError, ValueError) as error:
            ended = type(error).__name__
    assert told.split() == ["One", "two", "three", "four", "five"][:words]
    assert ended == ending


def test_a_provider_that_hangs_sends_no_headers(golden: ModelServer) -> None:
    with pytest.raises(httpx2.ReadTimeout):
        post(golden, body("the provider hangs"), timeout=1)


def test_rubbish_and_a_huge_call(golden: ModelServer) -> None:
    assert post(golden, body("it returns a web page")).content.startswith(b"<!doctype")
    with pytest.raises(UnicodeDecodeError):
        post(golden, body("it returns rubbish")).content.decode()
    _, arguments = calls(answer(golden, "send huge arguments"))[0]
    assert len(arguments) > 2 * 1024 * 1024


def test_anything_else_is_answered_plainly(golden: ModelServer) -> None:
    message = answer(golden, "good morning")
    assert message["content"] == "This is a plain answer without any tool."
    assert answer(golden, "it says nothing")["content"] is None
    assert "changed the price" in answer(golden, "it claims to have changed it")["content"]
