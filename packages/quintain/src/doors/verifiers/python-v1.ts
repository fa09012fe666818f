import { exportedModule } from './python-exported.ts'
import { pythonV1Plays } from './python-v1-plays.ts'

/*
 * The package for `verifiers` 0.3 (its v1). All of it is the same for every environment: what differs is data, in
 * `environment.json` and `tasks.jsonl`, so that no text of an environment is ever read as Python.
 */

const init = `"""A Quintain environment for verifiers (v1). The environment itself is served by \`quintain serve\`."""

from .env import QuintainEnv
from .harness import QuintainHarness
from .taskset import QuintainTaskset

__all__ = ["QuintainEnv", "QuintainHarness", "QuintainTaskset"]
`

const live = `"""The sessions of this process, by the trace that they belong to."""

from __future__ import annotations

import weakref
from dataclasses import dataclass

import verifiers.v1 as vf
from quintain_client import AsyncSession


@dataclass
class Live:
    session: AsyncSession
    driven: bool = False
    """The environment's answers reach the agent."""


_live: dict[str, Live] = {}


def remember(trace: vf.Trace, session: AsyncSession) -> None:
    _live[trace.id] = Live(session)
    # A trace that is forgotten takes its session with it, which then expires at the server.
    weakref.finalize(trace, _live.pop, trace.id, None)


def live_of(trace: vf.Trace) -> Live:
    try:
        return _live[trace.id]
    except KeyError:
        raise RuntimeError(f"rollout {trace.id} has no session in this process") from None


async def release(trace: vf.Trace) -> None:
    """Closes the session of a rollout that is over, however it ended. Can be repeated."""
    live = _live.pop(trace.id, None)
    if live is not None:
        await live.session.close()
`

const env = `"""One episode: the agent speaks and calls tools, the environment answers what it says."""

from __future__ import annotations

import verifiers.v1 as vf
from quintain_client import openai_content
from verifiers.v1.dialects import parse_message

from .exported import NEEDS
from .harness import QuintainHarness
from .live import live_of, release
from .taskset import said


class QuintainEnvConfig(vf.SingleAgentEnvConfig):
    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    """The one seat. By default it is played in this process: nothing is started, nothing leaves the machine."""


class QuintainEnv(vf.Env[QuintainEnvConfig]):
    def __init__(self, config: QuintainEnvConfig) -> None:
        super().__init__(config)
        # Other harnesses reach the tools by MCP.
        if any(not isinstance(harness, QuintainHarness) for harness in self._harnesses.values()):
            self.taskset.config.mcp = True

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        traces: list[vf.Trace] = []
        try:
            if "turns" in NEEDS:
                await self._converse(task, agents, traces)
            else:
                await agents.agent.run(task, on_trace=traces.append)
        finally:
            for trace in traces:
                await release(trace)

    async def _converse(self, task: vf.Task, agents: vf.Agents, traces: list[vf.Trace]) -> None:
        async with agents.agent.interaction(task, on_trace=traces.append) as talk:
            live = live_of(talk.trace)
            live.driven = True
            segment = await talk.turn()
            while live.session.opening.replies and not segment.terminated:
                answer = said(talk.trace)
                if answer is None or talk.trace.stop_condition is not None:
                    break
                step = await live.session.say(answer)
                if step.done is not None:
                    talk.trace.stop(step.done)
                    break
                segment = await talk.turn([parse_message({"role": "user", "content": openai_content(step.content)})])
`

const messages = `"""Messages of the server's, as verifiers has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import verifiers.v1 as vf
from quintain_client import openai_message, text_of
from verifiers.v1.dialects import parse_message

def prompt_of(messages: Sequence[Any]) -> tuple[str | None, str | list[vf.Message]]:
    """The system prompt of an opening, and the rest: a text where it is one message of the user's."""
    system = [text_of(message["content"]) for message in messages if message["role"] == "system"]
    rest = [message for message in messages if message["role"] != "system"]
    if len(rest) == 1 and rest[0]["role"] == "user" and isinstance(rest[0]["content"], str):
        prompt: str | list[vf.Message] = rest[0]["content"]
    else:
        prompt = [parse_message(openai_message(message)) for message in rest]
    return "\\n\\n".join(system) if system else None, prompt
`

/** The files of the package that are alike for all environments, by name. */
export const pythonV1: Readonly<Record<string, string>> = {
  ...pythonV1Plays,
  '__init__.py': init,
  'env.py': env,
  'exported.py': exportedModule,
  'live.py': live,
  'messages.py': messages,
}
