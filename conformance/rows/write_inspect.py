"""Runs a task of Inspect with its mock model, logs it as .json and .eval, and prints what Inspect itself says of the log.

Usage: write_inspect.py FOLDER
"""

import json
import sys

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes, match
from inspect_ai.solver import generate, solver, system_message, use_tools
from inspect_ai.tool import tool


@tool
def add():
    async def execute(x: int, y: int):
        """Add two numbers.

        Args:
            x: First number.
            y: Second number.
        """
        return x + y

    return execute


@solver
def broken():
    """Breaks on one sample of the four, with a message that quotes its target."""

    async def solve(state, generate):
        if state.sample_id == "s3":
            raise RuntimeError(f"the target is {state.target.text}")
        return state

    return solve


def outputs():
    made = []
    for at in range(8):
        made.append(ModelOutput.for_tool_call("mockllm", "add", {"x": at, "y": 1}))
        made.append(ModelOutput.from_content("mockllm", f"ANSWER-{at}" if at % 2 == 0 else "no idea"))
    for output in made:
        output.usage = ModelUsage(input_tokens=5, output_tokens=2, total_tokens=7)
    return made


def logged(format, folder):
    dataset = [
        Sample(id=f"s{at}", input=f"{at} + 1?", target=f"ANSWER-{2 * at}", metadata={"note": "GOLD-CANARY-5520"})
        for at in range(4)
    ]
    task = Task(
        dataset=dataset,
        name="sums",
        solver=[system_message("Add."), broken(), use_tools(add()), generate()],
        scorer=[match(), includes()],
        epochs=2,
        fail_on_error=False,
    )
    [log] = eval(
        task,
        model=get_model("mockllm/model", custom_outputs=outputs()),
        log_dir=folder,
        log_format=format,
        display="none",
        max_samples=1,
    )
    return log.location


def told(location):
    log = read_eval_log(location)
    return {
        "location": location,
        "status": log.status,
        "samples": sorted(
            (
                {
                    "id": str(sample.id),
                    "epoch": sample.epoch,
                    "error": sample.error is not None,
                    "reward": {"C": 1, "I": 0}[sample.scores["match"].value] if sample.error is None else None,
                    "messages": [message.role for message in sample.messages],
                    "texts": [message.text for message in sample.messages],
                }
                for sample in log.samples
            ),
            key=lambda sample: (sample["id"], sample["epoch"]),
        ),
    }


print(json.dumps([told(logged(format, f"{sys.argv[1]}/inspect-{format}")) for format in ("json", "eval")]))
