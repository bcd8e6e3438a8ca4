"""What a check reports of one contract."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One contract.

    Attributes:
        asks: its condition.
        wrong: the break in words; empty if there is none.
        tested: False if the contract could not be tested.
        warns: the finding is a warning, and breaks no contract.
    """

    contract: str
    asks: str
    wrong: str
    tested: bool = True
    warns: bool = False
