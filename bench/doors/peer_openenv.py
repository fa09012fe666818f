"""Both environments behind the server of OpenEnv: python peer_openenv.py KIND PORT [quickest]

As OpenEnv's users write them: a tool of an `MCPEnvironment`, whose observations are those of our door; and what `openenv init`
makes, whose methods are synchronous, for what answers what is said. `quickest`: with asynchronous methods, no MCP and an
observation of one text, which is all that its server can be spared.
"""

import sys
from typing import Any, Dict

import uvicorn
from fastmcp import FastMCP

from games import Counter, Game
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app
from openenv.core.env_server.mcp_environment import MCPEnvironment
from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation

kind, port = sys.argv[1], int(sys.argv[2])
quickest = sys.argv[3:] == ["quickest"]


class SayAction(Action):
    message: str


class AddAction(Action):
    type: str = "call_tool"
    tool_name: str
    arguments: Dict[str, Any] = {}


class Said(Observation):
    message: str = ""


class Base(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self._state = State()

    @property
    def state(self):
        return self._state


class Usual(Base):
    def reset(self, seed=None, episode_id=None, **kwargs):
        self.game = Game()
        return Said(message="Play.", reward=None, done=False)

    def step(self, action, timeout_s=None, **kwargs):
        text, done = self.game.say(action.message)
        return Said(message=text, reward=self.game.reward() if done else None, done=done)


class UsualTool(MCPEnvironment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        server = FastMCP("counter")

        @server.tool
        def add(by: int) -> str:
            """Adds to the counter."""
            text, self.done = self.game.add(by)
            return text

        super().__init__(server)
        self._state = State()

    async def reset_async(self, seed=None, episode_id=None, **kwargs):
        return self.reset()

    def reset(self, seed=None, episode_id=None, **kwargs):
        self.game, self.done = Counter(), False
        return Observation(reward=None, done=False)

    async def step_async(self, action, timeout_s=None, **kwargs):
        observation = await super().step_async(action, timeout_s=timeout_s, **kwargs)
        observation.done = self.done
        observation.reward = self.game.reward() if self.done else None
        return observation

    def _step_impl(self, action, timeout_s=None, **kwargs):
        raise NotImplementedError

    @property
    def state(self):
        return self._state


class Quickest(Base):
    async def reset_async(self, seed=None, episode_id=None, **kwargs):
        self.game = Game() if kind == "wordle" else Counter()
        return Said(message="Play.", reward=None, done=False)

    async def step_async(self, action, timeout_s=None, **kwargs):
        text, done = self.game.say(action.message) if kind == "wordle" else self.game.add(action.arguments["by"])
        return Said(message=text, reward=self.game.reward() if done else None, done=done)

    def reset(self, seed=None, episode_id=None, **kwargs):
        raise NotImplementedError

    def step(self, action, timeout_s=None, **kwargs):
        raise NotImplementedError


if kind == "wordle":
    app = create_fastapi_app(Quickest if quickest else Usual, SayAction, Said, max_concurrent_envs=1024)
elif quickest:
    app = create_fastapi_app(Quickest, AddAction, Said, max_concurrent_envs=1024)
else:
    app = create_fastapi_app(UsualTool, CallToolAction, CallToolObservation, max_concurrent_envs=1024)
uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning", access_log=False)
