"""Plays what it is asked on a HUD channel with the package's own client and runner, and prints what they made of it.

Standard input: {"jobs": [{"url", "tasks": file of rows, "episodes": [{"name", "slug", "calls": [{"name", "input"}],
"answer"}]}], "channel": {"url", "split", "task", "answer"}}. Episodes may name the same row more than once.
"""

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from contextvars import ContextVar

from hud.agents.base import Agent
from hud.clients import HudProtocolError, connect
from hud.eval import Runtime, Taskset


playing = ContextVar("playing")


class Scripted(Agent):
    """Does in each rollout what was written down for its task."""

    def __init__(self, episodes):
        super().__init__()
        self.episodes = {one["name"]: one for one in episodes}
        self.told = {}

    async def __call__(self, run):
        name = playing.get()
        episode = self.episodes[name]
        told = {"prompt": [message.model_dump(mode="json") for message in run.prompt_messages], "calls": []}
        self.told[name] = told
        if run.client.manifest.bindings:
            tools = await run.client.open("mcp")
            told["tools"] = [{"name": one.name, "schema": one.inputSchema} for one in await tools.list_tools()]
            for call in episode["calls"]:
                result = await tools.call_tool(call["name"], call["input"])
                told["calls"].append(
                    {
                        "text": "".join(block.text for block in result.content if block.type == "text"),
                        "error": bool(result.isError),
                    }
                )
        run.trace.content = episode["answer"]


@asynccontextmanager
async def placed(task, url):
    """Where a task is played; what runs there knows which it is."""
    playing.set(task.slug)
    yield Runtime(url)


async def runner(wish):
    """The job of all episodes, as `hud eval` schedules it."""
    agent = Scripted(wish["episodes"])
    rows = Taskset.from_file(wish["tasks"])
    named = [rows[one["slug"]].model_copy(update={"slug": one["name"]}) for one in wish["episodes"]]
    taskset = Taskset("episodes", named)
    job = await taskset.run(agent, runtime=lambda task: placed(task, wish["url"]), max_concurrent=8)
    return {
        "mean": job.reward,
        "errors": len(job.errors),
        "runs": [
            {
                "slug": run.slug,
                "reward": run.reward,
                "failed": run.grade.is_error,
                "status": run.trace.status,
                "error": run.trace.error,
                "content": run.grade.content,
                "info": run.grade.info,
                "subscores": run.grade.evaluation.get("subscores"),
                **agent.told.get(run.slug, {}),
            }
            for run in job.runs
        ],
    }


async def code_of(call):
    try:
        await call
    except HudProtocolError as error:
        return error.code
    return None


async def channel(wish):
    """What the client itself sees: listings, refusals, a heartbeat, a session that is left and found again."""
    runtime = Runtime(wish["url"])
    told = {}
    async with connect(runtime) as client:
        told["env"] = client.manifest.server_info.name
        told["tasks"] = await client.list_tasks()
        told["refused"] = {
            "grade before a start": await code_of(client.grade({"answer": "x"})),
            "unknown task": await code_of(client.start_task("nowhere", {})),
            "bad arguments": await code_of(client.start_task(wish["split"], {"id": 7})),
            "unknown method": await code_of(client._call("tasks.dance", {})),
            "unknown session": await code_of(client.hello("sess-none")),
        }
        await client.start_task(wish["split"], {"id": wish["task"]})
        session = client.manifest.session_id
        before = [binding.url for binding in client.manifest.bindings]
        beat = await client.hello(session)
        told["heartbeat"] = beat.session_id == session and before == [one.url for one in beat.bindings]
    # The client leaves without a goodbye.
    async with connect(runtime) as client:
        told["resumed"] = (await client.hello(session)).session_id == session
        told["score"] = (await client.grade({"answer": wish["answer"]}))["score"]
    async with connect(runtime) as client:
        await client.start_task(wish["split"], {"id": wish["task"]})
    async with connect(runtime) as client:
        told["adopted"] = (await client.grade({"answer": wish["answer"]}))["score"]
        told["cancelled"] = (await client._call("tasks.cancel", {}))["cancelled"]
    return told


async def main():
    wish = json.load(sys.stdin)
    jobs = [await runner(job) for job in wish["jobs"]]
    json.dump({"jobs": jobs, "channel": await channel(wish["channel"])}, sys.stdout)


asyncio.run(main())
