"""Lines on stderr: what takes long says so, in lines that end in " ..."; all others are messages."""

from __future__ import annotations


def messages(stderr: str) -> list[str]:
    """Lines that are no notices of what is going on."""
    return [line for line in stderr.splitlines() if not line.endswith(" ...")]
