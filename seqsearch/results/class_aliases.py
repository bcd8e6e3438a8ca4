"""Classes of a frozen order under the slightly other names that a pool may have for them: an exact rule, no guess."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief
from seqsearch.results.frozen import FrozenClass

_NUMBER = re.compile(r"\d+[._ -]+(?=.)", re.ASCII)


def plain(name: str) -> str:
    """A name's letters and digits alone, in small letters.

    >>> plain("Black-footed_Albatross")
    'blackfootedalbatross'
    """
    return "".join(c for c in name.casefold() if c.isalnum())


def forms(c: FrozenClass) -> set[str]:
    """What a class may be called, as `plain` has it: its name, with and without the number before it; how it reads, whole and each
    of its parts between commas.

    >>> sorted(forms(FrozenClass("001.Laysan_Albatross", "", ""))), sorted(forms(FrozenClass("n01", "drake, duck", "")))
    (['001laysanalbatross', 'laysanalbatross'], ['drake', 'drakeduck', 'duck', 'n01'])
    """
    texts = (c.name, _NUMBER.sub("", c.name, count=1), c.reads, *c.reads.split(","))
    return {found for text in texts if (found := plain(text))}


def called(classes: Sequence[FrozenClass], there: Sequence[str], where: str) -> dict[str, str]:
    """What each frozen class is called among the names that are ``there``; classes that are not there are left out.

    A class whose very name is there is that one. To any other belongs the one remaining name that is one of its `forms` and of no
    other class's.

    Raises:
        UserError: several names could be meant.
    """
    exact = {c.name for c in classes} & set(there)
    shared = Counter(form for c in classes for form in forms(c))
    owners = {form: c.name for c in classes if c.name not in exact for form in forms(c) if shared[form] == 1}
    found = {name: name for name in exact}
    for name in there:
        owner = owners.get(plain(name))
        if owner is None or name in exact:
            continue
        if owner in found:
            raise UserError(
                f"{where}: class {brief(owner)} could be {brief(found[owner])} or {brief(name)} of the pool: rename one of them"
            )
        found[owner] = name
    return found
