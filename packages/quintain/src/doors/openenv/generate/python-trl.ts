import type { ToolSpec } from '../../../core/index.ts'
import { pythonString } from '../../python-string.ts'
import { pythonMethod } from './python-method.ts'
import type { PythonNames } from './python-models.ts'
import { docText, pythonName } from './python-text.ts'

export interface TrlOptions {
  names: PythonNames
  about: string
  /** Slug of the environment, which its tasks are asked by. */
  slug: string
  /** The split whose rows are given when nobody names one. */
  split: string
  /** All of them, the one by which an agent speaks too. */
  tools: readonly ToolSpec[]
}

/**
 * `trl_environment.py`: what TRL's `environment_factory` wants, a class without arguments whose public methods are tools.
 * It needs nothing of TRL.
 *
 * Source: huggingface/trl, `trl/trainer/grpo_trainer.py`, release 1.16.0; the form of docstrings is that of
 * `transformers.utils.get_json_schema`.
 */
export function pythonTrl({ names: { prefix }, about, slug, split, tools }: TrlOptions): string {
  const taken = new Set(['reset', 'get_reward'])
  const methods = tools.map((tool) => pythonMethod(tool, pythonName(tool.name, taken, 'tool')))
  return `"""${docText(about)} for TRL: \`GRPOTrainer(environment_factory=${prefix}Environment, train_dataset=...)\`."""

from __future__ import annotations

import json
import urllib.request
from typing import Any, Literal, Optional

from .client import DEFAULT_URL, ${prefix}Env, auth_headers

__all__ = ["${prefix}Environment", "rows"]


def rows(split: str = ${pythonString(split)}, limit: Optional[int] = None, base_url: str = DEFAULT_URL) -> list[dict[str, Any]]:
    """Rows of a training set, one for each task: \`Dataset.from_list(rows())\`."""
    found: list[dict[str, Any]] = []
    while limit is None or len(found) < limit:
        stop = len(found) + 500 if limit is None else min(limit, len(found) + 500)
        body = json.dumps({"split": split, "start": len(found), "stop": stop}).encode()
        url = f"{base_url}/${slug}/task_range"
        request = urllib.request.Request(url, data=body, headers=auth_headers(), method="POST")
        with urllib.request.urlopen(request, timeout=60) as answer:
            tasks = json.load(answer)["tasks"]
        if not tasks:
            break
        # The environment appends its prompt to the last message.
        prompt = [{"role": "user", "content": ""}]
        found += [{"prompt": prompt, "task_id": task["id"], "split": split, "index": task["index"]} for task in tasks]
    return found


class ${prefix}Environment:
    """One rollout at a time of ${docText(about)}; each public method is a tool."""

    _base_url = DEFAULT_URL
    _message_timeout_s = 300.0

    def __init__(self) -> None:
        self._client = ${prefix}Env(base_url=self._base_url, message_timeout_s=self._message_timeout_s).sync()
        self._reward: Optional[float] = None
        self._done = True
        self._failed = False

    def reset(self, **row: Any) -> str:
        """Begins the episode of a row and gives its prompt."""
        wanted = {name: row.get(name) for name in ("task_id", "split", "index", "seed")}
        if wanted["task_id"] is not None:
            # A row names its task thrice.
            wanted = {"task_id": wanted["task_id"], "seed": wanted["seed"]}
        self._reward, self._done, self._failed = None, False, False
        try:
            result = self._client.reset(
                answer_tool=True, **{name: value for name, value in wanted.items() if value is not None}
            )
        except RuntimeError as error:
            # A world that did not come is nobody's score. What cannot be asked for is a mistake of the one who asks.
            if "FACTORY_ERROR" not in str(error):
                raise
            self._done = self._failed = True
            return "The environment could not be started."
        return result.observation.prompt or ""

    def get_reward(self) -> Optional[float]:
        """The reward of the episode; None for one that has none, which TRL leaves out."""
        if self._failed:
            return None
        if not self._done:
            try:
                self._take(self._client.finish())
            except Exception:
                self._failed = True
                return None
        return self._reward

${methods.join('\n\n')}

    def _call(self, name: str, given: dict[str, Any], optional: dict[str, Any]) -> str:
        if self._failed:
            raise RuntimeError("The environment failed; this episode is not counted.")
        arguments = {**given, **{key: value for key, value in optional.items() if value is not None}}
        try:
            result = self._client.call_tool(name, arguments)
        except Exception:
            self._failed = True
            raise
        self._take(result)
        return result.observation.text

    def _take(self, result: Any) -> None:
        if result.reward is not None:
            self._reward = result.reward
        self._done = result.done
`
}
