/* The parts of the package for `verifiers` v1 that play: tasks, the agent's loop, the tools for other loops. */

const taskset = `"""The tasks, and what happens to each before and after the agent plays it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf
from quintain_client import shared_client
from verifiers.v1.runtimes import Runtime

from .exported import METRICS, NEEDS, SPLIT, WEIGHTS, rows, served
from .live import live_of, release, remember
from .messages import prompt_of
from .toolset import QuintainState, QuintainToolset


class QuintainData(vf.TaskData):
    """The public part of a task. Its answer stays with the server."""

    task_id: str
    split: str
    data: Any = None


class QuintainTaskConfig(vf.TaskConfig):
    url: str | None = None
    """A server that runs already; without one (and without QUINTAIN_URL) this process starts its own."""
    cwd: str | None = None
    """Folder in which the server is started, where the environment is found (or QUINTAIN_CWD)."""
    capacity_wait: float = 600.0
    """Seconds to wait for room at the server."""


class QuintainTasksetConfig(vf.TasksetConfig):
    split: str = SPLIT
    mcp: bool = False
    """Offer the tools by MCP as well: set by itself where the harness is not this package's own."""
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()
    task: QuintainTaskConfig = QuintainTaskConfig()


class QuintainTask(vf.Task[QuintainData, QuintainState, QuintainTaskConfig]):
    @property
    def key(self) -> str:
        return self.data.task_id

    async def setup(self, trace: vf.Trace, runtime: Runtime) -> None:
        client = await shared_client(served(self.config.url, self.config.cwd))
        session = await client.create(self.data.task_id, key=trace.id, wait=self.config.capacity_wait)
        remember(trace, session)
        trace.state.hold(session)
        system, prompt = prompt_of(session.opening.messages)
        own = self.data.system_prompt
        # What the agent begins with is the server's to say: a world may open with an observation.
        trace.task.data = self.data.model_copy(
            update={"prompt": prompt, "system_prompt": system if own is None else own}
        )

    @vf.stop
    async def episode_over(self, trace: vf.Trace) -> bool:
        return trace.state.over is not None or trace.state.fault is not None

    async def finalize(self, trace: vf.Trace, runtime: Runtime) -> None:
        """Grades the episode here, where an error fails the rollout. No reward is made up from it."""
        for name in WEIGHTS:
            trace.rewards.setdefault(name, None)
        if trace.state.fault is not None:
            raise RuntimeError(trace.state.fault)
        live = live_of(trace)
        session = live.session
        if session.opening.replies and not live.driven:
            raise RuntimeError("this environment answers the agent: run it with the Env of its own package")
        verdict = await session.grade(None if session.opening.replies else said(trace))
        trace.info["quintain"] = {
            "reward": verdict.reward,
            "success": verdict.success,
            "rewards": dict(verdict.rewards),
            "metrics": dict(verdict.metrics),
            "outcome": verdict.outcome,
            "stop": verdict.stop,
            "session": session.handle,
        }
        await release(trace)

    @vf.reward
    async def quintain(self, trace: vf.Trace) -> dict[str, float]:
        """The rewards of the server's verdict, each under its own name and with its own weight."""
        verdict = trace.info["quintain"]
        total = 0.0
        for name, score in verdict["rewards"].items():
            if score is None:
                trace.rewards[name] = None
                continue
            weight = WEIGHTS.get(name, 0.0)
            trace.record_reward(name, score, weight)
            total += weight * score
        if not math.isclose(total, verdict["reward"], rel_tol=1e-9, abs_tol=1e-9):
            raise RuntimeError(
                f"the rewards come to {total} by the exported weights and to {verdict['reward']} at the server"
            )
        return {}

    @vf.metric
    async def quintain_metrics(self, trace: vf.Trace) -> dict[str, float]:
        verdict = trace.info["quintain"]
        values = {name: verdict["metrics"].get(name) for name in METRICS}
        if verdict["success"] is not None:
            values.setdefault("success", float(verdict["success"]))
        for name, value in values.items():
            trace.metrics[name] = None if value is None else float(value)
        return {}

    async def validate(self, runtime: Runtime) -> bool:
        """Whether the world of the task opens."""
        client = await shared_client(served(self.config.url, self.config.cwd))
        async with await client.create(self.data.task_id, wait=self.config.capacity_wait):
            return True


class QuintainTaskset(vf.Taskset[QuintainTask, QuintainTasksetConfig]):
    def load(self) -> Iterator[QuintainTask]:
        for row in rows(self.config.split):
            task = row["task"]
            prompt = task.get("prompt")
            data = QuintainData(
                idx=row["index"],
                name=row["id"],
                prompt=prompt if isinstance(prompt, str) else "",
                task_id=row["id"],
                split=row["split"],
                data=task.get("data"),
            )
            yield QuintainTask(data, self.config.task)

    @classmethod
    def toolsets(cls, config: QuintainTasksetConfig) -> list[vf.Toolset]:
        return [QuintainToolset(config.tools)] if config.mcp and "tools" in NEEDS else []


def said(trace: vf.Trace) -> str | None:
    """What the agent said last, unless it went on to call a tool."""
    for node in reversed(trace.nodes):
        if node.sampled:
            message = node.message
            return None if message.tool_calls else message.content or ""
    return None
`

