import base64
import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

from protocols.cldyb.protocol import CLDYB
from protocols.report.cldyb.view import UNSEEN
from protocols.report.page import reporter
from protocols.report.table import CLDYB as PAPER
from seqsearch.core.errors import UserError
from seqsearch.pools.base import View
from tests.unit.run_folders import RenamedPool, glyphs, outcome, rescored, sequence, write_run

POOL = glyphs()
HOSTILE = '</title></style><script>alert("1")</script><img src=http://evil.example/x onerror=a>&amp;'
VOID = {"meta", "img", "br", "circle", "line", "polyline", "polygon"}


class Page(HTMLParser):
    """Checks nesting and collects tags, attributes and text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.images, self.folds = [], []  # every <img> with the titles of the <details> that it is in
        self.feed(text)
        self.close()
        assert self.open == [], f"not closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "details":
            self.folds.append("")
        if tag == "img":
            self.images.append((dict(attrs), tuple(self.folds)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag
        if tag == "details":
            self.folds.pop()

    def handle_data(self, data):
        if self.open[-1:] == ["summary"]:
            self.folds[-1] += data
        self.text += data

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def check_first_images(images, classes, within=0.0):
    """Each ``<img>`` is the first image of a class, in this order; ``within``: mean difference that is let pass, of 255."""
    first = POOL.classes[0].count * np.array(classes)
    for attrs, expected in zip(images, POOL.images(first, View(32)), strict=True):
        shown = Image.open(io.BytesIO(base64.b64decode(attrs["src"].partition(",")[2])))
        values = np.asarray(shown.convert("RGB")).transpose(2, 0, 1)
        assert np.abs(values.astype(float) - expected).mean() <= within


def make_run(folder, pool=POOL, methods=("er", "slca"), random=3):
    found = sequence(pool, "search-0", "searched", methods, [[0, 1], [2, 3], [4, 5]])
    drawn = [[[0, 1], [10 + i, 3], [20 + i, 5]] for i in range(random)]
    others = [sequence(pool, f"random-{i}", "random", methods, tasks) for i, tasks in enumerate(drawn)]
    evaluated = [
        rescored(s, m, seed, outcome([[0.9], [a, 0.8], [a - 0.1, a, 0.7]], [[0.9], [0.9, 0.85], [0.8, 0.8, 0.9]]))
        for s in (found, *others)
        for m in methods
        for seed in (1000, 1001)
        for a in [(0.4 if s is found else 0.69 + 0.01 * others.index(s)) + (seed - 1000) / 50]
    ]
    return write_run(folder, pool, [found, *others], evaluated, methods)


def write_report(run, exported, pools):
    """As at the end of a run."""
    return reporter(CLDYB)(run, exported, pools)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    run = make_run(tmp_path_factory.mktemp("runs") / "my-run")
    path = write_report(run, CLDYB.read(run), [POOL])
    assert path == run / "report.html"
    return path.read_text("utf-8")


def test_the_page_is_well_formed_and_loads_nothing(report):
    page = Page(report)
    loading = ("src", "srcset", "href", "xlink:href", "data", "action", "poster")
    loads = [v for _, attrs in page.tags for k, v in attrs.items() if k in loading]
    assert loads
    assert all(v.startswith(("data:image/png;base64,", "#")) for v in loads)
    assert {tag for tag, _ in page.tags}.isdisjoint({"script", "link", "iframe", "object", "base", "form"})
    assert re.findall(r"url\([^#]", report) == []
    assert "@import" not in report
    assert "prefers-color-scheme: dark" in report
    assert any("default-src 'none'" in m.get("content", "") for m in page.all("meta"))


def test_every_section_is_there(report):
    page = Page(report)
    texts = (
        "No verdict yet: 16 more random sequences are needed (--random-sequences 19).",
        "below 3 of 3",
        "Accuracy as tasks arrive",
        "Harder tasks, or more",
        "The tasks found",
        "Candidates evaluated",
        "How it was computed",
        PAPER,
        "identity.pool_digest",
        POOL.digest,
        "J = -0.400",
        "another search may find less",
        UNSEEN,
    )
    for text in texts:
        assert text in page.text, text
    assert report.count('<tr><th scope="row">slca</th>') == 2  # the key table, and what it leaves out
    assert report.count('<tr><th scope="row">search-0</th>') == 2  # one per step that was searched
    charts = [attrs for attrs in page.all("svg") if attrs.get("role") == "img"]
    assert len(charts) == 6  # two methods, full and masked; found among random sequences, and candidates
    assert "found: 90.0, 60.5, 47.3" in charts[1]["aria-label"]  # Acc_t, mean over the two seeds


def test_every_class_found_is_shown_by_its_first_image(report):
    images = [attrs for attrs, folds in Page(report).images if not any("Random" in f for f in folds)]
    check_first_images(images, [0, 1, 2, 3, 4, 5])
    for c in POOL.classes[:6]:
        assert f"<span>{c.name}</span> <i>{c.group}</i>" in report


def test_the_first_random_sequences_are_pictured_and_folded(report):
    page = Page(report)
    title = "Random sequences: the first 2 of 3"
    images = [attrs for attrs, folds in page.images if title in folds]
    check_first_images(images, [0, 1, 10, 3, 20, 5, 0, 1, 11, 3, 21, 5], within=12)  # in fewer colours
    (fold,) = re.findall(r'<details class="drawn">(.*?)</details>', report, re.DOTALL)  # without "open"
    assert re.findall(r"<h3>(.*?)</h3>", fold) == ["random-0", "random-1"]
    for i in (10, 20, 11, 21):
        assert f"<span>{POOL.classes[i].name}</span> <i>{POOL.classes[i].group}</i>" in fold
    assert POOL.classes[12].name not in fold


def test_random_sequences_do_not_make_the_page_large(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (200, 3, 32, 32), np.uint8)  # nothing that PNG could make smaller

    class Noisy(RenamedPool):
        def __init__(self):
            super().__init__(glyphs(100), "name", "group")
            self.native_size = 224
            self.images = lambda rows, view: noise[: len(rows), :, : view.size, : view.size]

    pool = Noisy()
    tasks = [list(range(start, start + 10)) for start in range(0, 100, 10)]
    drawn = [sequence(pool, f"random-{i}", "random", ("er",), tasks) for i in range(4)]
    evaluated = [rescored(s, "er", 1000, outcome([[0.9] * (t + 1) for t in range(10)])) for s in drawn]
    run = write_run(tmp_path / "run", pool, drawn, evaluated, ("er",))
    pictured = write_report(run, CLDYB.read(run), [pool])
    page = Page(pictured.read_text())
    assert len(page.images) == 120
    assert "the first 120 have one" in page.text
    assert page.text.count("name") >= 200  # the classes without an image are named
    assert pictured.stat().st_size < 300_000


def test_hostile_names_stay_text(tmp_path):
    pool = RenamedPool(POOL, HOSTILE, HOSTILE + '"')
    run = make_run(tmp_path / "run", pool, methods=("er", HOSTILE))
    page = Page(write_report(run, CLDYB.read(run), [pool]).read_text())
    assert HOSTILE in page.text
    assert not page.all("script")
    assert all("onerror" not in attrs for _, attrs in page.tags)
    assert all(attrs["src"].startswith("data:") for attrs in page.all("img"))


def test_images_of_large_pools_are_small(tmp_path):
    asked = []

    class Large(RenamedPool):
        def __init__(self):
            super().__init__(POOL, "name", "group")
            self.native_size = 224
            self.images = lambda rows, view: asked.append(view.size) or POOL.images(rows, view)

    run = make_run(tmp_path / "run")
    write_report(run, CLDYB.read(run), [Large()])
    assert asked == [64, 32, 32]


def test_classes_of_another_pool_are_named_by_number(tmp_path):
    run = make_run(tmp_path / "run")
    page = Page(write_report(run, CLDYB.read(run), [glyphs(30)]).read_text())
    assert not page.all("img")
    assert "class 5 of another pool" in page.text


def test_a_run_without_comparison_or_trace_still_has_a_report(tmp_path):
    run = make_run(tmp_path / "run", random=0)
    (run / "trace.parquet").unlink()
    page = Page(write_report(run, CLDYB.read(run), [POOL]).read_text())
    assert "Without random sequences there is nothing to compare the found ones with" in page.text
    assert "Candidates evaluated" not in page.text
    assert len([a for a in page.all("svg") if a.get("role") == "img"]) == 4  # two methods, full and masked


def test_no_report_of_what_is_no_run(tmp_path):
    with pytest.raises(UserError, match="no run folder"):
        write_report(tmp_path, CLDYB.read(tmp_path), [POOL])
    assert list(tmp_path.iterdir()) == []
