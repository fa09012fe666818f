"""Runs an environment of verifiers v0 against a model that breaks on one question, and saves the results as it does.

Usage: write_verifiers.py FOLDER URL   prints the path of its results, and what its own reward function gave.
"""

import asyncio
import json
import logging
import os
import sys
from pathlib import Path

os.chdir(sys.argv[1])
os.environ["BENCH_API_KEY"] = "none"
os.environ["HF_HUB_OFFLINE"] = "1"
import verifiers as vf
from datasets import Dataset
from verifiers.types import ClientConfig

logging.disable(logging.CRITICAL)
dataset = Dataset.from_list(
    [
        {"question": f"{at} + 1?", "answer": f"ANSWER-{at}", "info": {"note": "GOLD-CANARY-5521"}}
        for at in range(4)
    ]
)


def exact(completion, answer, **_):
    text = completion[-1].content
    if answer == "ANSWER-2":
        raise ValueError(f"cannot grade {answer}")
    return 1.0 if text == answer else 0.25


environment = vf.SingleTurnEnv(
    dataset=dataset, rubric=vf.Rubric(funcs=[exact]), system_prompt="Add.", env_id="sums"
)


async def main():
    return await environment.generate(
        environment.get_dataset(n=4),
        client=ClientConfig(api_base_url=sys.argv[2], api_key_var="BENCH_API_KEY", max_retries=0),
        model="fake",
        sampling_args={"temperature": 0.5},
        save_results=True,
        on_start=lambda *_: None,
        on_progress=lambda *_: None,
    )


results = asyncio.run(main())
[path] = Path(".").glob("outputs/**/results.jsonl")
told = [
    {"id": str(output["example_id"]), "reward": output["reward"], "error": output.get("error") is not None}
    for output in results["outputs"]
]
print(json.dumps({"path": str(path.resolve()), "version": vf.__version__, "outputs": told}))
