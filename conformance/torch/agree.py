"""Trains the network of a checkpoint as it is told on standard input, and says what came of each step."""

import json
import sys

import torch
import torch.nn.functional as F
from network import open_network, read_safetensors

asked = json.load(sys.stdin)
network = open_network(asked["from"])
adam = asked["adam"]
gains = [parameter for name, parameter, _ in network.named_places() if name.endswith("norm")]
others = [parameter for name, parameter, _ in network.named_places() if not name.endswith("norm")]
optimiser = torch.optim.AdamW(
    [{"params": gains, "weight_decay": 0.0}, {"params": others, "weight_decay": adam["weightDecay"]}],
    lr=adam["learningRate"],
    betas=(adam["beta1"], adam["beta2"]),
    eps=adam["eps"],
)
steps = []
for batch in asked["batches"]:
    ids = torch.tensor(batch)
    optimiser.zero_grad()
    scores = F.log_softmax(network(ids[:, :-1]), -1)
    logprobs = scores.gather(2, ids[:, 1:, None]).squeeze(2)
    entropies = -(scores.exp() * scores).sum(-1)
    loss = -logprobs.mean()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(network.parameters(), adam["gradClipNorm"])
    optimiser.step()
    steps.append(
        {
            "loss": loss.item(),
            "gradNorm": norm.item(),
            "logprobs": logprobs.flatten().tolist(),
            "entropies": entropies.flatten().tolist(),
        }
    )
trained = read_safetensors(asked["trained"] + "/weights.safetensors")
far = max(
    (trained[name].T if transposed else trained[name]).sub(parameter).abs().max().item()
    for name, parameter, transposed in network.named_places()
)
print(json.dumps({"steps": steps, "farthestWeight": far, "version": torch.__version__}))
