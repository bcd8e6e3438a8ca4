"""What some tests need beside Python: programs, and a system that counts memory. Without a program its tests are skipped, but not
where ``SEQSEARCH_PROGRAMS`` names it: there it was installed, and the tests fail if it is missing."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

counts_memory = pytest.mark.skipif(
    sys.platform != "linux", reason="no other system counts private memory in RLIMIT_DATA, so nothing is limited there"
)
PROMISED = os.environ.get("SEQSEARCH_PROGRAMS", "").split()
LATEX = "texlive-latex-extra texlive-science texlive-fonts-recommended texlive-pictures cm-super-minimal dvipng"


def needs(*programs: str, packages: str = "") -> pytest.MarkDecorator:
    """A mark for tests that run these programs.

    Args:
        packages: of Debian, that have them; by default of the same names.
    """
    missing = [p for p in programs if shutil.which(p) is None and p not in PROMISED]
    return pytest.mark.skipif(
        bool(missing), reason=f"no {' '.join(missing)} here (Debian: apt-get install {packages or ' '.join(programs)})"
    )
