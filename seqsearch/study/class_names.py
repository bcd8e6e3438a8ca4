"""Check that classes have names, for methods that read them, before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from seqsearch.core.errors import UserError
from seqsearch.core.notices import warn
from seqsearch.core.types import MethodSpec
from seqsearch.methods.spec import capabilities_of
from seqsearch.pools.base import Pool


def check_names(methods: Iterable[MethodSpec], pools: Sequence[Pool]) -> None:
    """Check the names of all classes. Names without a letter, or that read the same, are accepted, with a warning.

    Raises:
        UserError: a method reads class names, and a class has an empty one.
    """
    reading = [m.label for m in methods if capabilities_of(m).backbones == "names"]
    for pool in pools if reading else ():
        names = [c.name for c in pool.classes]
        read = [" ".join(name.replace("_", " ").split()).lower() for name in names]
        if empty := [number for number, name in enumerate(read) if not name]:
            raise UserError(
                f"method {reading[0]!r} reads class names, and class {empty[0]} of pool {pool.name!r} is called "
                f"{names[empty[0]]!r}: rename it, or leave the method out"
            )
        bare = [name for name in names if not any(letter.isalpha() for letter in name)]
        if bare:
            warn(
                f"method {reading[0]!r} reads class names, and {len(bare)} of {len(names)} in pool {pool.name!r} have no letter "
                f"(e.g. {bare[0]!r})"
            )
        if twice := [number for number, name in enumerate(read) if name in read[:number]]:
            first = names[read.index(read[twice[0]])]
            warn(
                f"method {reading[0]!r} reads class names, and it reads {first!r} and {names[twice[0]]!r} of pool {pool.name!r} "
                "as the same"
            )
