"""What the server says, as values. Contents, messages and tools keep the shapes of the wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, Union


class TextPart(TypedDict):
    type: Literal["text"]
    text: str


class ImagePart(TypedDict, total=False):
    type: Literal["image"]
    mediaType: str
    data: str
    url: str
    detail: str


Content = Union[str, Sequence[Union[TextPart, ImagePart]]]
"""What a message says: text, or parts in order."""


class ToolSpec(TypedDict):
    """A tool as a model is told of it; `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Split:
    name: str
    type: str
    """`train`, `validation` or `test`."""
    tasks: int


@dataclass(frozen=True)
class Environment:
    name: str
    version: str
    slug: str
    description: str
    digest: str
    needs: Sequence[str]
    rewards: Mapping[str, float]
    """Weights of the rewards."""
    metrics: Sequence[str]
    success: bool
    splits: Sequence[Split]


@dataclass(frozen=True)
class Task:
    """A task as listings show it: nothing secret is in it."""

    id: str
    split: str
    index: int
    task: Mapping[str, Any]
    """The public part: `prompt`, `data`, and what else its author gave."""


@dataclass(frozen=True)
class Opening:
    """What an agent has to begin with."""

    messages: Sequence[Mapping[str, Any]]
    """System message, prompt and first observation."""
    tools: Sequence[ToolSpec]
    answer_tool: str | None
    """The one among `tools` by which a client speaks that can only call tools."""
    replies: bool
    """The environment answers what the agent says; otherwise what it says ends the episode."""


@dataclass(frozen=True)
class Step:
    content: Content
    error: str | None = None
    """Code of what the agent got wrong; the episode goes on."""
    done: str | None = None
    """The episode is over, and this is why."""

    @property
    def text(self) -> str:
        return text_of(self.content)


@dataclass(frozen=True)
class Verdict:
    """What an episode earned."""

    reward: float
    success: bool | None
    rewards: Mapping[str, float | None]
    metrics: Mapping[str, float | None]
    outcome: str
    stop: str | None = None


def text_of(content: Content) -> str:
    """The text of some content; images say nothing."""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part.get("type") == "text")  # type: ignore[typeddict-item]


def openai_content(content: Content) -> str | list[dict[str, Any]]:
    """Some content as a message of OpenAI's chat completions has it."""
    if isinstance(content, str):
        return content
    parts: list[dict[str, Any]] = []
    for part in content:
        if part.get("type") == "text":
            parts.append({"type": "text", "text": part["text"]})  # type: ignore[typeddict-item]
            continue
        url = part.get("url") or f"data:{part.get('mediaType', 'image/png')};base64,{part.get('data', '')}"
        image = {"url": url, "detail": part["detail"]} if "detail" in part else {"url": url}  # type: ignore[typeddict-item]
        parts.append({"type": "image_url", "image_url": image})
    return parts


def openai_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message of an opening as OpenAI's chat completions have it."""
    role = message["role"]
    wire: dict[str, Any] = {"role": role, "content": openai_content(message["content"])}
    if role == "tool":
        wire["tool_call_id"] = message["toolCallId"]
    if role == "assistant" and message.get("toolCalls"):
        wire["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": call["arguments"]},
            }
            for call in message["toolCalls"]
        ]
    return wire
