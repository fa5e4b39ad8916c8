"""A scripted model server: a provider that says exactly what a script tells it to.

It speaks the chat-completions wire (`POST …/chat/completions`), the messages wire
(`POST …/messages`) and `GET …/models`, streamed or whole, over real HTTP on a loopback port,
under any prefix (`/v1`, `/api/v1` or none). It checks what a real provider checks: a history
in which a tool call has no answer is a 400, unless the script says `lenient: true`.

    with ModelServer("evals/scripts/golden.yaml") as server:      # or a list of rules
        ask(base_url=server.base_url + "/v1")
        server.wait_for(2)
        assert server.requests[1].messages[-1]["role"] == "tool"

    python -m evals.model_server evals/scripts/golden.yaml --port 8100

A script is a list of rules, or a mapping with `rules` and, if wanted, `models` (names or
whole entries), `api_key` (any other key is a 401) and `lenient`. The first rule that holds
answers; when none holds the answer is a 400 that says so.

    rules:
    - name: slow stock
      when: {question: 'not sold in (\\d+) days', tools: true}
      replies:
      - tool_calls: [{name: stock_search, arguments: {price_max: 10}}]
      - text: 'I count ${find /"total_rows": (\\d+)/} items.'

`when`: every condition given must hold. Expressions are searched, ignoring case.
    question    in the last thing a person said
    system      in the system prompt
    result      in the tool results since the question
    model       in the model's name
    turn        assistant messages since the question: 0, "1-3" (both included), "2-"
    attempt     how often these very messages were sent before: 0 is the first time
    request     how many requests for an answer came before this one
    tools       whether tools are offered
    stream      whether a stream is asked for
    wire        openai or anthropic

One of
    reply       always this
    replies     by turn; the last one repeats
    attempts    by attempt, beginning again after the last: [{error: 429}, {text: fine}]

A reply says
    text            streamed word by word, or a list of deltas
    reasoning       streamed before it
    tool_calls      [{name, arguments, id?, index?}]; arguments as a string go out as they stand
    chunk_chars     characters of arguments or reasoning in a delta, 16; 0 sends a call whole
    interleave      pieces of parallel calls take turns (true), or call after call
    finish_reason   stop, or tool_calls when there are some; null leaves it out
    usage           {prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, cost};
                    estimated where left out; null sends none. A stream carries it only when
                    the client asks, or with usage_unasked: true
    headers         more response headers
and how fast
    first_ms        pause before the first byte of the body
    delta_ms        pause between deltas
    keep_alive_ms   comments of this rhythm during every pause
    comments        a comment before every event
and what goes wrong
    error           429, or {status, message, type, code, retry_after, body}; with `after: n`
                    an error event after n deltas of a stream that began well
    redirect        a URL (`${base_url}` is this server), or {to, status}
    silence         seconds after the headers, or {seconds, at}: request (before the headers),
                    headers, or a number of deltas; then the reply goes on
    garbage         html, bytes, empty (instead of the body); json, shape (an event that does
                    not parse, or parses to something else), or {kind, after: n deltas}
    huge_event      bytes of one event, counted with its line ends but not its blank line; a
                    whole answer is padded to this size
    cut             close the socket after n deltas (whole answer: in the middle)
    line_end        lf, crlf or cr
    split           bytes per chunk, or inside: within characters, CRLF pairs and lines
    done            false leaves out the stream's last mark

In texts and arguments `${question}`, `${model}`, `${turn}`, `${result}` (the last) and
`${results}` are put in place; `${find /EXPRESSION/}` gives the first group found in the
results since the question, `${repeat /x/ 1000}` a long text.
"""

from evals.model_server.record import Received
from evals.model_server.script import BadScript, Script, load
from evals.model_server.server import ModelServer, NeverCame

__all__ = ["BadScript", "ModelServer", "NeverCame", "Received", "Script", "load"]