const harness = `"""The agent's loop, played in this process: tools are called at the server under the names that it gave them, each
call once, and nothing is asked of the model after the episode's end."""

from __future__ import annotations

import asyncio
import uuid
import weakref

import httpx
import verifiers.v1 as vf
from openai import AsyncOpenAI
from quintain_client import EpisodeOver, openai_content
from verifiers.v1.dialects.chat import message_to_wire
from verifiers.v1.runtimes import ProgramResult, Runtime

from .live import live_of


_clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncOpenAI] = weakref.WeakKeyDictionary()


def _client() -> AsyncOpenAI:
    """The client of this event loop, whose connections all rollouts share. Nothing is said how long a model may take."""
    loop = asyncio.get_running_loop()
    if loop not in _clients:
        _clients[loop] = AsyncOpenAI(base_url="http://none", api_key="none", timeout=httpx.Timeout(None, connect=5.0))
    return _clients[loop]


class QuintainHarnessConfig(vf.HarnessConfig):
    pass


class QuintainHarness(vf.Harness[QuintainHarnessConfig]):
    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_MCP = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def setup(self, runtime: Runtime) -> None:
        if runtime.type != "subprocess":
            raise RuntimeError(
                "this harness plays in the process of the evaluation: --env.agent.runtime.type subprocess, "
                "or another --env.agent.harness.id"
            )

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> ProgramResult:
        session = live_of(trace).session
        tools = [{"type": "function", "function": dict(tool)} for tool in session.opening.tools]
        system, prompt = self.resolve_prompt(data)
        messages = [{"role": "system", "content": system}] if system else []
        if isinstance(prompt, str):
            messages.append({"role": "user", "content": prompt})
        else:
            messages += [message_to_wire(message) for message in prompt or []]
        model = _client().with_options(base_url=endpoint, api_key=secret)
        while True:
            asked = {"tools": tools} if tools else {}
            completion = await model.chat.completions.create(model=ctx.model, messages=messages, **asked)
            message = completion.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return ProgramResult(exit_code=0, stdout="", stderr="")
            reply = uuid.uuid4().hex
            text = message.content
            for call in message.tool_calls:
                try:
                    step = await session.call(
                        call.function.name, call.function.arguments, batch=reply, text=text
                    )
                    text = None
                except EpisodeOver:
                    trace.stop("episode_over")
                    return ProgramResult(exit_code=0, stdout="", stderr="")
                if step.done is not None:
                    trace.stop(step.done)
                    return ProgramResult(exit_code=0, stdout="", stderr="")
                content = openai_content(step.content)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
`

const toolset = `"""The tools by MCP, for harnesses that are programs of their own."""

from __future__ import annotations

from typing import Any

import verifiers.v1 as vf
from mcp.types import CallToolResult, Tool
from quintain_client import AsyncClient, AsyncSession, Content, EpisodeOver, QuintainError


class QuintainState(vf.State):
    """What the tool server must know of a rollout. It is in memory only."""

    url: str = ""
    token: str | None = None
    session: str = ""
    tools: list[dict[str, Any]] = []
    over: str | None = None
    """Why the episode ended, where a tool ended it."""
    fault: str | None = None
    """What failed beneath a tool: nobody's score."""

    def hold(self, session: AsyncSession) -> None:
        self.url, self.token = session.address
        self.session = session.handle
        self.tools = [dict(tool) for tool in session.opening.tools]


class QuintainToolset(vf.Toolset[vf.SharedToolsetConfig, QuintainState]):
    TOOL_PREFIX = None

    def register(self, mcp: Any) -> None:
        self._clients: dict[tuple[str, str | None], AsyncClient] = {}
        tools, call = self._with_state(self.list_tools), self._with_state(self.call_tool)
        if hasattr(mcp, "_mcp_server"):
            # Version 1 of the MCP SDK, which verifiers 0.3 has.
            mcp._mcp_server.list_tools()(tools)
            mcp._mcp_server.call_tool(validate_input=False)(call)
        else:
            mcp.list_tools = tools
            mcp.call_tool = call

    async def list_tools(self) -> list[Tool]:
        return [
            Tool.model_validate(
                {"name": tool["name"], "description": tool["description"], "inputSchema": tool["parameters"]}
            )
            for tool in self.state.tools
        ]

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> CallToolResult:
        state = self.state
        where = (state.url, state.token)
        client = self._clients.setdefault(where, AsyncClient(state.url, token=state.token))
        try:
            step = await client.call(state.session, name, arguments)
        except EpisodeOver as over:
            state.over = state.over or "episode_over"
            return _result(str(over), error=True)
        except QuintainError as thrown:
            state.fault = f"{type(thrown).__name__}: {thrown}"
            return _result("The tool failed.", error=True)
        if step.done is not None:
            state.over = step.done
        return _result(step.content, error=step.error is not None)


def _result(content: Content, *, error: bool) -> CallToolResult:
    # By the names of the wire, which both versions of the SDK read.
    return CallToolResult.model_validate({"content": _blocks(content), "isError": error})


def _blocks(content: Content) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    blocks: list[dict[str, Any]] = []
    for part in content:
        if part["type"] == "text":
            blocks.append({"type": "text", "text": part["text"]})
        elif "data" in part:
            blocks.append({"type": "image", "data": part["data"], "mimeType": part["mediaType"]})
        else:
            blocks.append({"type": "text", "text": part.get("url", "")})
    return blocks


if __name__ == "__main__":
    QuintainToolset.run()
`

/** The files, by name. */
export const pythonV1Plays: Readonly<Record<string, string>> = {
  'harness.py': harness,
  'taskset.py': taskset,
  'toolset.py': toolset,
}
