"""How the shift S of an online run came about, in words."""

from __future__ import annotations

from typing import Any, TypeGuard

from protocols.online.summary import Summary
from protocols.report.online_blind import is_share, setting, tolerance
from seqsearch.core.typed import fits

PAPER_SETS = ("cglm", "cloc")


def _by_rule(s: Summary) -> str:
    """What the rule says of the search part, where S was named."""
    said = s.run.shift.get("by_rule")
    rule = said.get("shift") if isinstance(said, dict) else None
    if not isinstance(rule, int) or isinstance(rule, bool) or rule < 0:
        return (
            "on the search part the rule finds no shift, so that labels may still tell of each other S samples apart; intervals "
            "and verdicts may be too sure."
        )
    if rule > s.shift:
        return (
            f"on the search part the rule gives {rule:,}. Labels hang together beyond S, blocks may be too short, and "
            "intervals and verdicts may be too sure."
        )
    return f"on the search part the rule gives {rule:,}."


def how_chosen(s: Summary) -> str:
    """How S came about."""
    asked = str(setting(s, "shift") or "")
    if s.run.shift.get("named") is True or asked not in ("", "auto"):
        given = f" as {asked}, the paper's for that data set" if asked in PAPER_SETS else ""
        return f"S = {s.shift:,} was named (--shift){given}: {_by_rule(s)}"
    said = s.run.shift
    n, blocks, plateau = (said.get(name) for name in ("n", "blocks", "plateau"))
    parts = [f"S = {s.shift:,} was chosen on the search part, before any learner was trained"]
    if _natural(n):
        parts.append(f"on {n:,} labels" + (f" in {blocks:,} blocks" if _natural(blocks) else ""))
    null = str(setting(s, "null") or "independence")
    against = (
        "kappa, beyond its plateau at the longest shifts,"
        if null == "independence"
        else f"accuracy beyond {null} guessing"
    )
    parts.append(
        f"it is the smallest from which on the upper 95 % confidence bound of the blind classifier's {against} is below "
        f"{tolerance(s):g} at all longer shifts that were tried"
    )
    left = (
        f" Plateau: {plateau:.3f}, which no shift takes away." if is_share(plateau) and null == "independence" else ""
    )
    return f"{'; '.join(parts)}.{left}"


def _natural(value: Any) -> TypeGuard[int]:
    return fits(value, int) and value > 0
