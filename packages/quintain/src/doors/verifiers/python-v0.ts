import { exportedModule } from './python-exported.ts'

/*
 * The package for `verifiers` 0.2 (its v0), which the `prime` command line pins. As for v1, it is the same for every
 * environment. There, what a reward function throws becomes a reward of 0, so nothing is graded in one: the episode is
 * graded when it ends, and what fails then is the rollout's error.
 */

const init = `"""A Quintain environment for verifiers (v0). The environment itself is served by \`quintain serve\`."""

from .env import QuintainEnv, load_environment

__all__ = ["QuintainEnv", "load_environment"]
`

const env = `"""Episodes of a served environment as rollouts of verifiers."""

from __future__ import annotations

import json
import uuid
from typing import Any

import verifiers as vf
from datasets import Dataset
from quintain_client import (
    AsyncSession,
    EpisodeOver,
    QuintainError,
    openai_content,
    openai_message,
    shared_client,
)

from .exported import ENVIRONMENT, rows, served
from .rubric import QuintainRubric

OVER = "quintain_over"
SESSION = "quintain_session"
VERDICT = "quintain"


def load_environment(
    train_split: str | None = None,
    eval_split: str | None = None,
    url: str | None = None,
    cwd: str | None = None,
    system_prompt: str | None = None,
    capacity_wait: float = 600.0,
    **kwargs: Any,
) -> vf.Environment:
    """\`url\`: a server that runs already; without one (and without QUINTAIN_URL) this process starts its own, in the folder
    \`cwd\` (or QUINTAIN_CWD). \`system_prompt\` replaces the environment's. \`capacity_wait\`: seconds to wait for room."""
    return QuintainEnv(
        train_split=train_split or _split("train"),
        eval_split=eval_split or ENVIRONMENT["default_split"],
        url=url,
        cwd=cwd,
        own_system=system_prompt,
        capacity_wait=capacity_wait,
        **kwargs,
    )


def _split(kind: str) -> str:
    splits = ENVIRONMENT["splits"]
    return next((one["name"] for one in splits if one["type"] == kind), ENVIRONMENT["default_split"])


def _dataset(split: str) -> Dataset:
    made = []
    for row in rows(split):
        prompt = row["task"].get("prompt")
        # The server says how an episode begins; this is for whoever looks at the rows.
        shown = prompt if isinstance(prompt, str) else ENVIRONMENT["description"]
        public = {"task_id": row["id"], "split": row["split"], "data": row["task"].get("data")}
        made.append(
            {"prompt": [{"role": "user", "content": shown}], "answer": "", "info": json.dumps(public)}
        )
    return Dataset.from_list(made)


class QuintainEnv(vf.MultiTurnEnv):
    def __init__(
        self,
        *,
        train_split: str,
        eval_split: str,
        url: str | None,
        cwd: str | None,
        own_system: str | None,
        capacity_wait: float,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            dataset=lambda: _dataset(train_split), eval_dataset=lambda: _dataset(eval_split), **kwargs
        )
        self.rubric = QuintainRubric()
        self.served = served(url, cwd)
        self.own_system = own_system
        self.capacity_wait = capacity_wait

    async def setup_state(self, state: vf.State) -> vf.State:
        try:
            client = await shared_client(self.served)
            session = await client.create(state["info"]["task_id"], wait=self.capacity_wait)
        except QuintainError as thrown:
            raise _failed(thrown) from thrown
        state[SESSION] = session
        opening = session.opening
        messages = [openai_message(message) for message in opening.messages]
        if self.own_system is not None:
            rest = [message for message in messages if message["role"] != "system"]
            messages = [{"role": "system", "content": self.own_system}, *rest]
        state["prompt"] = vf_messages(messages)
        state["tool_defs"] = [vf.Tool(**tool) for tool in opening.tools]
        return state

    @vf.stop
    async def episode_over(self, state: vf.State) -> bool:
        return state.get(OVER) is not None

    @vf.stop
    async def agent_finished(self, state: vf.State) -> bool:
        """It spoke, and nobody answers."""
        session: AsyncSession | None = state.get(SESSION)
        return session is not None and not session.opening.replies and said(state) is not None

    async def env_response(self, messages: vf.Messages, state: vf.State, **kwargs: Any) -> vf.Messages:
        try:
            answers = await self._answers(state)
        except EpisodeOver:
            state[OVER] = "episode_over"
            answers = []
        except QuintainError as thrown:
            raise _failed(thrown) from thrown
        made = vf_messages(answers)
        if state.get(OVER) is not None:
            state["final_env_response"] = made
        return made

    async def _answers(self, state: vf.State) -> list[dict[str, Any]]:
        session: AsyncSession = state[SESSION]
        spoken = state["trajectory"][-1]["completion"][-1]
        if not spoken.tool_calls:
            step = await session.say(said(state) or "")
            state[OVER] = step.done
            return [{"role": "user", "content": openai_content(step.content)}]
        answers: list[dict[str, Any]] = []
        reply = uuid.uuid4().hex
        text: str | None = text_in(spoken)
        for call in spoken.tool_calls:
            step = await session.call(call.name, call.arguments, batch=reply, text=text)
            text = None
            content = openai_content(step.content)
            answers.append({"role": "tool", "tool_call_id": call.id, "content": content})
            if step.done is not None:
                state[OVER] = step.done
                break
        return answers

    @vf.cleanup
    async def grade_episode(self, state: vf.State) -> None:
        """Grades what the agent left behind. What fails here fails the rollout; it is never a reward."""
        session: AsyncSession | None = state.get(SESSION)
        state[SESSION] = None
        if session is None:
            if state.get("error") is None:
                state["error"] = vf.InfraError("the episode was not begun")
            return
        try:
            if state.get("error") is None:
                verdict = await session.grade(None if session.opening.replies else said(state))
                state[VERDICT] = {
                    "reward": verdict.reward,
                    "success": verdict.success,
                    "rewards": dict(verdict.rewards),
                    "metrics": dict(verdict.metrics),
                    "outcome": verdict.outcome,
                    "stop": verdict.stop,
                }
        except QuintainError as thrown:
            state["error"] = _failed(thrown)
        finally:
            await session.close()


def vf_messages(messages: list[dict[str, Any]]) -> vf.Messages:
    from verifiers.utils.message_utils import normalize_messages

    return normalize_messages(messages)


def said(state: vf.State) -> str | None:
    """What the agent said last, unless it went on to call a tool."""
    if not state["trajectory"]:
        return None
    spoken = state["trajectory"][-1]["completion"][-1]
    if spoken.role != "assistant" or spoken.tool_calls:
        return None
    return text_in(spoken)


def text_in(message: vf.AssistantMessage) -> str:
    content = message.content or ""
    if isinstance(content, str):
        return content
    return "".join(getattr(part, "text", "") or "" for part in content)


def _failed(thrown: QuintainError) -> vf.InfraError:
    return vf.InfraError(f"{type(thrown).__name__} ({thrown.code}): {thrown}")
`

