"""The clients with the real server. QUINTAIN_COMMAND is the command before `serve`, QUINTAIN_CWD the folder in which
`environments/wordle` is found; without them nothing is tried."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from quintain_client import (
    AsyncClient,
    Client,
    EpisodeOver,
    InfrastructureError,
    Patience,
    Refused,
    Served,
    Server,
    SessionGone,
    serve_command,
    shared_client,
)

COMMAND = shlex.split(os.environ.get("QUINTAIN_COMMAND", ""))
CWD = os.environ.get("QUINTAIN_CWD")
QUICK = Patience(tries=2, first_pause=0.05)


def command(folder: str) -> list[str]:
    return serve_command("environments/wordle", "--out", os.path.join(folder, "run"), quintain=COMMAND)


@unittest.skipUnless(COMMAND and CWD, "no command to serve with")
class WithServer(unittest.TestCase):
    server: Server
    folder: tempfile.TemporaryDirectory[str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.server = Server.start(command=command(cls.folder.name), cwd=CWD)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.server.stop()
        cls.folder.cleanup()

    def client(self) -> Client:
        return Client(self.server.url, token=self.server.token)

    def test_a_game_is_played(self) -> None:
        with self.client() as client, client.create(split="test", index=0) as session:
            self.assertTrue(session.opening.replies)
            self.assertEqual([message["role"] for message in session.opening.messages], ["system", "user"])
            first = session.say("[crane]", id="one")
            self.assertIn("You have 5 guesses left.", first.text)
            self.assertEqual(session.say("[crane]", id="one"), first)
            words = ("[slate]", "[audio]", "[plumb]", "[fight]", "[dowry]")
            ended = [step.done for step in map(session.say, words)]
            self.assertEqual(ended[:4], [None] * 4)
            self.assertIn(ended[4], ("won", "lost"))
            verdict = session.grade()
            self.assertEqual(session.grade(), verdict)
            self.assertEqual(set(verdict.rewards), {"game"})
            self.assertEqual(verdict.success, ended[4] == "won")
            self.assertEqual(verdict.reward, verdict.rewards["game"])
            self.assertEqual((verdict.outcome, verdict.stop), ("env_done", ended[4]))
            with self.assertRaises(EpisodeOver):
                session.say("[crane]")
        with self.assertRaises(SessionGone):
            with self.client() as client:
                session._client = client
                session.grade()

    def test_tasks_and_environments_are_listed(self) -> None:
        with self.client() as client:
            environment = client.environment()
            self.assertEqual((environment.slug, dict(environment.rewards)), ("wordle", {"game": 1}))
            size = next(split.tasks for split in environment.splits if split.name == "test")
            self.assertEqual(len(list(client.tasks("test", page=100))), size)
            self.assertEqual([task.index for task in client.tasks("test", start=2, stop=4)], [2, 3])

    def test_what_cannot_be_had_is_refused(self) -> None:
        with self.client() as client:
            for wrong in ({"task": "nothing"}, {"split": "none", "index": 0}, {"task": "test-0-000", "seed": 9}):
                with self.assertRaises(Refused):
                    client.create(**wrong)
        with Client(self.server.url, token="wrong") as client, self.assertRaises(Refused):
            client.environment()

    def test_many_are_played_at_once(self) -> None:
        async def one(client: AsyncClient, index: int) -> float:
            async with await client.create(split="test", index=index) as session:
                while (await session.say("[crane]")).done is None:
                    pass
                return (await session.grade()).reward

        async def run() -> list[float]:
            async with AsyncClient(self.server.url, token=self.server.token) as client:
                return await asyncio.gather(*(one(client, index) for index in range(20)))

        self.assertEqual(len(asyncio.run(run())), 20)

    def test_another_environment_is_refused(self) -> None:
        async def run(digest: str) -> None:
            served = Served("wordle", digest, "environments/wordle", url=self.server.url)
            await (await shared_client(served)).close()

        os.environ["QUINTAIN_TOKEN"] = self.server.token
        self.addCleanup(os.environ.pop, "QUINTAIN_TOKEN")
        with self.client() as client:
            digest = client.environment().digest
        asyncio.run(run(digest))
        with self.assertRaises(Refused) as context:
            asyncio.run(run("0" * 64))
        self.assertEqual(context.exception.code, "other_environment")


@unittest.skipUnless(COMMAND and CWD, "no command to serve with")
class Ends(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_a_server_that_dies_is_an_error(self) -> None:
        server = Server.start(command=command(self.folder), cwd=CWD)
        with Client(server.url, token=server.token, patience=QUICK) as client:
            session = client.create(split="test", index=0)
            session.say("[crane]")
            os.killpg(server._process.pid, signal.SIGKILL)
            for act in (lambda: session.say("[slate]"), session.grade):
                with self.assertRaises(InfrastructureError):
                    act()
            session.close()
        server.stop()

    def test_the_server_ends_with_a_process_that_is_killed(self) -> None:
        script = (
            "import sys, time\nfrom quintain_client import Server\n"
            "server = Server.start(command=sys.argv[1:])\n"
            "print(server._process.pid, flush=True)\ntime.sleep(600)"
        )
        words = [sys.executable, "-c", script, *command(self.folder)]
        with subprocess.Popen(words, cwd=CWD, stdout=subprocess.PIPE) as python:
            assert python.stdout is not None
            pid = int(python.stdout.readline())
            python.kill()
        self.assertTrue(_is_gone(pid, 60))


class Starting(unittest.TestCase):
    def test_what_does_not_start_says_why(self) -> None:
        script = "import sys; print('out'); print('because', file=sys.stderr); sys.exit(3)"
        with self.assertRaises(InfrastructureError) as context:
            Server.start(command=[sys.executable, "-c", script])
        self.assertIn("because", str(context.exception))
        with self.assertRaises(InfrastructureError):
            Server.start(command=["no-such-command"])

    def test_what_is_not_ready_in_time_is_ended_with_all_that_it_started(self) -> None:
        script = (
            "import subprocess, sys, time\n"
            "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
            "print(child.pid, flush=True)\ntime.sleep(600)"
        )
        with self.assertRaises(InfrastructureError) as context:
            Server.start(command=[sys.executable, "-c", script], timeout=3)
        pid = int(str(context.exception).splitlines()[-1])
        self.assertTrue(_is_gone(pid, 20))


def _is_gone(pid: int, seconds: float) -> bool:
    """Whether a process has ended, or will within some seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            with open(f"/proc/{pid}/stat") as stat:
                if stat.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.1)
    return False


if __name__ == "__main__":
    unittest.main()
