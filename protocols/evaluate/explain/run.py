"""Explains why found sequences are hard, by training on their regroupings and reorderings."""

from __future__ import annotations

from protocols.evaluate.explain.common import Common, in_common
from protocols.evaluate.explain.export import export
from protocols.evaluate.explain.study import ExplainStudy
from protocols.running.protocol import Exported, ProtocolRun
from protocols.running.session import Session
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item
from seqsearch.planners.all_classes import AllClassesPlanner
from seqsearch.pools.union import class_names
from seqsearch.similarity.features import from_prototypes
from seqsearch.similarity.matrix import MOST_CLASSES, Similarity
from seqsearch.similarity.names import from_names
from seqsearch.study.class_similarity import FROZEN


class ExplainRun(ProtocolRun):
    """One session of an ``explain`` run, and its progress."""

    def __init__(self, session: Session, study: ExplainStudy) -> None:
        self.session, self.study = session, study
        self.common = Common()

    def run(self) -> None:
        """Look at the classes, train on what is new."""
        s, study = self.session, self.study
        s.extract_features(study)
        self.common = self._in_common()
        evaluations = study.evaluations
        s.monitor.begin_phase(evaluations.planners, "training", evaluations.rollouts, world=study.world)
        s.search(study.world).run(evaluations.planners, deadline=s.deadline)

    def export(self, reached: str | None) -> Exported:
        return export(self.session, self.study, self.common, reached)

    def _in_common(self) -> Common:
        study = self.study
        if len(study.population.class_ids) > MOST_CLASSES:
            return Common(notes=(f"More than {MOST_CLASSES:,} classes: groups and similarities are not compared.",))
        names = class_names(study.world.images)
        own = [names[study.world.class_index(c)] for c in study.population.class_ids]
        similarities: dict[str, Similarity] = {}
        notes: list[str] = []
        try:
            similarities["names"] = from_names(own)
        except UserError as error:
            notes.append(f"Names are not compared: {error}.")
        if backbone := study.pretrained:
            similarities["images"] = self._by_images(own, backbone)
        else:
            notes.append("Images are not compared: all backbones begin from scratch, their features would say nothing.")
        found = in_common(study.found, study.population, similarities, study.settings.seed)
        return Common(found.groups, found.alike, found.pairs, (*notes, *found.notes))

    def _by_images(self, names: list[str], backbone: str) -> Similarity:
        """Cosines of class means of training images, in the features of a frozen backbone."""
        s, study = self.session, self.study
        frozen = study.world.spec(Item(FROZEN, FROZEN, backbone, ()), backbone)
        first = study.found[0].tasks[0]
        planner = AllClassesPlanner("prototypes", frozen, study.population, study.settings.seed, learned=first)
        s.monitor.begin_phase([planner], "similarity", 1)
        s.search(study.world).run([planner], more=True, deadline=s.deadline)
        return from_prototypes(planner.values, names, planner.name)
