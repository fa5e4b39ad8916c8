"""The server itself: a thread with its own event loop, on a loopback port of its own."""

import asyncio
import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Any

from aiohttp import web

from evals.model_server import anthropic_wire, openai_wire
from evals.model_server.conversation import Conversation, WireName
from evals.model_server.delivery import Delivery, Wire
from evals.model_server.record import Received
from evals.model_server.script import ErrorReply, Facts, Reply, Script, ScriptSource, load
from evals.model_server.speech import Speech

WIRES: dict[WireName, Wire] = {"openai": openai_wire, "anthropic": anthropic_wire}
LARGEST_BODY = 128 * 1024 * 1024


class NeverCame(TimeoutError):
    """What a test waited for did not happen in time."""


class ModelServer:
    """A scripted provider on real sockets.

    `with ModelServer(rules) as server:` starts it on a free port and stops it at the end,
    cutting responses that still run. `requests` is in order of arrival.
    """

    def __init__(self, script: ScriptSource, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.script: Script = load(script)
        self.requests: list[Received] = []
        self.host = host
        self.port = port
        self._asked: Counter[str] = Counter()
        self._happened = threading.Condition()
        self._handlers: set[asyncio.Task[Any]] = set()
        self._failure: BaseException | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="model-server", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None

    @property
    def base_url(self) -> str:
        """Where a client of either wire points; `base_url + "/v1"` answers as well."""
        return f"http://{self.host}:{self.port}"

    @property
    def calls(self) -> list[Received]:
        """The requests that asked the model something."""
        return [request for request in self.requests if request.conversation]

    def start(self) -> "ModelServer":
        """Listen; OSError when the port is taken."""
        self._thread.start()
        self._started.wait()
        if self._failure:
            raise self._failure
        return self

    def stop(self) -> None:
        """Cut what still runs, close the port and end the thread."""
        if self._loop and self._stop and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(timeout=10)

    def __enter__(self) -> "ModelServer":
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def reset(self, script: ScriptSource | None = None) -> None:
        """Forget what was asked and, when given, follow another script from now on."""
        fresh = load(script) if script is not None else self.script
        with self._happened:
            self.script, self.requests, self._asked = fresh, [], Counter()

    def wait_for(self, n: int, timeout: float = 5) -> list[Received]:
        """The requests, once there are n of them; NeverCame after `timeout` seconds."""
        self.wait_until(lambda: len(self.requests) >= n, timeout, what=f"{n} requests")
        return self.requests

    def wait_until_closed(self, request: Received, timeout: float = 5) -> float:
        """When the client left this response unfinished; NeverCame if it did not."""
        what = f"the client leaving request {request.number}"
        self.wait_until(lambda: request.closed_by_client_at is not None, timeout, what=what)
        return request.closed_by_client_at or 0.0

    def wait_until(self, holds: Callable[[], bool], timeout: float = 5, *, what: str = "") -> None:
        """Wait until something holds of this server; NeverCame says what was seen instead."""
        with self._happened:
            if not self._happened.wait_for(holds, timeout):
                seen = [f"{r.method} {r.path} {r.rule} {r.status}" for r in self.requests]
                raise NeverCame(f"{what or 'It'} did not come in {timeout} s; seen: {seen}")

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except OSError as error:
            self._failure = error
        finally:
            self._started.set()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=LARGEST_BODY)
        app.router.add_get("/_requests", self._list_requests)
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=0.5
        )
        await runner.setup()
        try:
            site = web.TCPSite(runner, self.host, self.port, reuse_address=True)
            await site.start()
            self.port = runner.addresses[0][1]
            self._started.set()
            await self._stop.wait()
        finally:
            for handler in self._handlers:
                handler.cancel()
            await runner.cleanup()

    async def _list_requests(self, request: web.Request) -> web.Response:
        """For a reader in another process; not recorded itself."""
        return web.json_response([record.as_json() for record in self.requests])

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        task = asyncio.current_task()
        if task:
            self._handlers.add(task)
        record = Received(
            number=0,
            method=request.method,
            path=request.path,
            headers={key.lower(): value for key, value in request.headers.items()},
            received_at=time.monotonic(),
        )
        try:
            return await self._answer(request, record)
        except (asyncio.CancelledError, ConnectionResetError):
            if self._stop and not self._stop.is_set():
                record.closed_by_client_at = time.monotonic()
            raise
        finally:
            record.finished_at = time.monotonic()
            if task:
                self._handlers.discard(task)
            self._tell()

    async def _answer(self, request: web.Request, record: Received) -> web.StreamResponse:
        raw = await request.read()
        record.body = _json(raw)
        wire: WireName = "anthropic" if request.path.endswith("/messages") else "openai"
        reply = self._admit(record, wire)
        self._tell()
        if isinstance(reply, web.Response):
            record.status = reply.status
            return reply
        assert record.conversation is not None
        speech = Speech(record.number, int(time.time()), record.conversation, reply)
        return await Delivery(request, record, WIRES[wire], reply).send(speech)

    def _tell(self) -> None:
        with self._happened:
            self._happened.notify_all()

    def _admit(self, record: Received, wire: WireName) -> Reply | web.Response:
        """Write the request down, then find its reply, or refuse as a provider would."""
        with self._happened:
            record.number = len(self.requests) + 1
            self.requests.append(record)
            script = self.script
            if script.api_key and _key(record) != script.api_key:
                return _refused(wire, 401)
            if record.path.endswith("/models") and record.method == "GET":
                return _models(script)
            if not record.path.endswith(("/chat/completions", "/messages")):
                return _refused(wire, 404, f"Unknown request: {record.method} {record.path}")
            if record.method != "POST":
                return _refused(wire, 405, f"{record.method} is not allowed here.")
            wrong = _wrong(record.body, WIRES[wire], script)
            if wrong:
                return _refused(wire, 400, wrong)
            return self._choose(record, wire, script)

    def _choose(self, record: Received, wire: WireName, script: Script) -> Reply | web.Response:
        conversation = Conversation.read(wire, record.body)
        digest = hashlib.sha256(json.dumps(record.body["messages"]).encode()).hexdigest()
        facts = Facts(
            conversation=conversation,
            attempt=self._asked[digest],
            request=self._asked.total(),
        )
        self._asked[digest] += 1
        record.conversation, record.attempt = conversation, facts.attempt
        rule = script.rule_for(facts)
        if rule is None:
            told = f"turn {conversation.turn} of {conversation.question[:200]!r}"
            return _refused(wire, 400, f"No rule of the script matches {told}.")
        record.rule = rule.name or f"rule {script.rules.index(rule) + 1}"
        return rule.pick(facts).filled(conversation)


def _json(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return None


def _key(record: Received) -> str:
    bearer = record.headers.get("authorization", "").removeprefix("Bearer ")
    return record.headers.get("x-api-key") or bearer


def _refused(wire: WireName, status: int, message: str | None = None) -> web.Response:
    told = ErrorReply(status=status, message=message)
    return web.json_response(WIRES[wire].error(told), status=status)


def _models(script: Script) -> web.Response:
    listed = [{"id": model} if isinstance(model, str) else model for model in script.models]
    data = [{"object": "model", "created": 0, "owned_by": "script", **model} for model in listed]
    return web.json_response({"object": "list", "data": data})


def _wrong(body: Any, wire: Wire, script: Script) -> str | None:
    """Why a real provider would not take this body."""
    if not isinstance(body, dict):
        return "We could not parse the JSON body of your request."
    if not isinstance(body.get("model"), str) or not body["model"]:
        return "you must provide a model parameter"
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages: a list with at least one message is required"
    if not all(isinstance(m, dict) and isinstance(m.get("role"), str) for m in messages):
        return "messages: each must be an object with a role"
    return None if script.lenient else wire.refusal(body)
