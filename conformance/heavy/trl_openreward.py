"""Trains with TRL on an ORS server, of which it is given the address alone.

The wish is `{url, split, steps, tasks: [{index, opening, rollouts: [calls | null]}]}`. `OpenRewardSpec` gives the dataset,
the environments and the reward function; what the model says is in `rollouts`.
"""

from train import main


def parts(wish):
    from trl.experimental.openreward import OpenRewardSpec

    spec = OpenRewardSpec(wish["url"], split=wish["split"], indices=[task["index"] for task in wish["tasks"]])
    return {
        "dataset": spec.train_dataset,
        "factory": spec.environment_factory,
        "reward_funcs": spec.reward_funcs,
        "id": "id",
        "session": lambda environment: environment._session.sid,
        "finished": lambda environment: environment.finished,
        "close": lambda environment: environment._close(),
    }


main(parts)
