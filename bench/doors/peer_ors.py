"""Both environments behind the server of ors-sdk: python peer_ors.py KIND PORT"""

import sys

from pydantic import BaseModel

from games import Counter, Game
from ors import Environment, Server, tool
from ors.types import Split, TextBlock, ToolOutput

kind, port = sys.argv[1], int(sys.argv[2])


class Say(BaseModel):
    message: str


class Add(BaseModel):
    by: int


class Base(Environment):
    def get_prompt(self):
        return [TextBlock(text="Play.")]

    @classmethod
    def list_tasks(cls, split: str):
        return [{"id": str(i)} for i in range(64)]

    @classmethod
    def list_splits(cls):
        return [Split(name="train", type="train")]

    def output(self, text: str, done: bool) -> ToolOutput:
        reward = self.game.reward() if done else None
        return ToolOutput(blocks=[TextBlock(text=text)], reward=reward, finished=done)


class Wordle(Base):
    def __init__(self, task_spec={}, secrets={}):
        super().__init__(task_spec, secrets)
        self.game = Game()

    @tool
    async def say(self, params: Say) -> ToolOutput:
        """Says something to the other side, and gives its answer."""
        return self.output(*self.game.say(params.message))


class Counting(Base):
    def __init__(self, task_spec={}, secrets={}):
        super().__init__(task_spec, secrets)
        self.game = Counter()

    @tool
    async def add(self, params: Add) -> ToolOutput:
        """Adds to the counter."""
        return self.output(*self.game.add(params.by))


Server([Wordle if kind == "wordle" else Counting]).run(host="127.0.0.1", port=port)
