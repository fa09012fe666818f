"""How one request is carried out, without saying by which means: the synchronous and the asynchronous client drive the
same generator. Every request can be sent again, since steps have ids and sessions have keys, so whatever breaks on the
way is tried again, and what the server decided never is."""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Union

from .errors import (
    AtCapacity,
    EpisodeOver,
    Fault,
    InfrastructureError,
    QuintainError,
    Refused,
    SessionGone,
)

PROTOCOL = 1
"""Version of the wire. A server of another one is refused."""


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    body: Mapping[str, Any] | None = None
    params: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes


@dataclass(frozen=True)
class Broken:
    """No whole answer came."""

    why: str


@dataclass(frozen=True)
class Sleep:
    seconds: float


Action = Union[Request, Sleep]
Exchange = Generator[Action, "Reply | Broken | None", Any]


@dataclass(frozen=True)
class Patience:
    """How long a client puts up with a server that cannot be reached or answers nonsense: so many tries, with pauses
    that double from the first on."""

    tries: int = 5
    first_pause: float = 0.25
    longest_pause: float = 4.0

    def pause(self, failures: int) -> float:
        return min(self.longest_pause, self.first_pause * 2.0 ** (failures - 1))


def exchange(request: Request, patience: Patience, *, wait: float = 0.0) -> Exchange:
    """Carries a request out and gives the JSON of its answer. `wait`: seconds to ask again while the server is full."""
    failures = 0
    full_until = time.monotonic() + wait
    while True:
        reply = yield request
        assert reply is not None
        problem: QuintainError
        if isinstance(reply, Broken):
            problem = InfrastructureError(f"The server cannot be reached: {reply.why}", code="unreachable")
        else:
            value = _json(reply.body)
            if reply.status == 202 and isinstance(value, dict) and value.get("pending") is True:
                failures = 0
                continue
            if 200 <= reply.status < 300 and isinstance(value, dict):
                return value
            known = _problem(value)
            if known is None:
                problem = InfrastructureError(
                    f"The server answered {reply.status} with something that is no answer of Quintain's: "
                    f"{reply.body[:120]!r}",
                    code="unreadable",
                )
            elif known.code == "at_capacity" and time.monotonic() < full_until:
                yield Sleep(1.0)
                continue
            elif known.code not in ("busy", "server_failed"):
                raise known
            else:
                problem = known
        failures += 1
        if failures >= patience.tries:
            raise problem
        yield Sleep(patience.pause(failures))


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def fault_of(value: Any) -> Fault | None:
    if not isinstance(value, Mapping):
        return None
    return Fault(
        owner=str(value.get("owner", "platform")),
        stage=str(value.get("stage", "")),
        code=str(value.get("code", "")),
        message=str(value.get("message", "")),
        retryable=value.get("retryable") is True,
    )


def _problem(value: Any) -> QuintainError | None:
    """The exception that an error of the server's is; None for what is none of its errors."""
    error = value.get("error") if isinstance(value, Mapping) else None
    if not isinstance(error, Mapping) or not isinstance(error.get("code"), str):
        return None
    code: str = error["code"]
    message = str(error.get("message", code))
    if code in ("session_gone", "session_unknown"):
        return SessionGone(message, code=code)
    if code in ("at_capacity", "busy", "draining"):
        return AtCapacity(message, code=code)
    if code in ("infrastructure", "server_failed"):
        return InfrastructureError(message, code=code, fault=fault_of(error.get("fault")))
    if code == "episode_over":
        return EpisodeOver(message, code=code)
    return Refused(message, code=code)
