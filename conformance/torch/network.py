"""The embedded engine's network in PyTorch, with the weights of one of its checkpoints."""

import json
import struct
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn


def read_safetensors(path):
    data = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    body = bytearray(data[8 + length :])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        assert entry["dtype"] == "F32", name
        begin, end = entry["data_offsets"]
        flat = torch.frombuffer(body, dtype=torch.float32, offset=begin, count=(end - begin) // 4)
        tensors[name] = flat.reshape(entry["shape"]).clone()
    return tensors


def turned(x, cosines, sines):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cosines - b * sines, b * cosines + a * sines), -1)


class Layer(nn.Module):
    def __init__(self, width, feed_forward):
        super().__init__()
        self.norm1 = nn.RMSNorm(width, eps=1e-5)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.norm2 = nn.RMSNorm(width, eps=1e-5)
        self.up = nn.Linear(width, feed_forward, bias=False)
        self.down = nn.Linear(feed_forward, width, bias=False)

    def feed_forward(self, x):
        return self.down(F.relu(self.up(self.norm2(x))).square())


class Network(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.width, self.heads = sizes["width"], sizes["heads"]
        self.context, self.vocabulary = sizes["context"], sizes["vocabulary"]
        self.embedding = nn.Embedding(self.vocabulary, self.width)
        self.layers = nn.ModuleList(Layer(self.width, sizes["feedForward"]) for _ in range(sizes["layers"]))
        self.norm = nn.RMSNorm(self.width, eps=1e-5)
        self.head = nn.Linear(self.width, self.vocabulary, bias=False)
        half = self.width // self.heads // 2
        angles = torch.arange(self.context)[:, None] * 10_000 ** (-torch.arange(half) / half)
        self.cosines, self.sines = angles.cos(), angles.sin()

    def forward(self, ids):
        """Logits of sequences of one length."""
        batch, length = ids.shape
        x = self.embedding(ids)
        cosines, sines = self.cosines[:length], self.sines[:length]
        for layer in self.layers:
            mixed = layer.qkv(layer.norm1(x)).view(batch, length, 3, self.heads, -1)
            q, k, v = mixed.permute(2, 0, 3, 1, 4)
            seen = F.scaled_dot_product_attention(
                turned(q, cosines, sines), turned(k, cosines, sines), v, is_causal=True
            )
            x = x + layer.out(seen.transpose(1, 2).reshape(batch, length, -1))
            x = x + layer.feed_forward(x)
        return self.head(self.norm(x))

    @torch.inference_mode()
    def sample(self, first, tokens):
        """Goes on from one token each, with a cache of keys and values: ids and their log-probabilities."""
        batch = len(first)
        shape = (batch, self.heads, self.context, self.width // self.heads)
        keys = [torch.zeros(shape) for _ in self.layers]
        values = [torch.zeros(shape) for _ in self.layers]
        ids = torch.zeros(batch, tokens, dtype=torch.long)
        logprobs = torch.zeros(batch, tokens)
        last = first
        for t in range(tokens):
            x = self.embedding(last)
            cosines, sines = self.cosines[t], self.sines[t]
            for at, layer in enumerate(self.layers):
                q, k, v = layer.qkv(layer.norm1(x)).view(batch, 3, self.heads, -1).unbind(1)
                keys[at][:, :, t] = turned(k, cosines, sines)
                values[at][:, :, t] = v
                seen = F.scaled_dot_product_attention(
                    turned(q, cosines, sines).unsqueeze(2), keys[at][:, :, : t + 1], values[at][:, :, : t + 1]
                )
                x = x + layer.out(seen.reshape(batch, -1))
                x = x + layer.feed_forward(x)
            scores = F.log_softmax(self.head(self.norm(x)), -1)
            last = torch.multinomial(scores.exp(), 1).squeeze(1)
            ids[:, t] = last
            logprobs[:, t] = scores.gather(1, last[:, None]).squeeze(1)
        return ids, logprobs

    def named_places(self):
        """Parameters by the engine's name, each with whether the engine has it transposed."""
        yield "embedding", self.embedding.weight, False
        for at, layer in enumerate(self.layers):
            yield f"layers.{at}.attention.norm", layer.norm1.weight, False
            yield f"layers.{at}.attention.qkv", layer.qkv.weight, True
            yield f"layers.{at}.attention.out", layer.out.weight, True
            yield f"layers.{at}.feed_forward.norm", layer.norm2.weight, False
            yield f"layers.{at}.feed_forward.up", layer.up.weight, True
            yield f"layers.{at}.feed_forward.down", layer.down.weight, True
        yield "norm", self.norm.weight, False
        yield "head", self.head.weight, True


def open_network(folder):
    """The policy of a checkpoint."""
    network = Network(json.loads((Path(folder) / "model.json").read_text())["sizes"])
    tensors = read_safetensors(Path(folder) / "weights.safetensors")
    with torch.no_grad():
        for name, parameter, transposed in network.named_places():
            weight = tensors[name]
            parameter.copy_(weight.T if transposed else weight)
    return network
