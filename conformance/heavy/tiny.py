"""A language model of two layers with random weights, whose samples follow a script where there is one.

Everything is made here: no weights, no tokenizer and no template is fetched.
"""

import json
from collections import deque

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LogitsProcessor, LogitsProcessorList, PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from trl.chat_template_utils import qwen3_chat_template

#: Tokens that a rollout without a script may sample before it is ended.
FREE_TOKENS = 24


def tiny_tokenizer():
    """A token for every byte, and three marks; the template is Qwen3's, whose tool calls TRL can read."""
    marks = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytes_only = Tokenizer(models.BPE(vocab={letter: at for at, letter in enumerate(letters)}, merges=[]))
    bytes_only.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bytes_only.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bytes_only,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        extra_special_tokens=["<|im_start|>"],
        clean_up_tokenization_spaces=False,
    )
    assert set(marks) <= set(tokenizer.get_vocab())
    tokenizer.chat_template = qwen3_chat_template
    return tokenizer


def called(name, arguments):
    """A tool call as a model of Qwen3's family writes it."""
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


class Script:
    """What rollouts say, turn after turn.

    `tasks` is a list of `{opening, rollouts}`: words by which a prompt is known, and for each of its rollouts in order
    the calls `[{name, input}]` it makes one by one before it stops, or None for one that samples freely.
    """

    def __init__(self, tasks):
        self.waiting = [(task["opening"], deque(task["rollouts"])) for task in tasks]
        self.underway = []

    def next(self, prompt):
        """The next words of the rollout whose prompt this is; None where it is to sample freely."""
        for at, (said, rest) in enumerate(self.underway):
            if prompt.startswith(said):
                del self.underway[at]
                return self.say(prompt, rest)
        found = [queue for opening, queue in self.waiting if opening in prompt]
        if len(found) != 1 or not found[0]:
            raise ValueError(f"{len(found)} tasks are known by this prompt, or all their rollouts were played: {prompt!r}")
        calls = found[0].popleft()
        return None if calls is None else self.say(prompt, calls)

    def say(self, prompt, calls):
        words = called(calls[0]["name"], calls[0]["input"]) if calls else "That was all."
        self.underway.append((prompt + words, calls[1:]))
        return words


class Follow(LogitsProcessor):
    """Leaves each row the token of its line alone; rows without a line are ended after a while."""

    def __init__(self, lines, begin, end):
        self.lines, self.begin, self.end = lines, begin, end

    def __call__(self, input_ids, scores):
        at = input_ids.shape[1] - self.begin
        for row, line in enumerate(self.lines):
            if line is None and at < FREE_TOKENS:
                continue
            wanted = line[at] if line is not None and at < len(line) else self.end
            scores[row] = float("-inf")
            scores[row, wanted] = 0.0
        return scores


class TinyModel(Qwen3ForCausalLM):
    """Generates as every model of this library does, with the script as one more processor of its logits."""

    script = None
    tokenizer = None

    def generate(self, input_ids=None, **given):
        prompts = [self.tokenizer.decode(self.unpadded(row)) for row in input_ids]
        words = [self.script.next(prompt) for prompt in prompts]
        lines = [None if one is None else self.tokenizer(one, add_special_tokens=False)["input_ids"] for one in words]
        follow = Follow(lines, input_ids.shape[1], self.tokenizer.eos_token_id)
        return super().generate(input_ids=input_ids, logits_processor=LogitsProcessorList([follow]), **given)

    def unpadded(self, row):
        return row[row != self.tokenizer.pad_token_id]


def tiny_model(tokenizer, script):
    torch.manual_seed(7)
    model = TinyModel(
        Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=8,
            max_position_embeddings=32768,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    model.tokenizer, model.script = tokenizer, script
    return model
