"""Signals, in processes of their own: a flag, and what the handler does beside it."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BEGIN = """
import os, signal, sys, time
from seqsearch.core import stop
def end(number):
    print("ended", flush=True)
    os._exit(128 + number)
def send(number=signal.SIGTERM):
    os.kill(os.getpid(), number)
stop.install(end)
"""


def process(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BEGIN + textwrap.dedent(code)], capture_output=True, text=True, timeout=60, cwd=ROOT
    )


def test_what_begins_is_expendable_and_then_it_waits_for_a_place_to_leave() -> None:
    said = process("""
        with stop.deferred():
            send()
            print("goes on", stop.requested())
            try:
                stop.check()
            except KeyboardInterrupt as error:
                print(type(error).__name__)
    """)
    assert said.stdout.split("\n")[:2] == ["goes on 15", "Stopped"]
    assert process("send()\nprint('goes on')").stdout == "ended\n"


def test_only_what_may_be_interrupted_is() -> None:
    said = process("""
        try:
            with stop.interruptible():
                with stop.deferred():
                    send()
                    print("whole")
                print("not looked")
                stop.check()
        except stop.Stopped:
            print("left")
        try:
            with stop.deferred(), stop.interruptible():
                print("never begun")
        except stop.Stopped:
            print("refused")
    """)
    assert said.stdout.split("\n")[:4] == ["whole", "not looked", "left", "refused"]
    said = process("""
        with stop.deferred():
            try:
                with stop.interruptible():
                    send(signal.SIGINT)
                    time.sleep(100)
            except KeyboardInterrupt:
                print("at once", stop.requested())
    """)
    assert said.stdout == "at once 2\n"


def test_a_second_signal_ends_at_once_but_not_one_that_is_passed_on() -> None:
    said = process("""
        with stop.deferred():
            send()
            send()  # told to the whole group, and passed on by a parent
            send(signal.SIGINT)
            print("goes on", flush=True)
            stop.AGAIN_AFTER = 0.0
            send(signal.SIGINT)
            print("too far")
    """)
    assert (said.stdout, said.returncode) == ("goes on\nended\n", 130)


def test_a_forked_child_dies_of_it_and_what_is_ignored_stays_ignored() -> None:
    said = process("""
        with stop.deferred():
            ready, up = os.pipe()
            child = os.fork()
            if not child:
                os.write(up, b"1")  # Python forgets what comes while it forks
                time.sleep(100)
                os._exit(0)
            os.read(ready, 1)
            os.kill(child, signal.SIGTERM)
            print(os.waitpid(child, 0)[1], stop.requested())
    """)
    assert said.stdout == "15 0\n"
    code = BEGIN.replace("stop.install", "signal.signal(signal.SIGHUP, signal.SIG_IGN)\nstop.install")
    ignoring = subprocess.run(
        [sys.executable, "-c", code + "send(signal.SIGHUP)\nprint('goes on')"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
    )
    assert ignoring.stdout == "goes on\n"


def test_what_is_done_is_done() -> None:
    said = process("""
        import atexit
        atexit.register(lambda: (send(), send(signal.SIGINT), print("exits")))
        class Last:
            def __del__(self, send=send):  # when Python is taken apart
                send()
        stop.kept = Last()
        stop.over()
    """)
    assert (said.stdout, said.returncode) == ("exits\n", 0)


def test_a_closed_terminal_can_be_written_to(tmp_path: Path) -> None:
    """Its last words go nowhere; to write them raises nothing."""
    child, terminal = pty.fork()
    if not child:
        code = BEGIN + textwrap.dedent(f"""
            with stop.deferred():
                print("ready", flush=True)
                while not stop.requested():
                    time.sleep(0.01)
                print("to nobody", flush=True)
                print("to nobody", flush=True, file=sys.stderr)
                open({str(tmp_path / "whole")!r}, "w").close()
                os._exit(3)
        """)
        os.chdir(ROOT)
        os.execv(sys.executable, [sys.executable, "-c", code])
    assert b"ready" in os.read(terminal, 100)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    assert (tmp_path / "whole").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_nothing_is_asked_of_a_process_that_installed_nothing(number: signal.Signals) -> None:
    from seqsearch.core import stop

    assert not stop.requested()
    stop.check()
    assert getattr(signal.getsignal(number), "__module__", "") != stop.__name__
