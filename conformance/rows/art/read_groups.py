"""Reads trajectory groups with ART's own reader and prints what it trains on as JSON.

Usage: read_groups.py FILE.jsonl
"""

import importlib.metadata
import json
import sys
from pathlib import Path

from art.utils.trajectory_migration import deserialize_trajectory_groups
from openai.types.chat.chat_completion import Choice

groups = deserialize_trajectory_groups(Path(sys.argv[1]).read_text(encoding="utf-8"))


def told(trajectory):
    choices = [item for item in trajectory.messages_and_choices if isinstance(item, Choice)]
    tokens = [token for choice in choices if choice.logprobs for token in choice.logprobs.content]
    return {
        "reward": trajectory.reward,
        "choices": len(choices),
        # As its tokenizer reads them.
        "ids": [int(token.token.split(":")[1]) for token in tokens],
        "logprobs": [token.logprob for token in tokens],
    }


print(
    json.dumps(
        {
            "version": importlib.metadata.version("openpipe-art"),
            "groups": [[told(trajectory) for trajectory in group.trajectories] for group in groups],
        }
    )
)
