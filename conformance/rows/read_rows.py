"""Reads files of rows with what trainers read them with, and prints what was read as JSON.

Usage: read_rows.py FOLDER
"""

import json
import sys
from pathlib import Path

import datasets
import pyarrow.parquet as parquet
import tinker

folder = Path(sys.argv[1])
cache = str(folder / "cache")
datasets.disable_progress_bars()
told = {"versions": {"datasets": datasets.__version__, "tinker": tinker.__version__}, "files": {}}

for path in sorted(folder.glob("*.parquet")):
    table = parquet.read_table(path)
    table.validate(full=True)
    told["files"][path.name] = {
        "arrow": table.to_pylist(),
        "datasets": datasets.load_dataset(
            "parquet", data_files=str(path), split="train", cache_dir=cache
        ).to_list(),
        "messages": str(table.schema.field("messages").type) if "messages" in table.schema.names else None,
        "metadata": {
            key.decode(): value.decode()
            for key, value in (table.schema.metadata or {}).items()
            if not key.startswith(b"ARROW")
        },
    }
for path in sorted(folder.glob("*.jsonl")):
    read = datasets.load_dataset("json", data_files=str(path), split="train", cache_dir=cache)
    told["files"][path.name] = {"datasets": read.to_list()}

datums = []
for line in (folder / "tinker.jsonl").read_text(encoding="utf-8").split("\n")[:-1]:
    datum = json.loads(line)["datum"]
    made = tinker.Datum(
        model_input=tinker.ModelInput(**datum["model_input"]),
        loss_fn_inputs={name: tinker.TensorData(**tensor) for name, tensor in datum["loss_fn_inputs"].items()},
    )
    inputs = made.loss_fn_inputs
    datums.append(
        {
            "length": made.model_input.length,
            "tokens": made.model_input.to_ints(),
            "inputs": {name: {"dtype": tensor.dtype, "data": tensor.data} for name, tensor in inputs.items()},
        }
    )
told["datums"] = datums
print(json.dumps(told))
