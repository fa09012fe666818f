import { pythonString } from '../../python-string.ts'
import type { PythonNames } from './python-models.ts'
import { docText } from './python-text.ts'

export interface ClientOptions {
  names: PythonNames
  about: string
  /** Where the server is, when nobody says otherwise. */
  url: string
}

/**
 * `client.py`: an `EnvClient` that keeps its episode when its socket is lost. It names its steps, comes back to the episode
 * and sends the step again, which is carried out once.
 */
export function pythonClient({ names: { prefix, module }, about, url }: ClientOptions): string {
  return `"""A client of ${docText(about)}."""

from __future__ import annotations

import asyncio
import os
import uuid
from typing import Any, Optional

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient
from websockets.exceptions import ConnectionClosed

from .models import ${prefix}Action, ${prefix}Observation, ${prefix}State

__all__ = ["DEFAULT_URL", "${prefix}Env"]

#: Where the server is; the environment variable goes first.
DEFAULT_URL = os.environ.get(${pythonString(`${module.toUpperCase()}_URL`)}, ${pythonString(url)})


def auth_headers() -> dict[str, str]:
    """The token of the server, where the environment variable holds one."""
    token = os.environ.get(${pythonString(`${module.toUpperCase()}_TOKEN`)})
    return {} if token is None else {"Authorization": f"Bearer {token}"}


class ${prefix}Env(EnvClient[${prefix}Action, ${prefix}Observation, ${prefix}State]):
    """Plays episodes: \`reset(task_id=..., split=..., index=..., seed=...)\`, \`step(action)\`, \`finish()\`.

    \`finish\` ends an episode whose agent has stopped without saying so, and gives its reward. An episode that failed for a
    reason that is nobody's score raises \`RuntimeError\`; do not count it.
    """

    _key: Optional[str] = None
    _holder: Any = None

    def __init__(self, base_url: Optional[str] = None, **options: Any) -> None:
        if base_url is None and options.get("provider") is None:
            base_url = DEFAULT_URL
        options.setdefault("headers", auth_headers())
        super().__init__(base_url=base_url, **options)

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> StepResult[${prefix}Observation]:
        """Calls a tool by its name."""
        return await self._carry_out({"type": "call_tool", "tool_name": name, "arguments": arguments})

    async def finish(self, answer: Optional[str] = None) -> StepResult[${prefix}Observation]:
        """Ends the episode, with an answer where there is one, and gives its reward."""
        action: dict[str, Any] = {"type": "finish"}
        return await self._carry_out(action if answer is None else {**action, "answer": answer})

    async def _reset_async(self, **given: Any) -> StepResult[${prefix}Observation]:
        given.setdefault("episode_id", uuid.uuid4().hex)
        key = uuid.uuid4().hex
        self._key = None
        result = await super()._reset_async(**{**given, "resume_key": key})
        self._key = key
        self._holder = self._ws
        return result

    async def _step_async(self, action: ${prefix}Action, **_given: Any) -> StepResult[${prefix}Observation]:
        return await self._carry_out(self._step_payload(action))

    async def _carry_out(self, payload: dict[str, Any]) -> StepResult[${prefix}Observation]:
        metadata = {"call_id": uuid.uuid4().hex, **payload.get("metadata", {})}
        message = {"type": "step", "data": {**payload, "metadata": metadata}}
        for attempt in range(6):
            try:
                await self._rejoin()
                response = await self._send_and_receive(message)
                break
            except (ConnectionClosed, ConnectionError):
                if attempt == 5:
                    raise
            except RuntimeError:
                # The socket is another one, on which no episode has begun: the server may hear of the loss later.
                if self._key is None or self._ws is self._holder or attempt == 5:
                    raise
            await asyncio.sleep(0.1 * 2**attempt)
        return self._parse_result(response.get("data", {}))

    async def _rejoin(self) -> None:
        """Takes up the episode on a new socket, where the one before was lost."""
        await self._ensure_connected()
        if self._key is not None and self._ws is not self._holder:
            socket = self._ws
            data = {"resume_key": self._key, "resume": True}
            await self._send_and_receive({"type": "reset", "data": data})
            self._holder = socket

    def _step_payload(self, action: ${prefix}Action) -> dict[str, Any]:
        return action.model_dump()

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[${prefix}Observation]:
        shown = {**payload.get("observation", {})}
        shown.update(reward=payload.get("reward"), done=payload.get("done", False))
        return StepResult(
            observation=${prefix}Observation(**shown),
            reward=payload.get("reward"),
            done=payload.get("done", False),
            metadata=payload.get("metadata"),
        )

    def _parse_state(self, payload: dict[str, Any]) -> ${prefix}State:
        return ${prefix}State(**payload)
`
}
