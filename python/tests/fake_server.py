"""A server that misbehaves as it is told: one behaviour a request, and the last one for all that follow."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

OPENING = {"messages": [{"role": "user", "content": "Begin."}], "tools": [], "answerTool": None, "replies": True}
SESSION = {
    "session": "s1",
    "task": {"id": "t", "split": "test", "index": 0, "task": {"id": "t", "prompt": "Begin."}},
    "opening": OPENING,
}
STEP = {"content": "yes", "error": None, "done": None}


def ok(value: Any, status: int = 200) -> dict[str, Any]:
    return {"status": status, "body": json.dumps(value).encode()}


def error(status: int, code: str, **more: Any) -> dict[str, Any]:
    return ok({"error": {"code": code, "message": f"it says {code}", **more}}, status)


class FakeServer:
    def __init__(self, *behaviours: dict[str, Any], token: str | None = None) -> None:
        self.seen: list[tuple[str, str, Any]] = []
        self._behaviours = list(behaviours)
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                raw = self.rfile.read(length)
                path = self.path.split("?")[0]
                if path == "/v1/touch":
                    self.reply(ok({"gone": []}))
                    return
                if token is not None and self.headers.get("authorization") != f"Bearer {token}":
                    self.reply(error(401, "unauthorized"))
                    return
                fake.seen.append((self.command, path, json.loads(raw) if raw else None))
                behaviours = fake._behaviours
                self.reply(behaviours.pop(0) if len(behaviours) > 1 else behaviours[0])

            do_GET = do_POST = do_DELETE = handle_one

            def reply(self, behaviour: dict[str, Any]) -> None:
                time.sleep(behaviour.get("after", 0))
                if behaviour.get("drop"):
                    # A reset, as of a process that is killed.
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.close_connection = True
                    self.connection.close()
                    return
                body: bytes = behaviour["body"]
                self.send_response(behaviour["status"])
                self.send_header("content-length", str(len(body) + behaviour.get("missing", 0)))
                self.end_headers()
                self.wfile.write(body)
                if behaviour.get("missing"):
                    self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

            def finish(self) -> None:
                try:
                    super().finish()
                except (OSError, ValueError):
                    pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                pass

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def __enter__(self) -> FakeServer:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


DROP = {"drop": True}
GARBAGE = {"status": 200, "body": b"<html>proxy</html>"}
HALF = {"status": 200, "body": b'{"content": "y', "missing": 20}
PAGE = {"status": 502, "body": b"<html>bad gateway</html>"}
PENDING = ok({"pending": True}, 202)
