"""A handle on a run: a folder, read anew at each question. Nothing lives in the handle alone."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from protocols.api import calls
from protocols.api.choice import one_of
from protocols.api.custom_code import custom_code
from protocols.api.given import pool_text
from protocols.api.record import RunRecord
from protocols.api.sequences import Sequences, sequence_id
from protocols.api.summary import Summary
from protocols.report.view import view_of
from protocols.trackers.publish import Published, publish
from seqsearch.core.errors import UserError
from seqsearch.core.text import shown
from seqsearch.core.user_modules import COPIES
from seqsearch.results.in_names import InNames, read_in_names
from seqsearch.results.run import read_results
from seqsearch.results.schema import RESULTS, SEQUENCES
from seqsearch.storage.inside import Inside

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from protocols.api.images import TaskDataset
    from protocols.report.latex import IntervalForm
    from protocols.report.styles import VenueName
    from seqsearch.pools.base import Part, View


class Run(RunRecord):
    """A run of any command, by its folder: running, stopped, killed or finished.

    Two handles are equal if their folders are the same.

    Args:
        path: the folder, or another handle.

    Raises:
        UserError: the folder is no run.

    Example:
        >>> import seqsearch as ss
        >>> run = ss.cldyb(methods="simplecil", pool="glyphs:classes=12", tasks=2, classes_per_task=2, workers=0, quiet=True)
        >>> run.status, run.command
        ('finished', 'cldyb')
    """

    def _repr_html_(self) -> str:
        """The summary in a notebook; the status of a run that has exported nothing."""
        try:
            return self.summary._repr_html_()
        except UserError as error:
            return Summary.message(repr(self), str(error))

    @property
    def summary(self) -> Summary:
        """Headline, tables and notes: what terminal and page show.

        Raises:
            UserError: nothing was exported yet.
        """
        protocol = self._known()
        return Summary(view_of(protocol, protocol.read(self.path)), self.config)

    def matrix(
        self, method: str | type, sequence: str | int | InNames | None = None, seed: int | None = None
    ) -> NDArray[np.float64]:
        """Accuracy after each task on each task, ``[T, T]`` from 0 to 1: row = tasks learned, column = task evaluated, NaN above
        the diagonal, on test images.

        Args:
            method: its label, or the class of custom code.
            sequence: id of the sequence, its place in `sequences`, or one of these; None: the first found one that the method
                learned to its end.
            seed: training seed; None: the mean over all seeds of which the sequence was learned to its end.

        Raises:
            UserError: no such method, sequence or seed, it was not learned to its end, or the command makes no such matrices.
        """
        if RESULTS.file not in self._known().exports:
            raise UserError(f"run {self.path} has no matrices of tasks: see run.tables")
        results = read_results(self.path)
        if isinstance(method, type):
            method = self._label(method, results.methods)
        one_of(method, results.methods, f"run {self.path} has no method")
        if sequence is None:
            names = [s.sequence_id for s in results.found(method) or results.sequences]
        else:
            names = [sequence_id(sequence, (s.sequence_id for s in results.sequences), self.path)]
        for name in names:
            seeds = results.seeds_of(method) if seed is None else (seed,)
            whole = [r for n in seeds if (r := results.rollouts.get((name, method, n))) is not None and r.complete]
            if whole:
                mean: NDArray[np.float64] = np.mean([r.accuracy for r in whole], axis=0)
                return mean
        there = f" with seed {seed}; its seeds are {', '.join(map(str, results.seeds_of(method)))}"
        raise UserError(
            f"run {self.path}: {method} did not learn {'any sequence' if sequence is None else names[0]} to its end"
            f"{'' if seed is None else there}"
        )

    def _label(self, made: type, labels: Sequence[str]) -> str:
        """The label of a class: files of custom code have its name, with a digest behind it if two classes have one name.

        Raises:
            UserError: several methods have it, or the class has changed since.
        """
        code = custom_code(made, "method")
        if isinstance(code.main, str):
            return next((m for m in labels if m.startswith(f"{code.main}:{made.__name__}")), made.__name__)
        file, end = code.main.stem, rf"\.py:{made.__name__}(?!\w)"
        with_digest = [m for m in labels if re.match(rf"{file}_{code.digest[:4]}{end}", m)]
        found = with_digest or [m for m in labels if re.match(rf"{file}(_[0-9a-f]{{4}})?{end}", m)]
        if found and not with_digest and (self.path / COPIES).is_dir() and not code.below(self.path).is_dir():
            raise UserError(
                f"run {self.path} has other code of {made.__name__}, as it was before a change: name {found[0]}"
            )
        own = [m for m in found if " of " not in m] or found  # others are those of a run that is scored
        if len(own) > 1:
            raise UserError(f"run {self.path} has several methods {made.__name__}: name one of {', '.join(own)}")
        return own[0] if own else made.__name__

    def sequences(self) -> Sequences:
        """Its task sequences, the found ones first as the file has them.

        Raises:
            UserError: it has none, or none yet.
        """
        if not Inside(self.path).has(SEQUENCES.file):
            raise UserError(
                f"run {self.path} has no {SEQUENCES.file}: it is not finished, or its command makes no sequences"
            )
        return Sequences(self.path, read_in_names(self.path / SEQUENCES.file))

    def split(
        self,
        part: Part | Sequence[Part],
        task: int | None = None,
        sequence: str | int | InNames | None = None,
        pool: Any = None,
        view: View | None = None,
    ) -> TaskDataset:
        """Images of one part as a torch Dataset, in the split of the run and as its backbone saw them.

        Args:
            part: ``train``, ``val``, ``reward`` or ``test``, or several of them.
            task: number of a task of the sequence, from 0; None: all classes of the run.
            sequence: as of `matrix`; None: the first one.
            pool: where the images lie now, if elsewhere; as the keyword ``pool`` of `seqsearch.cldyb`. A pool of custom code is
                given again, with its parameters: a run may be somebody else's.
            view: size and cut of the images; None: as the run's backbone sees them.

        Returns:
            Pairs of an image, uint8 ``[3, side, side]`` RGB, and a label: the place of its class in ``classes`` of the Dataset.
            So the labels of each task begin at 0.

        Raises:
            UserError: the run has no images, they have changed, or there is no such part, task or sequence.
        """
        from protocols.api.images import task_dataset

        return task_dataset(self.path, part, task, sequence, None if pool is None else pool_text(pool, self.path), view)

    # ------------------------------------------------------------------------------------------------ for papers

    def figures(self, style: VenueName | None = None) -> dict[str, Figure]:
        """All figures of the page, by name; a name with a number behind it is one of several panels.

        Args:
            style: ``icml``, ``neurips``, ``iclr``, ``cvpr``, ``tpami`` or ``slides``: their widths and letters, with keys, and
                readable in grey; None: as on the page, which has the keys beside its figures.

        Raises:
            UserError: nothing was exported yet, or there is no such style.
        """
        return self.summary.figures(style)

    def plot(self, name: str, ax: Axes | None = None, style: VenueName | None = None) -> Figure:
        """One figure of the page, drawn into ``ax`` if that is given; ``style``: as of `figures`.

        Raises:
            UserError: there is no such figure or style.
        """
        return self.summary.plot(name, ax, style)

    def to_latex(
        self, name: str | None = None, columns: Sequence[str] | None = None, intervals: IntervalForm = "brackets"
    ) -> str:
        """A table of the summary as LaTeX (booktabs, siunitx).

        Args:
            name: of the table; None: the first one.
            columns: keys of columns, in the order that they are to have; None: all.
            intervals: ``brackets``, ``scripts``, ``plus-minus`` or ``none``, as of ``seqsearch tables``.

        Raises:
            UserError: there is no such table or column, or nothing was exported yet.
        """
        return self.summary.to_latex(name, columns, intervals)

    def report(self) -> Path:
        """The page, which a finished run has written.

        Raises:
            UserError: it is not there yet.
        """
        path = self.path / "report.html"
        if not Inside(self.path).has(path.name):
            raise UserError(
                f"run {self.path} has no page yet: finish it with seqsearch.resume({os.fspath(self.path)!r})"
            )
        return path

    def publish(self, to: str) -> Published:
        """Send its metrics to an experiment tracker, in any state of the run; a second call updates what the first sent.

        Args:
            to: ``tensorboard:DIR``, ``wandb:PROJECT`` or ``trackio:PROJECT``.

        Raises:
            UserError: no such tracker, it is not installed, not reached or refuses.
        """
        return publish(self.path, to)

    # ------------------------------------------------------------------------------------------------ further runs

    def score(self, methods: Any = None, **options: Any) -> Run:
        """`seqsearch.score` of this run."""
        given = {} if methods is None else {"methods": methods}
        return calls.call("score", {"source": os.fspath(self.path), **given, **options}, Run)

    def explain(self, **options: Any) -> Run:
        """`seqsearch.explain` of this run."""
        return calls.call("explain", {"source": os.fspath(self.path), **options}, Run)

    def extend(self, tasks: int, **options: Any) -> Run:
        """Continue a finished run of cldyb to this number of tasks: what was found stays.

        Raises:
            UserError: it is no finished run of cldyb, or has as many tasks.
            Interrupted: Ctrl-C.
        """
        if not isinstance(tasks, int | np.integer):
            raise UserError(f"tasks must be a whole number, not {shown(repr(tasks))[:80]}")
        return calls.extend(self.path, int(tasks), options, Run)
