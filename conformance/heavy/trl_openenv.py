"""Trains with TRL on an OpenEnv server, by the class that `quintain export openenv` writes.

The wish is that of `trl_openreward.py`, with `{packages: [folders], module}`: where the generated package is, with what it
imports of OpenEnv, and its name.
"""

import importlib
import os
import sys

from train import main


def parts(wish):
    from datasets import Dataset

    # At the end: what is in both comes from the environment of this interpreter.
    sys.path += wish["packages"]
    os.environ[f"{wish['module'].upper()}_URL"] = wish["url"]
    module = importlib.import_module(f"{wish['module']}.trl_environment")
    wanted = {task["index"] for task in wish["tasks"]}
    rows = module.rows(wish["split"], limit=max(wanted) + 1)
    return {
        "dataset": Dataset.from_list([row for row in rows if row["index"] in wanted]),
        "factory": getattr(module, f"{wish['prefix']}Environment"),
        # The class has its reward.
        "reward_funcs": None,
        "id": "task_id",
        "session": lambda environment: environment._client.state().episode_id,
        "finished": lambda environment: environment._done,
        "close": lambda environment: environment._client.close(),
    }


main(parts)
