"""nemo-gym itself against a resources server of Quintain: its contract helper, its environment server and its agents.

`peer.py URL ROWS`, where ROWS is a folder with `test.jsonl` and `test-gymnasium.jsonl` of wordle. One line of JSON for each
thing that was asked of it: {"name", "ok", "detail"}.
"""

import stand_ins

stand_ins.install()

import asyncio
import json
import os
import socket
import sys
from pathlib import Path
from urllib.parse import urlsplit

import fastapi.testclient
import httpx
import uvicorn
from fastapi import FastAPI, Request

GUESSES = ["crane", "slate", "mound", "piggy", "fluff", "jazzy"]


def tell(name: str, ok: bool, detail: object = None) -> None:
    print(json.dumps({"name": name, "ok": bool(ok), "detail": detail}), flush=True)


def rows_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def item_text(text: str) -> dict:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"id": "msg", "type": "message", "role": "assistant", "status": "completed", "content": content}


def item_call(number: int, guess: str) -> dict:
    call = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "status": "completed"}
    return {**call, "name": "say", "arguments": json.dumps({"message": f"[{guess}]"})}


def model_app() -> FastAPI:
    """A model that says its guesses, by the tool where there is one."""
    app = FastAPI()

    @app.post("/v1/responses")
    @app.post("/ng-rollout/{rollout}/v1/responses")
    async def responses(request: Request) -> dict:
        body = await request.json()
        given = [item for item in body["input"] if isinstance(item, dict)]
        by_tool = any(tool["name"] == "say" for tool in body.get("tools") or [])
        kind = "function_call" if by_tool else "message"
        made = sum(item.get("type") == kind and item.get("role", "assistant") == "assistant" for item in given)
        if made >= len(GUESSES):
            output = item_text("I am done.")
        else:
            output = item_call(made, GUESSES[made]) if by_tool else item_text(f"[{GUESSES[made]}]")
        return {
            "id": f"resp_{made}",
            "created_at": 1.0,
            "model": "scripted",
            "object": "response",
            "output": [output],
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": body.get("tools") or [],
        }

    return app


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def check_contract(url: str, row: dict) -> None:
    from nemo_gym.base_resources_server import ResourcesSeedSessionRequest
    from nemo_gym.testing.session_conformance import check_resources_session_contract

    # The helper plays an app in its own process; this one is elsewhere.
    fastapi.testclient.TestClient = lambda app, **_: httpx.Client(base_url=app, timeout=60)
    seed = ResourcesSeedSessionRequest(
        resources_session_id="contract",
        episode_id={"rollout_id": "contract", "attempt": 0},
        task_id={"taskset": "wordle", "task_id": row["task_id"]},
        task_data={key: value for key, value in row.items() if key != "responses_create_params"},
    )
    try:
        check_resources_session_contract(url, seed, keeps_state=True)
        tell("session contract", True)
    except AssertionError as error:
        tell("session contract", False, str(error))


def check_config(path: Path) -> None:
    from nemo_gym.config_types import maybe_get_server_instance_config
    from omegaconf import OmegaConf

    problems = {}
    for name, entry in OmegaConf.load(path).items():
        # NeMo Gym gives each server its place before it looks at it.
        inner = next(iter(next(iter(entry.values())).values()))
        inner.update({"host": "127.0.0.1", "port": 1})
        config, error = maybe_get_server_instance_config(name, entry)
        if config is None:
            problems[name] = str(error)
            continue
        for dataset in config.datasets or []:
            if not (path.parents[3] / dataset.jsonl_fpath).is_file():
                problems[dataset.name] = "its rows are not there"
    tell("configuration", not problems, problems)


