"""The requests of the native door, and what their answers mean."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from .errors import AtCapacity, InfrastructureError, Refused, SessionGone, Unscored
from .exchange import PROTOCOL, Request, fault_of
from .values import Content, Environment, Opening, Split, Step, Task, Verdict

QUIET = (AtCapacity, InfrastructureError, Refused, SessionGone)
"""What closing a session may run into: the server ends those that nobody asks for by itself."""


def new_id() -> str:
    return uuid.uuid4().hex


def choice(
    task: str | None, split: str | None, index: int | None, seed: str | None
) -> dict[str, Any]:
    """Which task a session plays: by its id, by its place within a split, or picked by a text."""
    if task is not None and split is None and index is None and seed is None:
        return {"id": task}
    if task is None and seed is None and split is not None and index is not None:
        return {"split": split, "index": index}
    if task is None and index is None and seed is not None:
        return {"seed": seed} if split is None else {"split": split, "seed": seed}
    raise ValueError("name a task by task=ID, by split= and index=, or by pick= (and split=), a text that picks one")


def environments() -> Request:
    return Request("GET", "/v1/environments")


def tasks(environment: str | None, split: str, start: int, stop: int) -> Request:
    params = {"split": split, "from": str(start), "to": str(stop)}
    return Request("GET", "/v1/tasks", params=params if environment is None else {"environment": environment, **params})


def create(
    environment: str | None, task: Mapping[str, Any], key: str, *, seed: Any, answer_tool: bool
) -> Request:
    body: dict[str, Any] = {"task": task, "key": key}
    if environment is not None:
        body["environment"] = environment
    if seed is not None:
        body["seed"] = seed
    if answer_tool:
        body["answerTool"] = True
    return Request("POST", "/v1/sessions", body)


def call(
    handle: str, name: str, arguments: Any, id: str | None, batch: str | None, text: str | None
) -> Request:
    body = {"id": id or new_id(), "name": name, "arguments": arguments, "batch": batch, "text": text}
    given = {key: value for key, value in body.items() if value is not None}
    return Request("POST", f"/v1/sessions/{handle}/call", given)


def act(handle: str, content: Content, id: str | None) -> Request:
    return Request("POST", f"/v1/sessions/{handle}/act", {"id": id or new_id(), "content": content})


def grade(handle: str, answer: Content | None) -> Request:
    return Request("POST", f"/v1/sessions/{handle}/grade", {} if answer is None else {"answer": answer})


def close(handle: str) -> Request:
    return Request("DELETE", f"/v1/sessions/{handle}")


def touch(handles: list[str]) -> Request:
    return Request("POST", "/v1/touch", {"sessions": handles})


def read_environments(value: Mapping[str, Any]) -> list[Environment]:
    if value.get("protocol") != PROTOCOL:
        raise Refused(
            f"The server speaks version {value.get('protocol')!r} of the protocol, and this client version {PROTOCOL}. "
            "Install the quintain-client that belongs to the server.",
            code="other_protocol",
        )
    with_shape = _Shape(value)
    return [
        Environment(
            name=one["name"],
            version=one["version"],
            slug=one["slug"],
            description=one["description"],
            digest=one["digest"],
            needs=one["needs"],
            rewards=one["rewards"],
            metrics=one["metrics"],
            success=one["success"],
            splits=[Split(name=s["name"], type=s["type"], tasks=s["tasks"]) for s in one["splits"]],
        )
        for one in with_shape["environments"]
    ]


def read_task(value: Mapping[str, Any]) -> Task:
    shape = _Shape(value)
    return Task(id=shape["id"], split=shape["split"], index=shape["index"], task=shape["task"])


def read_opening(value: Mapping[str, Any]) -> Opening:
    shape = _Shape(value)
    return Opening(
        messages=shape["messages"],
        tools=shape["tools"],
        answer_tool=value.get("answerTool"),
        replies=shape["replies"],
    )


def read_step(value: Mapping[str, Any]) -> Step:
    return Step(content=_Shape(value)["content"], error=value.get("error"), done=value.get("done"))


def read_verdict(value: Mapping[str, Any]) -> Verdict:
    """What an episode earned. Raises `Unscored` and `InfrastructureError` where it earned no number."""
    kind = value.get("kind")
    shape = _Shape(value)
    if kind == "failed":
        fault = fault_of(shape["fault"])
        assert fault is not None
        raise InfrastructureError(
            f"The episode failed and has no score: {fault.message} ({fault.owner}, {fault.stage}, {fault.code})",
            code=fault.code,
            fault=fault,
        )
    if kind == "unscored":
        reason = shape["reason"]
        raise Unscored(
            f"The episode has no score: {reason}", code=reason, outcome=shape["outcome"], metrics=shape["metrics"]
        )
    reward = shape["reward"]
    if kind != "scored" or isinstance(reward, bool) or not isinstance(reward, (int, float)):
        raise InfrastructureError(f"The server gave no verdict: {value!r:.200}", code="unreadable")
    return Verdict(
        reward=float(reward),
        success=value.get("success"),
        rewards=shape["rewards"],
        metrics=shape["metrics"],
        outcome=shape["outcome"],
        stop=value.get("stop"),
    )


class _Shape:
    """An answer whose fields must be there."""

    def __init__(self, value: Mapping[str, Any]) -> None:
        self._value = value

    def __getitem__(self, name: str) -> Any:
        if name not in self._value:
            raise InfrastructureError(f"The server's answer has no {name!r}.", code="unreadable")
        return self._value[name]
