"""Both environments behind the server of OpenEnv: python peer_openenv.py KIND PORT"""

import sys
from typing import Any, Dict

import uvicorn

from games import Counter, Game
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app

kind, port = sys.argv[1], int(sys.argv[2])


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

    def fresh(self):
        return Game() if kind == "wordle" else Counter()

    # Asynchronous, so that no thread stands between the socket and the game: their faster way.
    async def reset_async(self, seed=None, episode_id=None, **kwargs):
        self.game = self.fresh()
        return Said(message="Play.", reward=None, done=False)

    async def step_async(self, action, timeout_s=None, **kwargs):
        text, done = self.game.say(action.message) if kind == "wordle" else self.game.add(action.arguments["by"])
        return Said(message=text, reward=self.game.reward() if done else None, done=done)

    def reset(self, seed=None, episode_id=None, **kwargs):
        raise NotImplementedError

    def step(self, action, timeout_s=None, **kwargs):
        raise NotImplementedError

    @property
    def state(self):
        return self._state


app = create_fastapi_app(Base, SayAction if kind == "wordle" else AddAction, Said, max_concurrent_envs=1024)
uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning", access_log=False)