async def play(url: str, folder: Path) -> None:
    ports = {name: free_port() for name in ("model", "simple", "gymnasium", "environment")}
    place = urlsplit(url)

    def entry(kind: str, name: str, port: int, host: str = "127.0.0.1", **more: object) -> dict:
        return {kind: {name: {"entrypoint": "app.py", "host": host, "port": port, **more}}}

    config = {
        "wordle": entry("resources_servers", "wordle", place.port, place.hostname, domain="games"),
        "model": entry("responses_api_models", "model", ports["model"]),
        "simple": entry("responses_api_agents", "simple_agent", ports["simple"]),
        "gymnasium": entry("responses_api_agents", "gymnasium_agent", ports["gymnasium"]),
        "environment": entry("environment_servers", "single_agent_turn", ports["environment"]),
    }
    os.environ["NEMO_GYM_CONFIG_DICT"] = json.dumps(config)

    from environment_servers.single_agent_turn.app import SingleAgentTurnEnvironmentServer
    from nemo_gym.config_types import BaseServerConfig
    from nemo_gym.server_utils import GlobalAIOHTTPAsyncClientConfig, ServerClient, set_global_aiohttp_client
    from nemo_gym.task_materialization import materialize_task
    from omegaconf import OmegaConf
    from responses_api_agents.gymnasium_agent.app import GymnasiumAgent
    from responses_api_agents.simple_agent.app import SimpleAgent

    set_global_aiohttp_client(GlobalAIOHTTPAsyncClientConfig())
    client = ServerClient(
        head_server_config=BaseServerConfig(host="127.0.0.1", port=free_port()),
        global_config_dict=OmegaConf.create(config),
    )

    def server(kind: type, name: str, **fields: object) -> FastAPI:
        wanted = kind.model_fields["config"].annotation
        base = {"name": name, "host": "127.0.0.1", "port": ports[name], "entrypoint": "app.py"}
        return kind(config=wanted.model_validate(base | fields), server_client=client).setup_webserver()

    resources = {"type": "resources_servers", "name": "wordle"}
    model = {"type": "responses_api_models", "name": "model"}
    apps = {
        "model": model_app(),
        "simple": server(SimpleAgent, "simple", resources_server=resources, model_server=model),
        "gymnasium": server(
            GymnasiumAgent, "gymnasium", resources_server=resources, model_server=model, max_steps=1000
        ),
        "environment": server(
            SingleAgentTurnEnvironmentServer,
            "environment",
            resources_server=resources,
            agent_server={"type": "responses_api_agents", "name": "simple"},
            resources_tool_transports=["direct_http"],
            cleanup_timeout_seconds=60,
        ),
    }
    servers = [
        uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=ports[name], log_level="warning"))
        for name, app in apps.items()
    ]
    running = [asyncio.create_task(one.serve()) for one in servers]
    while not all(one.started for one in servers):
        await asyncio.sleep(0.05)

    async with httpx.AsyncClient(timeout=120) as http:
        simple, steps = rows_of(folder / "test.jsonl"), rows_of(folder / "test-gymnasium.jsonl")
        for index in range(2):
            row, stepped = simple[index], steps[index]
            runs = {
                "simple_agent": ("simple", row),
                "gymnasium_agent": ("gymnasium", stepped),
                "single_agent_turn": (
                    "environment",
                    {
                        "episode_id": {"rollout_id": f"rollout-{index}", "attempt": 0},
                        "task": materialize_task(row, taskset="wordle"),
                    },
                ),
            }
            rewards = {}
            for name, (to, body) in runs.items():
                answer = await http.post(f"http://127.0.0.1:{ports[to]}/run", json=body)
                found = answer.json() if answer.status_code == 200 else {"status": answer.text[:500]}
                result = found.get("result", found) if isinstance(found, dict) else {}
                masked = (result or {}).get("mask_sample")
                rewards[name] = (result or {}).get("reward")
                ok = answer.status_code == 200 and masked is False and isinstance(rewards[name], float)
                tell(f"{name} {row['task_id']}", ok, None if ok else found)
                if name == "simple_agent" and ok:
                    await aggregate(http, f"{url}/aggregate_metrics", result)
            tell(f"the same reward by each, {row['task_id']}", len(set(rewards.values())) == 1, rewards)

    for one in servers:
        one.should_exit = True
    await asyncio.gather(*running)


async def aggregate(http: httpx.AsyncClient, url: str, result: dict) -> None:
    from nemo_gym.config_types import AggregateMetrics

    answer = await http.post(url, json={"verify_responses": [result, result | {"mask_sample": True}]})
    metrics = AggregateMetrics.model_validate(answer.json())
    ok = metrics.key_metrics.get("mean/reward") == result["reward"]
    tell("aggregate_metrics", ok and metrics.key_metrics["coverage/masked_rollouts"] == 1, answer.json())


if __name__ == "__main__":
    address, rows = sys.argv[1], Path(sys.argv[2])
    check_contract(address, rows_of(rows / "test.jsonl")[0])
    check_config(rows.parent / "configs" / "wordle.yaml")
    asyncio.run(play(address, rows))
