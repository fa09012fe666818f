import type { ToolSpec } from '../../../core/index.ts'
import { pythonString } from '../../python-string.ts'
import { docText } from './python-text.ts'

export interface PythonNames {
  /** Of the module. */
  module: string
  /** What class names begin with. */
  prefix: string
}

export interface ModelsOptions {
  names: PythonNames
  /** Shown in the head of the file. */
  about: string
  /** Of an environment with tools; undefined: its action is what the agent says. */
  tools: readonly ToolSpec[] | undefined
}

/** `models.py`: what goes to the server and comes back, as models of the package `openenv`. */
export function pythonModels({ names: { prefix }, about, tools }: ModelsOptions): string {
  const action =
    tools === undefined
      ? `    """What the agent says."""

    message: str = Field(..., description="What the agent says.")`
      : `    """A call of a tool."""

    type: Literal["call_tool"] = "call_tool"
    tool_name: ${nameType(tools)} = Field(..., description="Name of the tool.")
    arguments: dict[str, Any] = Field(default_factory=dict, description="Its arguments.")`
  return `"""What ${docText(about)} takes and gives."""

from __future__ import annotations

from typing import Any, Literal, Optional

from openenv.core.env_server.types import Action, Observation, State
from pydantic import ConfigDict, Field

__all__ = ["${prefix}Action", "${prefix}Observation", "${prefix}State"]


class ${prefix}Action(Action):
${action}


class ${prefix}Observation(Observation):
    """What the environment shows. A reset fills \`prompt\` and \`messages\`, a call \`result\`, words \`message\`."""

    model_config = ConfigDict(extra="allow", validate_assignment=True, arbitrary_types_allowed=True)

    prompt: Optional[str] = Field(None, description="All that the agent is told, as one text.")
    messages: list[dict[str, Any]] = Field(default_factory=list, description="The same as messages of a chat.")
    message: Optional[str] = Field(None, description="What the environment answers.")
    tool_name: Optional[str] = Field(None, description="The tool that was called.")
    result: Any = Field(None, description="Its result.")
    error: Optional[dict[str, Any]] = Field(None, description="Why the step was not carried out.")

    @property
    def text(self) -> str:
        """What an agent is shown of it."""
        if self.error is not None:
            return str(self.error.get("message", ""))
        if isinstance(self.result, dict):
            return str(self.result.get("data") or "")
        return self.message or self.prompt or ""


class ${prefix}State(State):
    """Which episode it is."""

    session_id: Optional[str] = None
    task_id: Optional[str] = None
    split: Optional[str] = None
    index: Optional[int] = None
    done: bool = False
`
}

function nameType(tools: readonly ToolSpec[]): string {
  // Halves of signs can be in no text that models check.
  return `Literal[${tools.map(({ name }) => pythonString(name.toWellFormed())).join(', ')}]`
}
