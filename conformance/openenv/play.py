"""Plays episodes with clients of OpenEnv, and prints what they saw. The wish comes on stdin, as JSON.

The last of them drives a generated class as TRL's trainer does, without TRL: one instance for all episodes, its methods and
their schemas, its rows, its rewards.
"""

import asyncio
import importlib
import inspect
import json
import sys

from openenv.core.env_server.mcp_types import CallToolAction
from openenv.core.generic_client import GenericEnvClient
from openenv.core.mcp_client import MCPToolClient
from transformers.utils import get_json_schema

wish = json.load(sys.stdin)
sys.path.insert(0, wish["package"])
module = importlib.import_module(wish["module"])
prefix = wish["prefix"]
client_class, action = getattr(module, prefix + "Env"), getattr(module, prefix + "Action")


def outcome(observation, result):
    return {"observation": observation, "reward": result.reward, "done": result.done}


async def generic(episode):
    async with GenericEnvClient(base_url=wish["url"]) as client:
        listed = await client.step({"type": "list_tools"})
        begun = await client.reset(split=episode["split"], index=episode["index"], answer_tool=True)
        steps = []
        for call in episode["calls"]:
            action = {"type": "call_tool", "tool_name": call["name"], "arguments": call["input"]}
            result = await client.step(action)
            steps.append(outcome(result.observation, result))
        if not result.done:
            result = await client.step({"type": "finish"})
            steps.append(outcome(result.observation, result))
        state = await client.state()
        tools = [tool["name"] for tool in listed.observation["tools"]]
        return {"tools": tools, "prompt": begun.observation["prompt"], "steps": steps, "state": state}


async def words(episode):
    """What the agent says goes as it is, as verifiers sends it."""
    async with GenericEnvClient(base_url=wish["url"]) as client:
        begun = await client.reset(split=episode["split"], index=episode["index"])
        steps = []
        for call in episode["calls"]:
            result = await client.step({"message": next(iter(call["input"].values()))})
            steps.append(outcome(result.observation, result))
        if not result.done:
            result = await client.step({"type": "finish"})
            steps.append(outcome(result.observation, result))
        return {"prompt": begun.observation["prompt"], "steps": steps}


async def tools(episode):
    """All calls but the last by JSON-RPC, which tells no rewards; the last on the socket."""
    async with MCPToolClient(base_url=wish["url"]) as client:
        listed = [tool.name for tool in await client.list_tools()]
        begun = await client.reset(split=episode["split"], index=episode["index"])
        texts = []
        for call in episode["calls"][:-1]:
            texts.append(await client.call_tool(call["name"], **call["input"]))
        last = episode["calls"][-1]
        result = await client.step(CallToolAction(tool_name=last["name"], arguments=last["input"]))
        texts.append(result.observation.result["data"])
        return {
            "tools": listed,
            "prompt": begun.observation.metadata["prompt"],
            "texts": texts,
            "reward": result.reward,
            "done": result.done,
        }


def typed(episode):
    with client_class(base_url=wish["url"]).sync() as client:
        begun = client.reset(split=episode["split"], index=episode["index"])
        steps = []
        for call in episode["calls"]:
            if "message" in action.model_fields:
                result = client.step(action(message=next(iter(call["input"].values()))))
            else:
                result = client.step(action(tool_name=call["name"], arguments=call["input"]))
            steps.append(outcome({"text": result.observation.text}, result))
        if not result.done:
            result = client.finish()
            steps.append(outcome({"text": result.observation.text}, result))
        return {"prompt": begun.observation.prompt, "steps": steps, "task": client.state().task_id}


def trl():
    instance = getattr(module, prefix + "Environment")()
    methods = {
        name: getattr(instance, name)
        for name, _ in inspect.getmembers(type(instance), predicate=inspect.isfunction)
        if name not in ("reset", "get_reward") and not name.startswith("_")
    }
    schemas = {name: get_json_schema(method)["function"] for name, method in methods.items()}
    rows = module.rows(wish["split"], limit=wish["limit"], base_url=wish["url"])
    played = []
    for episode in wish["episodes"]:
        place = {"split": episode["split"], "index": episode["index"]}
        prompt = instance.reset(prompt=[{"role": "user", "content": ""}], unknown=None, **place)
        texts = [methods[call["name"]](**call["input"]) for call in episode["calls"]]
        rewards = [instance.get_reward(), instance.get_reward()]
        played.append({"prompt": prompt, "texts": texts, "rewards": rewards})
    instance._client.close()
    return {"schemas": schemas, "rows": rows, "played": played, "torch": "torch" in sys.modules}


async def all_of(player):
    return [await player(episode) for episode in wish["episodes"]]


told = {
    "generic": asyncio.run(all_of(generic)),
    "words": asyncio.run(all_of(words)) if wish["words"] else [],
    "tools": asyncio.run(all_of(tools)),
    "typed": [typed(episode) for episode in wish["episodes"]],
    "trl": trl(),
}
json.dump(told, sys.stdout)
