"""The counter behind HUD's Environment and an MCP server of its own process: python peer_hud.py KIND PORT"""

import asyncio
import contextlib
import sys

from hud.capabilities import Capability
from hud.environment import Environment
from hud.environment.server import serve
from mcp.server.fastmcp import FastMCP

kind, port = sys.argv[1], int(sys.argv[2])
mcp = FastMCP("counter", host="127.0.0.1", port=port + 1, log_level="WARNING", stateless_http=False)


@mcp.tool()
async def add(by: int) -> str:
    """Adds to the counter."""
    return f"The counter is at {by}."


env = Environment(
    name="counter",
    capabilities=[Capability(name="tools", protocol="mcp/2025-11-25", url=f"http://127.0.0.1:{port + 1}/mcp")],
)


@env.template()
async def train(id: str = "0"):
    yield "Play."
    yield 1.0


async def main():
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.gather(mcp.run_streamable_http_async(), serve(env, "127.0.0.1", port))


asyncio.run(main())
