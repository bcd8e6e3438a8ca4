"""Commands of seqsearch in this process, which has imported already what a process of their own would take seconds for."""

from __future__ import annotations

from typing import Any

from click.testing import CliRunner, Result

from protocols.cli.main import main


def seqsearch_here(*arguments: Any) -> Result:
    """Run a command to its good end."""
    ended = CliRunner().invoke(main, list(map(str, arguments)))
    assert ended.exit_code == 0, ended.output
    return ended
