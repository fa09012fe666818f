"""Runs llama.cpp's HTTP server on a free port of this machine, prints its address, and ends when its input does.

PYTHONPATH names the folder with xllamacpp; arguments: the model, the chat template.
"""

import os
import sys

import xllamacpp

model, template = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path = model
params.model_alias = {"smollm2"}
params.use_jinja = True
with open(template) as file:
    params.chat_template = file.read()
# Of each of two slots: small, so that a history overflows it soon.
params.n_parallel = 2
params.n_ctx = 2 * 1536
# One thread alone: several wait for each other, badly so where other programs take their processors.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.endpoint_slots = True
params.endpoint_metrics = True
params.ui = False
params.offline = True

server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
# What it still generates is not waited for.
os._exit(0)
