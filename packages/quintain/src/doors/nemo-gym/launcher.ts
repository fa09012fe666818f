/**
 * The entry point by which NeMo Gym starts a resources server, in Python: it reads where the server is to listen and
 * becomes the server. NeMo Gym starts `python app.py` in the folder of the server, with the whole configuration in
 * `NEMO_GYM_CONFIG_DICT` and the name of the instance in `NEMO_GYM_CONFIG_PATH`.
 */
export function launcherText({ reference, folder }: { reference: string; folder: string }): string {
  return `"""Starts a Quintain server where NeMo Gym wants it. Written by \`quintain export nemo-gym\`."""

import os
import shlex
from pathlib import Path

import yaml

# The environment, and the folder in which it was named; QUINTAIN_ROOT names another.
REFERENCE = ${JSON.stringify(reference)}
ROOT = Path(__file__).resolve().parent / ${JSON.stringify(folder)}

if __name__ == "__main__":
    config = yaml.safe_load(os.environ["NEMO_GYM_CONFIG_DICT"])
    instance = config[os.environ["NEMO_GYM_CONFIG_PATH"]]
    server = next(iter(next(iter(instance.values())).values()))
    command = shlex.split(os.environ.get("QUINTAIN_COMMAND", "npx --no quintain"))
    command += ["serve", REFERENCE, "--door", "nemo-gym"]
    command += ["--host", str(server["host"]), "--port", str(server["port"])]
    if server["host"] not in ("127.0.0.1", "localhost", "::1"):
        # Others reach it: it asks for a token, which NeMo Gym's own client does not send.
        command += ["--token-env", "QUINTAIN_TOKEN"]
    os.chdir(os.environ.get("QUINTAIN_ROOT", ROOT))
    os.execvp(command[0], command)
`
}