const rubric = `"""The rewards of the server's verdicts, under their own names and with their own weights."""

from __future__ import annotations

import math
from collections.abc import Callable

import verifiers as vf

from .exported import METRICS, WEIGHTS

VERDICT = "quintain"

TAKEN = frozenset(
    "advantage answer completion error error_chain example_id info is_completed is_truncated long_error_chain metrics "
    "num_turns prompt reward stop_condition success task timing token_usage tool_defs trajectory trajectory_id".split()
)
"""Names of results, beside which verifiers writes rewards and metrics: one of such a name gets an underscore."""


def shown(name: str) -> str:
    return f"{name}_" if name in TAKEN else name


def _reader(part: str, name: str) -> Callable[[vf.State], float]:
    def read(state: vf.State) -> float:
        value = (state.get(VERDICT) or {}).get(part, {}).get(name)
        return math.nan if value is None else float(value)

    read.__name__ = shown(name)
    return read


class QuintainRubric(vf.Rubric):
    """Reads what was graded when the episode ended. A rollout without a verdict has no number: its reward is not a number,
    and it takes no part in the mean of its group."""

    def __init__(self) -> None:
        super().__init__(
            funcs=[_reader("rewards", name) for name in WEIGHTS], weights=[float(weight) for weight in WEIGHTS.values()]
        )
        for name in METRICS:
            self.add_metric(_reader("metrics", name))

    async def score_rollout(self, state: vf.State) -> None:
        verdict = state.get(VERDICT)
        metrics = {"num_turns": float(len(state["trajectory"]))}
        state["metrics"] = metrics
        if verdict is None or state.get("error") is not None:
            state["reward"] = math.nan
            return
        for part in ("metrics", "rewards"):
            metrics.update({shown(name): float(value) for name, value in verdict[part].items() if value is not None})
        if verdict["success"] is not None:
            metrics["success"] = float(verdict["success"])
        state["reward"] = float(verdict["reward"])

    async def score_group(self, states: list[vf.State]) -> None:
        for state in states:
            await self.score_rollout(state)
        known = [state["reward"] for state in states if not math.isnan(state["reward"])]
        mean = sum(known) / len(known) if known else 0.0
        for state in states:
            reward = state["reward"]
            # Nothing is learned from what has no reward.
            state["advantage"] = 0.0 if math.isnan(reward) else reward - mean
            for step in state["trajectory"]:
                if step["advantage"] is None:
                    step["advantage"] = state["advantage"]
                if step["reward"] is None and not math.isnan(reward):
                    step["reward"] = reward
`

/** The files of the package, by name. */
export const pythonV0: Readonly<Record<string, string>> = {
  '__init__.py': init,
  'env.py': env,
  'exported.py': exportedModule,
  'rubric.py': rubric,
}
