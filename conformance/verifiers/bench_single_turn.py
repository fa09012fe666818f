"""Single-turn rollouts with verifiers' own environment, client and generate(), in this one process.

Prints one JSON line. Timed is the call of generate() alone: no import, no data set, no client set-up.
Nothing is saved to disk, and the progress bar is off, so that its fastest way is what is measured.
"""

import argparse
import asyncio
import json
import logging
import os
import time


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True, help="base URL of the fake model")
    parser.add_argument("--rollouts", type=int, required=True)
    parser.add_argument("--in-flight", type=int, required=True)
    parser.add_argument("--prompts", required=True, help="JSON lines, one string each: the prompts")
    parser.add_argument("--scoring", choices=["independent", "group"], default="independent")
    parser.add_argument("--loop", choices=["asyncio", "uvloop"], default="asyncio")
    args = parser.parse_args()

    os.environ["BENCH_API_KEY"] = "none"
    os.environ["HF_HUB_OFFLINE"] = "1"
    import verifiers as vf
    from datasets import Dataset
    from verifiers.types import ClientConfig

    logging.disable(logging.WARNING)
    with open(args.prompts, encoding="utf-8") as file:
        prompts = [json.loads(line) for line in file][: args.rollouts]
    dataset = Dataset.from_list([{"question": prompt, "answer": "done"} for prompt in prompts])

    def exact(completion, answer, **_) -> float:
        return 1.0 if completion[-1].content.endswith(answer) else 0.0

    environment = vf.SingleTurnEnv(dataset=dataset, rubric=vf.Rubric(funcs=[exact]))
    inputs = environment.get_dataset(n=args.rollouts)
    client = ClientConfig(api_base_url=args.url, api_key_var="BENCH_API_KEY")

    async def generate():
        began = time.perf_counter()
        outputs = await environment.generate(
            inputs,
            client=client,
            model="fake",
            max_concurrent=args.in_flight,
            independent_scoring=args.scoring == "independent",
            on_start=lambda *_: None,
            on_progress=lambda *_: None,
        )
        return time.perf_counter() - began, outputs

    if args.loop == "uvloop":
        import uvloop

        seconds, results = uvloop.run(generate())
    else:
        seconds, results = asyncio.run(generate())
    outputs = results["outputs"]
    right = sum(1 for output in outputs if output["reward"] == 1.0 and output.get("error") is None)
    print(json.dumps({"seconds": seconds, "rollouts": len(outputs), "right": right, "version": vf.__version__}))


if __name__ == "__main__":
    main()
