"""Times PyTorch on the network of a checkpoint: tokens a second in training and in sampling, as JSON on a line."""

import json
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).parents[2] / "conformance" / "torch"))
from network import open_network

asked = json.loads(sys.argv[1])
torch.set_num_threads(asked["threads"])
torch.set_num_interop_threads(1)
network = open_network(asked["folder"])
vocabulary, context = network.vocabulary, network.context
torch.manual_seed(1)


def rate(tokens, run):
    run()
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < asked["seconds"]:
        run()
        done += tokens
    return done / (time.perf_counter() - began)


def training(sequences):
    optimiser = torch.optim.AdamW(network.parameters(), lr=1e-4, betas=(0.9, 0.95))
    ids = torch.randint(vocabulary, (sequences, context + 1))

    def step():
        logits = network(ids[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, vocabulary), ids[:, 1:].reshape(-1))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()

    return rate(sequences * context, step)


def sampling(batch):
    first = torch.randint(vocabulary, (batch,))
    return rate(batch * (context - 1), lambda: network.sample(first, context - 1))


told = {f"sample{batch}": sampling(batch) for batch in asked["batches"]}
told["train"] = training(asked["sequences"])
print(json.dumps(told))
