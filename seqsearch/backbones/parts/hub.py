"""Models of the hub: from its cache, or fetched if it answers."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path


def reachable() -> bool:
    """Whether the hub answers at all: its client would find out in three quarters of a minute."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        with urllib.request.urlopen(urllib.request.Request(constants.ENDPOINT, method="HEAD"), timeout=10):
            return True
    except urllib.error.HTTPError:
        return True
    except (OSError, ValueError):
        return False


def snapshot(repository: str, wanted: Sequence[str], unwanted: Sequence[str] = ()) -> Path | str:
    """The folder of a repository in the cache, downloaded if it is not there; if it cannot be had, why.

    Args:
        repository: as the hub has it, e.g. ``facebook/flava-full``.
        wanted: patterns of the files needed.
        unwanted: of those among them that are not.
    """
    from huggingface_hub import snapshot_download

    why = ""
    for offline in (True, False):
        if not offline and not reachable():
            return "the hub cannot be reached"
        try:
            return Path(
                snapshot_download(
                    repository, local_files_only=offline, allow_patterns=list(wanted), ignore_patterns=list(unwanted)
                )
            )
        except Exception as error:  # no network, not cached, no such model, no valid name
            why = " ".join(str(error).split())[:120] or type(error).__name__
    return why
