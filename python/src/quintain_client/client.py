"""The synchronous client."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import httpx

from . import protocol
from .connection import Connection, reply_of
from .exchange import Broken, Exchange, Patience, Reply, Request, Sleep, exchange
from .values import Content, Environment, Opening, Step, Task, Verdict


class Client:
    """A server of environments, by its address. Threads may share one."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        environment: str | None = None,
        patience: Patience = Patience(),
    ) -> None:
        """`environment` is the slug of the one that is meant; it may be left out where the server has one alone."""
        self._connection = Connection(url, token)
        self._http = httpx.Client(**self._connection.settings())
        self._environment = environment
        self._patience = patience

    def environments(self) -> list[Environment]:
        return protocol.read_environments(self._run(protocol.environments()))

    def environment(self) -> Environment:
        """The one that is meant. Raises `Refused` where it is not there."""
        return self._connection.pick(self.environments(), self._environment)

    def tasks(self, split: str, *, start: int = 0, stop: int | None = None, page: int = 500) -> Iterator[Task]:
        while stop is None or start < stop:
            upto = start + page if stop is None else min(start + page, stop)
            found = self._run(protocol.tasks(self._environment, split, start, upto))["tasks"]
            yield from map(protocol.read_task, found)
            start += len(found)
            if not found:
                return

    def create(
        self,
        task: str | None = None,
        *,
        split: str | None = None,
        index: int | None = None,
        pick: str | None = None,
        key: str | None = None,
        seed: Any = None,
        answer_tool: bool = False,
        wait: float = 0.0,
    ) -> Session:
        """A session of a task: by its id, by its place within a split, or the one that a text picks. `wait`: seconds to
        wait for room. Raises `AtCapacity`, `Refused`, `InfrastructureError`."""
        chosen = protocol.choice(task, split, index, pick)
        key = key or protocol.new_id()
        request = protocol.create(self._environment, chosen, key, seed=seed, answer_tool=answer_tool)
        made = self._run(request, wait=wait)
        return Session(
            self, made["session"], protocol.read_task(made["task"]), protocol.read_opening(made["opening"])
        )

    def close(self) -> None:
        self._connection.close()
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, request: Request, *, wait: float = 0.0) -> Any:
        return self._drive(exchange(request, self._patience, wait=wait))

    def _drive(self, steps: Exchange) -> Any:
        reply: Reply | Broken | None = None
        while True:
            try:
                action = steps.send(reply)
            except StopIteration as done:
                return done.value
            if isinstance(action, Sleep):
                reply = None
                time.sleep(action.seconds)
            else:
                reply = self._send(action)

    def _send(self, request: Request) -> Reply | Broken:
        try:
            return reply_of(self._http.request(**self._connection.arguments(request)))
        except httpx.RequestError as thrown:
            return self._connection.broken(thrown)


class Session:
    """One episode. Leaving it as a context closes it."""

    def __init__(self, client: Client, handle: str, task: Task, opening: Opening) -> None:
        self._client = client
        self.handle = handle
        self.task = task
        self.opening = opening
        client._connection.keep(self, handle)

    @property
    def address(self) -> tuple[str, str | None]:
        """Where the session is held, and the token that is shown there: with `handle` enough to call its tools."""
        return self._client._connection.url, self._client._connection.token

    def call(
        self,
        name: str,
        arguments: Any,
        *,
        id: str | None = None,
        batch: str | None = None,
        text: str | None = None,
    ) -> Step:
        """Calls a tool with an object, or with JSON text as a model wrote it. `id` names the call: the same one again
        gives the same result, and carries nothing out. `batch` names the reply of the model in which it was made: calls
        of one reply count as one turn. `text` is what it wrote beside them, given with the first."""
        return protocol.read_step(self._client._run(protocol.call(self.handle, name, arguments, id, batch, text)))

    def say(self, content: Content, *, id: str | None = None) -> Step:
        """Says something as the agent."""
        return protocol.read_step(self._client._run(protocol.act(self.handle, content, id)))

    def grade(self, answer: Content | None = None) -> Verdict:
        """Ends the episode, saying `answer` first where it is given, and gives what it earned. Asked again it gives the
        same. Raises `Unscored` and `InfrastructureError` where there is no number."""
        return protocol.read_verdict(self._client._run(protocol.grade(self.handle, answer)))

    def close(self) -> None:
        """Forgets the session; one that was not graded is recorded as a fault. Raises nothing."""
        self._client._connection.drop(self)
        try:
            self._client._run(protocol.close(self.handle))
        except protocol.QUIET:
            pass

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
