"""The clients against a server that fails in every way."""

from __future__ import annotations

import asyncio
import unittest
from collections.abc import Callable
from typing import Any

from quintain_client import (
    AsyncClient,
    AtCapacity,
    Client,
    EpisodeOver,
    InfrastructureError,
    Patience,
    Refused,
    SessionGone,
    Unscored,
)

from .fake_server import DROP, GARBAGE, HALF, PAGE, PENDING, SESSION, STEP, FakeServer, error, ok

QUICK = Patience(tries=4, first_pause=0.01, longest_pause=0.02)
FAULT = {"owner": "judge", "stage": "grade", "code": "timeout", "message": "late", "retryable": True}


def verdict(**more: Any) -> dict[str, Any]:
    scored = {"kind": "scored", "reward": 0.5, "success": None, "rewards": {"a": 0.5}, "metrics": {}}
    return ok({**scored, "outcome": "completed", **more})


def sync_session(url: str, act: Callable[..., Any]) -> Any:
    with Client(url, patience=QUICK) as client:
        return act(client.create("t"))


def async_session(url: str, act: Callable[..., Any]) -> Any:
    async def run() -> Any:
        async with AsyncClient(url, patience=QUICK) as client:
            return await act(await client.create("t"))

    return asyncio.run(run())


class Faults(unittest.TestCase):
    """Each case with both clients."""

    def both(self, behaviours: list[dict[str, Any]], act: Callable[..., Any], check: Callable[..., None]) -> None:
        for play in (sync_session, async_session):
            with self.subTest(play.__name__), FakeServer(ok(SESSION), *behaviours) as server:
                check(lambda: play(server.url, act), server)

    def raises(self, kind: type[Exception], behaviours: list[dict[str, Any]], act: Callable[..., Any]) -> Exception:
        caught: list[Exception] = []

        def check(play: Callable[[], Any], _: FakeServer) -> None:
            with self.assertRaises(kind) as context:
                play()
            caught.append(context.exception)

        self.both(behaviours, act, check)
        return caught[-1]

    def test_what_breaks_on_the_way_is_sent_again_under_the_same_id(self) -> None:
        def check(play: Callable[[], Any], server: FakeServer) -> None:
            self.assertEqual(play().text, "yes")
            steps = [body for _, path, body in server.seen if path.endswith("/call")]
            self.assertEqual(len(steps), 4)
            self.assertEqual([step == steps[0] for step in steps], [True] * 4)
            self.assertTrue(steps[0]["id"])

        for broken in (DROP, GARBAGE, HALF, PAGE, error(500, "server_failed"), error(429, "busy")):
            self.both([broken] * 3 + [ok(STEP)], lambda session: session.call("add", {"by": 1}), check)

    def test_what_stays_broken_is_an_error_of_the_infrastructure(self) -> None:
        for broken in (DROP, GARBAGE, HALF, PAGE, error(500, "server_failed")):
            for act in (lambda session: session.grade(), lambda session: session.say("x")):
                self.raises(InfrastructureError, [broken], act)

    def test_no_server_is_an_error_of_the_infrastructure(self) -> None:
        with FakeServer(ok(SESSION)) as server:
            url = server.url
        with Client(url, patience=QUICK) as client, self.assertRaises(InfrastructureError) as context:
            client.create("t")
        self.assertEqual(context.exception.code, "unreachable")

    def test_what_takes_long_is_asked_for_again(self) -> None:
        def check(play: Callable[[], Any], server: FakeServer) -> None:
            self.assertEqual(play().text, "yes")
            self.assertEqual(len({str(body) for _, path, body in server.seen if path.endswith("/act")}), 1)

        self.both([PENDING] * 10 + [ok(STEP)], lambda session: session.say("x"), check)

    def test_what_the_server_decided_is_not_asked_again(self) -> None:
        for kind, behaviour in (
            (SessionGone, error(410, "session_gone")),
            (SessionGone, error(404, "session_unknown")),
            (EpisodeOver, error(409, "episode_over")),
            (Refused, error(409, "call_conflict")),
            (Refused, error(401, "unauthorized")),
            (AtCapacity, error(503, "draining")),
            (InfrastructureError, error(502, "infrastructure", fault=FAULT)),
        ):
            found = self.raises(kind, [behaviour, ok(STEP)], lambda session: session.say("x"))
            self.assertIn("it says", str(found))

    def test_a_fault_keeps_its_facts(self) -> None:
        act = lambda session: session.grade()  # noqa: E731
        for behaviour in (ok({"kind": "failed", "fault": FAULT}), error(502, "infrastructure", fault=FAULT)):
            found = self.raises(InfrastructureError, [behaviour], act)
            assert isinstance(found, InfrastructureError) and found.fault is not None
            self.assertEqual((found.fault.owner, found.fault.code, found.fault.retryable), ("judge", "timeout", True))

    def test_what_has_no_number_gives_none(self) -> None:
        act = lambda session: session.grade("x")  # noqa: E731
        unscored = ok({"kind": "unscored", "reason": "no_tests", "outcome": "completed", "metrics": {"n": 1}})
        found = self.raises(Unscored, [unscored], act)
        assert isinstance(found, Unscored)
        self.assertEqual((found.code, found.metrics), ("no_tests", {"n": 1}))
        for nonsense in (verdict(reward=None), verdict(reward="0"), verdict(reward=True), verdict(kind="odd"), ok({})):
            self.raises(InfrastructureError, [nonsense], act)

    def test_a_verdict_is_read(self) -> None:
        def check(play: Callable[[], Any], _: FakeServer) -> None:
            found = play()
            self.assertEqual((found.reward, found.success, dict(found.rewards)), (0.5, None, {"a": 0.5}))

        self.both([verdict()], lambda session: session.grade(), check)

    def test_half_a_character_reaches_the_server(self) -> None:
        def check(play: Callable[[], Any], server: FakeServer) -> None:
            play()
            self.assertEqual(server.seen[-1][2]["content"], "\ud83d")

        self.both([ok(STEP)], lambda session: session.say("\ud83d"), check)


