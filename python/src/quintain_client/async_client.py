"""The asynchronous client: the same names, awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx

from . import protocol
from .connection import Connection, reply_of
from .exchange import Broken, Exchange, Patience, Reply, Request, Sleep, exchange
from .values import Content, Environment, Opening, Step, Task, Verdict


class AsyncClient:
    """A server of environments, by its address. It belongs to the event loop that uses it first."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        environment: str | None = None,
        patience: Patience = Patience(),
    ) -> None:
        self._connection = Connection(url, token)
        self._http = httpx.AsyncClient(**self._connection.settings())
        self._environment = environment
        self._patience = patience

    async def environments(self) -> list[Environment]:
        return protocol.read_environments(await self._run(protocol.environments()))

    async def environment(self) -> Environment:
        return self._connection.pick(await self.environments(), self._environment)

    async def tasks(
        self, split: str, *, start: int = 0, stop: int | None = None, page: int = 500
    ) -> AsyncIterator[Task]:
        while stop is None or start < stop:
            upto = start + page if stop is None else min(start + page, stop)
            found = (await self._run(protocol.tasks(self._environment, split, start, upto)))["tasks"]
            for one in found:
                yield protocol.read_task(one)
            start += len(found)
            if not found:
                return

    async def create(
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
    ) -> AsyncSession:
        """As `Client.create`."""
        chosen = protocol.choice(task, split, index, pick)
        key = key or protocol.new_id()
        request = protocol.create(self._environment, chosen, key, seed=seed, answer_tool=answer_tool)
        made = await self._run(request, wait=wait)
        return AsyncSession(
            self, made["session"], protocol.read_task(made["task"]), protocol.read_opening(made["opening"])
        )

    async def call(
        self,
        handle: str,
        name: str,
        arguments: Any,
        *,
        id: str | None = None,
        batch: str | None = None,
        text: str | None = None,
    ) -> Step:
        """Calls a tool of a session that another process made and holds."""
        return protocol.read_step(await self._run(protocol.call(handle, name, arguments, id, batch, text)))

    async def close(self) -> None:
        self._connection.close()
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _run(self, request: Request, *, wait: float = 0.0) -> Any:
        return await self._drive(exchange(request, self._patience, wait=wait))

    async def _drive(self, steps: Exchange) -> Any:
        reply: Reply | Broken | None = None
        while True:
            try:
                action = steps.send(reply)
            except StopIteration as done:
                return done.value
            if isinstance(action, Sleep):
                reply = None
                await asyncio.sleep(action.seconds)
            else:
                reply = await self._send(action)

    async def _send(self, request: Request) -> Reply | Broken:
        try:
            return reply_of(await self._http.request(**self._connection.arguments(request)))
        except httpx.RequestError as thrown:
            return self._connection.broken(thrown)


class AsyncSession:
    """One episode. Leaving it as a context closes it."""

    def __init__(self, client: AsyncClient, handle: str, task: Task, opening: Opening) -> None:
        self._client = client
        self.handle = handle
        self.task = task
        self.opening = opening
        client._connection.keep(self, handle)

    @property
    def address(self) -> tuple[str, str | None]:
        """Where the session is held, and the token that is shown there: with `handle` enough to call its tools."""
        return self._client._connection.url, self._client._connection.token

    async def call(
        self,
        name: str,
        arguments: Any,
        *,
        id: str | None = None,
        batch: str | None = None,
        text: str | None = None,
    ) -> Step:
        """As `Session.call`."""
        return await self._client.call(self.handle, name, arguments, id=id, batch=batch, text=text)

    async def say(self, content: Content, *, id: str | None = None) -> Step:
        """As `Session.say`."""
        return protocol.read_step(await self._client._run(protocol.act(self.handle, content, id)))

    async def grade(self, answer: Content | None = None) -> Verdict:
        """As `Session.grade`."""
        return protocol.read_verdict(await self._client._run(protocol.grade(self.handle, answer)))

    async def close(self) -> None:
        """As `Session.close`."""
        self._client._connection.drop(self)
        try:
            await self._client._run(protocol.close(self.handle))
        except protocol.QUIET:
            pass

    async def __aenter__(self) -> AsyncSession:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
