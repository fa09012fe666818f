"""What clients make of a socket that is lost, or of an answer that comes too late."""

import asyncio
import importlib
import json
import os
import sys

from openenv.core.generic_client import GenericEnvClient

wish = json.load(sys.stdin)
sys.path.insert(0, wish["package"])
os.environ[wish["module"].upper() + "_TOKEN"] = wish["token"]
module = importlib.import_module(wish["module"])
typed_class, action_class = getattr(module, wish["prefix"] + "Env"), getattr(module, wish["prefix"] + "Action")

headers = {"Authorization": "Bearer " + wish["token"]}


def call(name, **given):
    return {"type": "call_tool", "tool_name": name, "arguments": given}


async def late():
    """The answer of the slow call must not be taken for that of the next."""
    async with GenericEnvClient(base_url=wish["url"], message_timeout_s=0.5, headers=headers) as client:
        await client.reset(index=0)
        raised = []
        for action in (call("slow", ms=1500), call("echo", text="after")):
            try:
                result = await client.step(action)
                raised.append(result.observation["result"]["data"])
            except Exception as error:
                raised.append(type(error).__name__ + ": " + str(error))
        await client.reset(index=0)
        result = await client.step(call("echo", text="anew"))
        return raised + [result.observation["result"]["data"]]


async def typed_late():
    """The generated client gets the answer that it did not wait for when it asks again, and its episode goes on."""
    async with typed_class(base_url=wish["url"], message_timeout_s=0.5) as client:
        await client.reset(index=0)
        await client.step(action_class(tool_name="echo", arguments={"text": "one"}))
        try:
            await client.step(action_class(tool_name="slow", arguments={"ms": 1000}))
            first = "no timeout"
        except asyncio.TimeoutError:
            first = "timeout"
        await asyncio.sleep(1)
        result = await client.step(action_class(tool_name="echo", arguments={"text": "two"}))
        state = await client.state()
        ended = await client.finish()
        return [first, result.observation.text, state.step_count, ended.reward, ended.done]


async def typed_lost():
    """A socket that breaks in the middle of a step: the step is carried out once and answered."""
    async with typed_class(base_url=wish["url"]) as client:
        await client.reset(index=0)
        await client.step(action_class(tool_name="echo", arguments={"text": "one"}))

        async def cut():
            await asyncio.sleep(0.3)
            client._ws.transport.abort()

        cutting = asyncio.ensure_future(cut())
        slow = await client.step(action_class(tool_name="slow", arguments={"ms": 800}))
        await cutting
        state = await client.state()
        ended = await client.finish()
        return [slow.observation.text, state.step_count, ended.reward, ended.done]


told = {
    "late": asyncio.run(late()),
    "typed_late": asyncio.run(typed_late()),
    "typed_lost": asyncio.run(typed_lost()),
    "rows": [row["task_id"] for row in module.rows(base_url=wish["url"])],
}
json.dump(told, sys.stdout)