class Creating(unittest.TestCase):
    def test_a_full_server_is_waited_for_when_asked(self) -> None:
        full = error(429, "at_capacity")
        with FakeServer(full, ok(SESSION)) as server, Client(server.url) as client:
            client.create("t", wait=30)
            keys = {body["key"] for _, _, body in server.seen}
            self.assertEqual((len(server.seen), len(keys)), (2, 1))
        with FakeServer(full) as server, Client(server.url) as client, self.assertRaises(AtCapacity):
            client.create("t")

    def test_a_wrong_token_is_refused(self) -> None:
        with FakeServer(ok(SESSION), token="right") as server:
            for token in (None, "wrong"):
                with Client(server.url, token=token) as client, self.assertRaises(Refused) as context:
                    client.create("t")
                self.assertEqual(context.exception.code, "unauthorized")
            with Client(server.url, token="right") as client:
                client.create("t")

    def test_a_task_is_named_in_one_way(self) -> None:
        with FakeServer(ok(SESSION)) as server, Client(server.url) as client:
            client.create(split="test", index=2)
            client.create(pick="a", split="test")
            self.assertEqual(
                [body["task"] for _, _, body in server.seen],
                [{"split": "test", "index": 2}, {"seed": "a", "split": "test"}],
            )
            for wrong in ({}, {"split": "test"}, {"task": "t", "index": 1}, {"task": "t", "pick": "a"}):
                with self.assertRaises(ValueError):
                    client.create(**wrong)

    def test_another_protocol_is_refused(self) -> None:
        other = ok({"protocol": 2, "environments": []})
        with FakeServer(other) as server, Client(server.url) as client, self.assertRaises(Refused) as context:
            client.environment()
        self.assertEqual(context.exception.code, "other_protocol")


if __name__ == "__main__":
    unittest.main()
