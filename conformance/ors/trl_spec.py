"""Builds TRL's dataset, environment factory and reward functions from the address of an ORS server alone.

Reads and writes as `play.py` does. The trainer's part is played here as `GRPOTrainer` plays it: `reset` with the columns
of a row, the methods of the environment as tools, the reward functions over the environments of a batch.
"""

import inspect
import json
import os
import sys

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"


def main():
    wish = json.load(sys.stdin)
    from trl.experimental.openreward import OpenRewardSpec

    told = {"splits": {}}
    environments = []
    shown = []
    clients = []
    for split, episodes in by_split(wish["episodes"]).items():
        spec = OpenRewardSpec(wish["url"], split=split, indices=[episode["index"] for episode in episodes])
        clients.append(spec._sdk_client)
        rows = spec.train_dataset
        told["splits"][split] = {"columns": rows.column_names, "rows": [row for row in rows]}
        for row, episode in zip(rows, episodes):
            environment = spec.environment_factory()
            played = play(environment, row, episode)
            environments.append(environment)
            shown.append({"id": row["id"], **played})
        for environment, reward in zip(environments, spec.reward_funcs(environments=environments)):
            environment.told_reward = reward
    for environment, played in zip(environments, shown):
        played["reward"] = environment.told_reward
        environment._close()
    for client in clients:
        client.close()
    told["episodes"] = shown
    told["torch"] = "torch" in sys.modules
    json.dump(told, sys.stdout)


def by_split(episodes):
    splits = {}
    for episode in episodes:
        splits.setdefault(episode["split"], []).append(episode)
    return splits


def play(environment, row, episode):
    prompt = environment.reset(**row)
    tools = {
        name: {
            "parameters": [str(parameter) for parameter in inspect.signature(method).parameters.values()],
            "doc": method.__doc__,
        }
        for name, method in inspect.getmembers(environment, inspect.ismethod)
        if not name.startswith("_") and name != "reset"
    }
    texts = [getattr(environment, call["name"])(**call["input"]) for call in episode["calls"]]
    return {
        "prompt": prompt,
        "tools": tools,
        "texts": texts,
        "rewards": environment.rewards,
        "metadata": environment.metadata,
        "finished": environment.finished,
    }


main()
