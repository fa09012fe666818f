"""Both environments behind a resources server of nemo-gym: python peer_nemo_gym.py KIND PORT"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "conformance" / "nemo-gym"))

import stand_ins

stand_ins.install()

from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from nemo_gym.base_resources_server import BaseResourcesServerConfig, SimpleResourcesServer
from nemo_gym.server_utils import SESSION_ID_KEY
from pydantic import BaseModel

from games import Counter, Game

kind, port = sys.argv[1], int(sys.argv[2])
games: dict[str, Any] = {}


class Say(BaseModel):
    message: str


class Add(BaseModel):
    by: int


class Played(SimpleResourcesServer):
    def setup_webserver(self) -> FastAPI:
        app = super().setup_webserver()
        if kind == "wordle":
            app.post("/say")(self.say)
        else:
            app.post("/add")(self.add)
        return app

    async def seed_session(self, request: Request) -> dict:
        games[request.session[SESSION_ID_KEY]] = Game() if kind == "wordle" else Counter()
        return {}

    async def close_resources_session(self, request: Request) -> dict:
        games.pop(request.session[SESSION_ID_KEY], None)
        return {}

    async def say(self, request: Request, body: Say) -> str:
        return games[request.session[SESSION_ID_KEY]].say(body.message)[0]

    async def add(self, request: Request, body: Add) -> str:
        return games[request.session[SESSION_ID_KEY]].add(body.by)[0]

    # What the agent sent is not read, which is their faster way: a real one takes it apart with pydantic.
    async def verify(self, request: Request) -> dict:
        reward = games[request.session[SESSION_ID_KEY]].reward()
        return {"reward": reward, "mask_sample": False, "failure_kind": None}


config = BaseResourcesServerConfig(name="played", host="127.0.0.1", port=port, entrypoint="")
server = Played.model_construct(config=config, server_client=None)
uvicorn.run(server.setup_webserver(), host="127.0.0.1", port=port, log_level="warning", access_log=False, loop="asyncio")
