"""Runs the example of a client in docs/doors.md, with an agent that says one thing.

Reads one JSON object from standard input, `{url, code, call: [name, arguments]}`, and writes one to standard output: what
the agent was told, and the reward that the example ends with.
"""

import contextlib
import json
import sys


def main():
    wish = json.load(sys.stdin)
    told = []

    def agent(text, tools):
        told.append({"text": text, "tools": [tool["name"] for tool in tools]})
        return tuple(wish["call"])

    names = {"agent": agent}
    # The example prints what it came to.
    with contextlib.redirect_stdout(sys.stderr):
        exec(wish["code"], names)
    json.dump({"told": told, "reward": names["step"].reward}, sys.stdout)


main()
