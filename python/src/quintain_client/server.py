"""Starts a server of an environment and sees to it that none is left behind."""

from __future__ import annotations

import atexit
import json
import os
import secrets
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import IO, Any

from .errors import InfrastructureError


def serve_command(
    environment: str, *arguments: str, quintain: Sequence[str] = ("npx", "--no", "quintain")
) -> list[str]:
    """The command that serves an environment by the native door, for as long as its standard input is open. `arguments`:
    more words for it, such as `--option`, `name=value`."""
    return [
        *quintain,
        *("serve", environment, *arguments, "--door", "native", "--port", "0", "--json"),
        *("--token-env", TOKEN_VARIABLE, "--until-stdin-closes"),
    ]


TOKEN_VARIABLE = "QUINTAIN_SERVE_TOKEN"


class Server:
    """A running server. It ends with `stop()`, with this process however that ends (its standard input closes then), and
    with the context that it is."""

    def __init__(self, process: subprocess.Popen[bytes], url: str, token: str) -> None:
        self._process = process
        self.url = url
        self.token = token
        atexit.register(self.stop)

    @classmethod
    def start(
        cls,
        environment: str | None = None,
        *,
        command: Sequence[str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = 120.0,
    ) -> Server:
        """Starts `npx quintain serve ENVIRONMENT` in `cwd`, or `command` instead: whatever it is, it says where it
        listens in one line of JSON. `env`: variables beside those of this process. Raises `InfrastructureError` with
        the end of what the server wrote when it does not come within `timeout` seconds."""
        if (environment is None) == (command is None):
            raise ValueError("give an environment, or a command")
        words = list(command) if command is not None else serve_command(str(environment))
        token = secrets.token_urlsafe(24)
        try:
            process = subprocess.Popen(
                words,
                cwd=cwd,
                env={**os.environ, **(env or {}), TOKEN_VARIABLE: token},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as cause:
            raise InfrastructureError(f"{words[0]} cannot be started: {cause}", code="not_started") from cause
        told = _Told(process)
        try:
            url = told.address(timeout)
        except BaseException:
            _end(process, grace=0.0)
            raise
        return cls(process, url, token)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def stop(self, grace: float = 5.0) -> None:
        """Ends the server and all that it started. Can be repeated."""
        atexit.unregister(self.stop)
        _end(self._process, grace)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Told:
    """What a server writes: the line that says where it listens, and the end of the rest for whoever must know why it
    did not come. Both streams are read to their end, so that it never waits for a reader."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._said: deque[str] = deque(maxlen=40)
        self._ready = threading.Event()
        self._url: str | None = None
        assert process.stdout is not None and process.stderr is not None
        for stream, read in ((process.stdout, self._line), (process.stderr, self._said.append)):
            threading.Thread(target=_lines, args=(stream, read, self._ready.set), daemon=True).start()

    def address(self, timeout: float) -> str:
        arrived = self._ready.wait(timeout)
        if self._url is not None:
            return self._url
        why = "ended before it said where it listens" if arrived else f"did not come within {timeout:g} s"
        end = "".join(f"\n  {line}" for line in self._said)
        raise InfrastructureError(f"The server {why}.{end}", code="not_started")

    def _line(self, line: str) -> None:
        url = _address_in(line)
        if url is None or self._url is not None:
            self._said.append(line)
            return
        self._url = url
        self._ready.set()


def _lines(stream: IO[bytes], read: Any, ended: Any) -> None:
    with stream:
        for line in stream:
            read(line.decode(errors="replace").rstrip()[:2_000])
    ended()


def _address_in(line: str) -> str | None:
    """The address of the native door in the line of a server that is ready; None for any other line."""
    try:
        told = json.loads(line)
        if told["event"] != "ready":
            return None
        doors = [door for door in told["doors"] if door["door"] == "native"]
        url = doors[0]["addresses"][0]["url"]
    except (ValueError, KeyError, IndexError, TypeError):
        return None
    return url if isinstance(url, str) else None


def _end(process: subprocess.Popen[bytes], grace: float) -> None:
    if process.stdin is not None:
        try:
            process.stdin.close()
        except OSError:
            pass
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        try:
            process.wait(grace)
        except subprocess.TimeoutExpired:
            pass
    # What it started may have outlived it.
    _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        pass


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
    except (ProcessLookupError, PermissionError):
        pass
