"""Plays episodes through an ORS server with a client of its own: `ors-sdk` or `openreward`.

Reads one JSON object from standard input, `{client, url, environment, episodes: [{split, index, calls: [{name, input}]}]}`,
and writes one to standard output: what the client was shown, and what came of every call.
"""

import asyncio
import dataclasses
import json
import sys


def client_of(name, url):
    if name == "ors":
        from ors.client import AsyncORS

        return AsyncORS(base_url=url)
    from openreward import AsyncOpenReward

    return AsyncOpenReward(api_key="")


async def listings(environment, splits):
    """Every question that needs no session, each asked once."""
    split = splits[0]
    count = await environment.num_tasks(split)
    return {
        "splits": await environment.list_splits(),
        "count": count,
        "listed": len(await environment.list_tasks(split)) if count <= 200 else None,
        "first": (await environment.get_task(split, 0)).task_spec,
        "last": [task.task_spec for task in await environment.get_task_range(split, -1, None)],
        "tools": [dataclasses.asdict(tool) for tool in await environment.list_tools()],
        "providers": {form: len(await environment.list_tools(form)) for form in ("openai", "anthropic", "google")},
    }


async def play(environment, episode, by_task):
    """By split and index, or by the task that the server listed."""
    split, index = episode["split"], episode["index"]
    how = {"task": await environment.get_task(split, index)} if by_task else {"split": split, "index": index}
    shown = {"steps": []}
    async with environment.session(**how) as session:
        shown["prompt"] = [dataclasses.asdict(block) for block in await session.get_prompt()]
        shown["tools"] = [dataclasses.asdict(tool) for tool in await session.list_tools()]
        if hasattr(session, "get_messages"):
            shown["messages"] = await session.get_messages(format="openai")
            terminal = await session.terminal_tool()
            shown["terminal"] = terminal and dataclasses.asdict(terminal)
        for call in episode["calls"]:
            try:
                step = dataclasses.asdict(await session.call_tool(call["name"], call["input"]))
            except Exception as error:
                step = {"raised": type(error).__name__, "message": str(error)}
            shown["steps"].append(step)
    return shown


async def main():
    wish = json.load(sys.stdin)
    # Clients close their connections when nothing holds them.
    client = client_of(wish["client"], wish["url"])
    environment = client.environments.get(wish["environment"])
    told = {"listings": await listings(environment, wish["splits"])}
    told["episodes"] = await asyncio.gather(
        *(play(environment, episode, at % 2 == 0) for at, episode in enumerate(wish["episodes"]))
    )
    json.dump(told, sys.stdout)
    for connection in client.environments._clients.values():
        await connection.close()


asyncio.run(main())
