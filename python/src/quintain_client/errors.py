"""What can go wrong, by who should do something about it. None of these is ever a number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """Something that is nobody's score: whose it is, where it happened, whether another try may help."""

    owner: str
    stage: str
    code: str
    message: str
    retryable: bool


class QuintainError(Exception):
    """Base of everything that this package raises. `code` is stable, the message is for people."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class InfrastructureError(QuintainError):
    """The server, the world or a grader failed, or cannot be reached. The episode has no score."""

    def __init__(self, message: str, *, code: str = "infrastructure", fault: Fault | None = None) -> None:
        super().__init__(message, code=code)
        self.fault = fault


class SessionGone(QuintainError):
    """The session was closed, has expired, or is of a server that is no more."""


class AtCapacity(QuintainError):
    """As many sessions are open as may be, or the server takes no more (`code` is `draining` then)."""


class Refused(QuintainError):
    """The request cannot be carried out as it is: a task that does not exist, a wrong token, a seed that cannot be had."""


class EpisodeOver(Refused):
    """The step was not carried out, since the episode had ended. `grade()` says what it earned."""


class Unscored(QuintainError):
    """The episode has no number, and that is nobody's fault. `code` is the public reason."""

    def __init__(self, message: str, *, code: str, outcome: str, metrics: dict[str, float | None]) -> None:
        super().__init__(message, code=code)
        self.outcome = outcome
        self.metrics = metrics
