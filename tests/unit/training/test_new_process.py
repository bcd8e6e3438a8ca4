"""Settings that decide numbers, in a new process: what a run begins with in a program that has changed them."""

from __future__ import annotations

import subprocess
import sys

CODE = """
from seqsearch.training.process import KEEP, settings
print([(s.name, s.read(), s.new) for s in settings() if s.new is not KEEP and s.read() != s.new])
print(len([s for s in settings() if s.new is not KEEP]))
"""


def test_a_new_process_has_the_values_that_are_said_to_be_new() -> None:
    said = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True).stdout.splitlines()
    assert said[0] == "[]"
    assert int(said[1]) > 10
