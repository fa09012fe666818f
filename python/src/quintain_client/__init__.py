"""Play episodes of Quintain environments from Python."""

from .async_client import AsyncClient, AsyncSession
from .client import Client, Session
from .errors import (
    AtCapacity,
    EpisodeOver,
    Fault,
    InfrastructureError,
    QuintainError,
    Refused,
    SessionGone,
    Unscored,
)
from .exchange import PROTOCOL, Patience
from .server import Server, serve_command
from .shared import Address, Served, address_of, shared_client
from .values import (
    Content,
    Environment,
    Opening,
    Split,
    Step,
    Task,
    ToolSpec,
    Verdict,
    openai_content,
    openai_message,
    text_of,
)

__all__ = [
    "PROTOCOL",
    "Address",
    "AsyncClient",
    "AsyncSession",
    "AtCapacity",
    "Client",
    "Content",
    "Environment",
    "EpisodeOver",
    "Fault",
    "InfrastructureError",
    "Opening",
    "Patience",
    "QuintainError",
    "Refused",
    "Served",
    "Server",
    "Session",
    "SessionGone",
    "Split",
    "Step",
    "Task",
    "ToolSpec",
    "Unscored",
    "Verdict",
    "address_of",
    "openai_content",
    "openai_message",
    "serve_command",
    "shared_client",
    "text_of",
]
