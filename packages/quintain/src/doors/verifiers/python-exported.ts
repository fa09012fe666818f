/** The Python module that reads what was exported; packages of both versions have it. */
export const exportedModule = `"""What was exported: the environment, and the public part of its tasks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

from quintain_client import Served

_here = resources.files(__package__)
ENVIRONMENT: dict[str, Any] = json.loads((_here / "environment.json").read_text("utf-8"))
WEIGHTS: dict[str, float] = ENVIRONMENT["rewards"]
METRICS: list[str] = ENVIRONMENT["metrics"]
NEEDS: list[str] = ENVIRONMENT["needs"]
SPLIT: str = ENVIRONMENT["default_split"]


def served(url: str | None = None, cwd: str | None = None) -> Served:
    return Served(
        slug=ENVIRONMENT["slug"],
        digest=ENVIRONMENT["digest"],
        reference=ENVIRONMENT["reference"],
        arguments=tuple(ENVIRONMENT["serve_arguments"]),
        url=url or ENVIRONMENT["url"],
        cwd=cwd,
    )


def rows(split: str) -> Iterator[dict[str, Any]]:
    """The exported tasks of a split: \`id\`, \`split\`, \`index\`, \`task\`."""
    known = [one["name"] for one in ENVIRONMENT["splits"]]
    if split not in known:
        raise ValueError(f"there is no split {split!r}; there are {known}")
    with (_here / "tasks.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["split"] == split:
                yield row
`
