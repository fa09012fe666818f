"""What every script here does with TRL's `GRPOTrainer`: a few steps with a tiny model, and what came of each rollout."""

import json
import math
import os
import sys
import tempfile

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"


def main(parts):
    """Reads a wish from standard input and writes what the trainer made of it to standard output, both JSON.

    `parts(wish)` gives `{dataset, factory, reward_funcs, id, session, finished, close}`: what the trainer is given, the
    column that names the task, and functions of an environment.
    """
    wish = json.load(sys.stdin)
    # Progress and warnings of the trainer are no part of the answer.
    answer, sys.stdout = sys.stdout, sys.stderr
    json.dump(train(wish, parts(wish)), answer)


def train(wish, part):
    import torch
    import transformers
    import trl
    from tiny import Script, tiny_model, tiny_tokenizer

    torch.set_num_threads(1)
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer, Script(wish["tasks"]))
    before = weights_of(model)
    rollouts = []

    class Watched(trl.GRPOTrainer):
        """Notes the rewards that the trainer makes its advantages from."""

        def _calculate_rewards(self, inputs, prompts, completions, completion_ids_list):
            rewards = super()._calculate_rewards(inputs, prompts, completions, completion_ids_list)
            for row, environment, [reward] in zip(inputs, self.environments, rewards.tolist(), strict=True):
                rollouts.append(
                    {
                        "step": self.state.global_step,
                        "id": row[part["id"]],
                        "session": part["session"](environment),
                        "reward": number(reward),
                        "finished": part["finished"](environment),
                    }
                )
            return rewards

    with tempfile.TemporaryDirectory() as folder:
        trainer = Watched(
            model=model,
            processing_class=tokenizer,
            args=trl.GRPOConfig(
                output_dir=folder,
                use_cpu=True,
                bf16=False,
                max_steps=wish["steps"],
                num_generations=2,
                per_device_train_batch_size=2 * len(wish["tasks"]),
                learning_rate=1e-2,
                max_completion_length=8192,
                max_tool_calling_iterations=12,
                logging_steps=1,
                save_strategy="no",
                report_to="none",
                disable_tqdm=True,
                seed=7,
            ),
            train_dataset=part["dataset"],
            environment_factory=part["factory"],
            reward_funcs=part["reward_funcs"],
        )
        trainer.train()
    for environment in trainer._environment_pool[None]:
        part["close"](environment)
    logged = [entry for entry in trainer.state.log_history if "loss" in entry]
    names = ("loss", "grad_norm", "reward", "reward_std")
    return {
        "versions": {"trl": trl.__version__, "transformers": transformers.__version__, "torch": torch.__version__},
        "rollouts": rollouts,
        "steps": [{name: number(entry.get(name)) for name in names} for entry in logged],
        "learnt": weights_of(model) != before,
    }


def number(value):
    """JSON has no NaN: what is none is None."""
    return value if value is not None and math.isfinite(value) else None


def weights_of(model):
    return float(sum(parameter.detach().double().abs().sum() for parameter in model.parameters()))
