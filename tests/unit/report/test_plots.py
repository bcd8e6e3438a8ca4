"""Charts of the EDGE report: well-formed, within their frames, round ticks."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.report.plots import HEIGHT, WIDTH, Curve, Dots, Range, densities, ranges, scatter, task_matrix, ticks

ACCURACIES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def numbers(drawn: str, *names: str) -> list[float]:
    """Values of attributes of all elements; the drawing must be well-formed."""
    root = ElementTree.fromstring(drawn)
    found = [float(e.attrib[n]) for e in root.iter() for n in names if n in e.attrib]
    assert all(math.isfinite(v) for v in found)
    return found


@given(st.floats(-1e3, 1e3), st.floats(1e-6, 1e3))
def test_ticks_are_few_round_and_inside(low: float, width: float) -> None:
    found = ticks(low, low + width)
    assert 2 <= len(found) <= 7
    assert all(low - 1e-6 * width <= t <= low + 1.000001 * width for t in found)
    step = found[1] - found[0]
    assert re.fullmatch(r"[125]\.0+e[+-]\d+", f"{step:.3e}")


@given(ACCURACIES, st.floats(0, 1), st.sampled_from([0.0, 1e-4, 0.1]))
def test_densities_stay_in_their_frame(truth: list[float], mu: float, sigma: float) -> None:
    curves = [Curve("random", mu, sigma), Curve("paper", mu, 0.02)]
    for known in (truth, []):
        drawn = densities(curves, known, [("hard", 0.2)], "a & b")
        assert all(-1 <= v <= HEIGHT + 1 for v in numbers(drawn, "y", "y1", "y2", "height"))
        points = [float(v) for line in re.findall(r'points="([^"]*)"', drawn) for v in re.split("[ ,]", line)]
        assert all(-1 <= v <= WIDTH + 1 for v in points)


def test_bars_are_the_share_of_the_truth() -> None:
    drawn = densities([Curve("random", 0.5, 0.1)], [0.1, 0.1, 0.1, 0.9], [], "x", bins=2)
    heights = [float(e.attrib["height"]) for e in ElementTree.fromstring(drawn) if e.attrib.get("class") == "bar"]
    assert heights[0] == pytest.approx(3 * heights[1], rel=0.02)


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 1)), min_size=1, max_size=20))
def test_every_dot_is_drawn_inside(points: list[tuple[float, float]]) -> None:
    drawn = scatter([Dots("random", tuple(points))], "x")
    assert len(numbers(drawn, "cx")) == len(points)
    assert all(0 <= v <= WIDTH for v in numbers(drawn, "cx", "cy"))


@pytest.mark.parametrize(
    "points", [[(0.0, 5e-324)], [(5e-324, 0.5)], [(1.0, 0.5), (math.nextafter(1.0, 2.0), 0.5)], [(1e12, 0.0)]]
)
def test_ranges_that_rounding_would_lose_are_drawn(points: list[tuple[float, float]]) -> None:
    drawn = scatter([Dots("random", tuple(points))], "x")
    assert all(0 <= v <= WIDTH for v in numbers(drawn, "cx", "cy"))
    assert len(re.findall('class="tick"', drawn)) >= 4


def test_ranges_have_a_bar_a_row_and_room_for_names() -> None:
    rows = [
        Range("a method with a very long name & more", "truth", 0.5, 0.5, (("hard", 0.4),)),
        Range("b", "random", 0.2, 0.9),
    ]
    root = ElementTree.fromstring(ranges(rows, "x"))
    bars = [e for e in root if e.tag == "rect"]
    assert [float(b.attrib["width"]) > 0 for b in bars] == [True, True]
    names = [e for e in root if e.attrib.get("class") == "name"]
    assert float(names[0].attrib["x"]) >= 6 * len(rows[0].name)


def test_a_matrix_of_tasks_shades_by_similarity() -> None:
    values = np.array([[np.nan, 0.1], [0.1, 0.9]])
    root = ElementTree.fromstring(task_matrix(values, 0.1, 0.9, "x"))
    shades = [float(e.attrib["style"].split(":")[1]) for e in root if e.attrib.get("class") == "cell"]
    assert len(shades) == 3  # one task has a single class: nothing within it
    assert shades[0] == shades[1] < shades[2] == 1


def test_no_density_is_drawn_beyond_all_images() -> None:
    """The normals are wider than what accuracies can be."""
    drawn = densities([Curve("random", 0.97, 0.02), Curve("paper", 0.02, 0.3)], [], [("hard", 0.9)], "x")
    labels = [
        float(t.text or "")
        for t in ElementTree.fromstring(drawn).iter()
        if t.attrib.get("text-anchor") == "middle" and (t.text or "")[0].isdigit()
    ]
    assert (min(labels), max(labels)) == (0, 100)
    at = {
        float(t.text or ""): float(t.attrib["x"])
        for t in ElementTree.fromstring(drawn).iter()
        if (t.text or "") in ("0", "100")
    }
    xs = [float(p.split(",")[0]) for line in re.findall(r'points="([^"]+)"', drawn) for p in line.split()]
    assert at[0] - 0.1 <= min(xs) < max(xs) <= at[100] + 0.1
