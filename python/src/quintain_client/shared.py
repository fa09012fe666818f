"""The server that a package written by `quintain export` plays on: one that runs already, or one that is started for
this process when the first episode begins."""

from __future__ import annotations

import asyncio
import os
import shlex
import threading
from dataclasses import dataclass, replace

from .async_client import AsyncClient
from .errors import Refused
from .server import Server, serve_command


@dataclass(frozen=True)
class Served:
    """Which environment is meant, and where it is served."""

    slug: str
    digest: str
    """Of the environment that was exported; another one is refused."""
    reference: str
    """The environment as `quintain serve` takes it, resolved in `cwd`."""
    arguments: tuple[str, ...] = ()
    """Words behind it, by which the same is served: options of the environment."""
    url: str | None = None
    cwd: str | None = None

    def settled(self) -> Served:
        """With what the surroundings say: `QUINTAIN_URL` names a server that runs, `QUINTAIN_CWD` the folder to start
        one in."""
        url = os.environ.get("QUINTAIN_URL") or self.url
        cwd = os.environ.get("QUINTAIN_CWD") or self.cwd
        return replace(self, url=url, cwd=cwd)


@dataclass(frozen=True)
class Address:
    url: str
    token: str | None


_starting = threading.Lock()
_servers: dict[tuple[str, tuple[str, ...], str | None], Server] = {}
_clients: dict[asyncio.AbstractEventLoop, dict[Served, asyncio.Task[AsyncClient]]] = {}


def address_of(served: Served) -> Address:
    """Where the environment is served; starts the server of this process where none was named. One that ended is not
    started again: its episodes are lost, and whoever runs this must know. `QUINTAIN_TOKEN` is the token of a server
    that was named, `QUINTAIN_COMMAND` the command before `serve …` (`npx --no quintain`)."""
    served = served.settled()
    if served.url is not None:
        return Address(served.url, os.environ.get("QUINTAIN_TOKEN") or None)
    with _starting:
        key = (served.reference, served.arguments, served.cwd)
        server = _servers.get(key)
        if server is None:
            own = os.environ.get("QUINTAIN_COMMAND")
            quintain = {"quintain": shlex.split(own)} if own else {}
            command = serve_command(served.reference, *served.arguments, **quintain)
            server = _servers[key] = Server.start(command=command, cwd=served.cwd)
    return Address(server.url, server.token)


async def shared_client(served: Served) -> AsyncClient:
    """The client of this event loop for an environment, once it is known that the right one is served."""
    served = served.settled()
    for loop in [loop for loop in _clients if loop.is_closed()]:
        del _clients[loop]
    clients = _clients.setdefault(asyncio.get_running_loop(), {})
    if served not in clients:
        clients[served] = asyncio.create_task(_connect(served))
    try:
        return await asyncio.shield(clients[served])
    except Exception:
        # The next episode tries anew.
        clients.pop(served, None)
        raise


async def _connect(served: Served) -> AsyncClient:
    address = await asyncio.to_thread(address_of, served)
    client = AsyncClient(address.url, token=address.token, environment=served.slug)
    try:
        found = await client.environment()
        if found.digest != served.digest:
            raise Refused(
                f"{address.url} serves {found.name} {found.version} with digest {found.digest[:12]}, and this package was "
                f"exported from digest {served.digest[:12]}. Export it again from what is served, or serve what was "
                "exported.",
                code="other_environment",
            )
    except BaseException:
        await client.close()
        raise
    return client
