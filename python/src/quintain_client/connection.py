"""What both clients know of a server, and the thread that tells it that sessions are still held."""

from __future__ import annotations

import json
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import httpx

from . import protocol
from .errors import Refused
from .exchange import Broken, Reply, Request
from .values import Environment

ASK_SECONDS = 20
"""How long a request waits at the server before it is told to ask again."""

BEAT_SECONDS = 30.0
"""How often the server is told which sessions are held."""


class Connection:
    def __init__(self, url: str, token: str | None) -> None:
        self.url = url.rstrip("/")
        self.token = token
        self._headers = {} if token is None else {"authorization": f"Bearer {token}"}
        self._held: weakref.WeakKeyDictionary[object, str] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._beat: threading.Thread | None = None

    def settings(self) -> dict[str, Any]:
        return {
            "base_url": self.url,
            "headers": self._headers,
            # The server answers within ASK_SECONDS, whatever takes long.
            "timeout": httpx.Timeout(ASK_SECONDS + 20, connect=5.0, pool=None),
            "limits": httpx.Limits(max_connections=None, max_keepalive_connections=100),
            # Certificates are a tenth of a second's reading, and plain HTTP shows none.
            "verify": not self.url.startswith("http://"),
            # A proxy of the surroundings is not meant for a server of one's own.
            "trust_env": False,
        }

    def arguments(self, request: Request) -> dict[str, Any]:
        params = dict(request.params)
        if request.method == "POST" and request.path != "/v1/touch":
            params["wait"] = str(ASK_SECONDS)
        made: dict[str, Any] = {"method": request.method, "url": request.path, "params": params}
        if request.body is not None:
            # Escaped, since a model may say half a character, which is JSON but no UTF-8.
            made["content"] = json.dumps(request.body, allow_nan=False).encode("ascii")
            made["headers"] = {"content-type": "application/json"}
        return made

    def broken(self, thrown: Exception) -> Broken:
        return Broken(f"{self.url}: {type(thrown).__name__}: {thrown}")

    def pick(self, found: Sequence[Environment], slug: str | None) -> Environment:
        for one in found:
            if slug == one.slug or (slug is None and len(found) == 1):
                return one
        known = ", ".join(one.slug for one in found)
        raise Refused(f"{self.url} serves {known}; {slug or 'name the one that is meant'}.", code="not_served")

    def keep(self, session: object, handle: str) -> None:
        """Tells the server of a session for as long as somebody here holds it. A thread does so, since event loops are
        held up by other people's code."""
        with self._lock:
            self._held[session] = handle
            if self._beat is None and not self._closed.is_set():
                self._beat = threading.Thread(target=_beat, args=(weakref.ref(self),), daemon=True)
                self._beat.start()

    def drop(self, session: object) -> None:
        with self._lock:
            self._held.pop(session, None)

    def held(self) -> list[str]:
        with self._lock:
            return list(self._held.values())

    def close(self) -> None:
        self._closed.set()


def _beat(known: weakref.ref[Connection]) -> None:
    """Holds no connection alive by itself: it ends with the client."""
    http: httpx.Client | None = None
    while True:
        connection = known()
        if connection is None:
            break
        closed = connection._closed
        handles = connection.held()
        if handles:
            http = http or httpx.Client(**connection.settings())
            try:
                http.request(**connection.arguments(protocol.touch(handles)))
            except httpx.HTTPError:
                pass  # Whoever plays the sessions hears of it.
        del connection
        if closed.wait(BEAT_SECONDS):
            break
    if http is not None:
        http.close()


def reply_of(response: httpx.Response) -> Reply:
    return Reply(response.status_code, response.content)
