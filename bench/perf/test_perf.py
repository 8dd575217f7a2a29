#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The parts of ctran_perf that need no ranks, on data whose answers are known."""
import argparse
import csv
import importlib.machinery
import importlib.util
import io
import random
import sys
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import libraries  # noqa: E402
import plot  # noqa: E402
import report  # noqa: E402
import stats  # noqa: E402
import tables  # noqa: E402
import tune  # noqa: E402
from points import Point, Points  # noqa: E402


def example():
    """ctran twice as fast as `slow`, half as fast as `fast`, and as fast as `same`."""
    points = Points(["ctran", "slow", "fast", "same", "fork"], {"floors": ["fork"]})
    for ranks in (2, 3):
        for size in (0, 8, 1 << 20):
            for i in range(20):
                us = (1 + size / 1000) * (1 + i / 100)
                point = Point("latency", ranks, size, "us")
                points.add(point, "ctran", us)
                points.add(point, "slow", 2 * us)
                points.add(point, "fast", us / 2)
                points.add(point, "same", us * (1.1 if i % 2 else 0.9))
                points.add(Point("bw", ranks, size, "MB/s"), "ctran", 100 + i)
                points.add(Point("bw", ranks, size, "MB/s"), "slow", (100 + i) / 2)
        points.add(Point("barrier", ranks, 0, "us"), "ctran", ranks)
        points.add(Point("barrier", ranks, 0, "us"), "fork", 0)
    return points


class Tables(unittest.TestCase):
    ring, linear = tune.Way("ring", False), tune.Way("linear", False)
    shot, shm = tune.Way("one_shot", False), tune.Way("one_shot", True)

    @staticmethod
    def around(us):
        return [us * (1 + i / 100) for i in range(10)]

    def test_best(self):
        figures = {self.ring: self.around(4), self.linear: self.around(2),
                   self.shot: self.around(1), self.shm: self.around(3)}
        place = tune.Place("allreduce", 2, 8, False)
        better = tune.best(place, self.ring, figures)
        self.assertEqual((better.way, better.now), (self.shot, self.ring))
        self.assertAlmostEqual(better.ratio, 4)
        self.assertIsNone(tune.best(place, self.shot, figures))
        # Where there is a shm_coll, what can go over it does: it is no rival by messages.
        place = place._replace(shm=True)
        self.assertEqual(tune.best(place, self.ring, figures).way, self.linear)
        self.assertEqual(tune.best(place, self.shm, figures).way, self.linear)

    def test_uncertain(self):
        figures = {self.ring: [2, 2, 2, 2, 2, 2], self.linear: [1, 1, 3, 1, 1, 1]}
        place = tune.Place("allreduce", 2, 8, False)
        self.assertIsNone(tune.best(place, self.ring, figures))
        few = {self.ring: [2, 2], self.linear: [1, 1]}
        self.assertIsNone(tune.best(place, self.ring, few))

    def test_spans(self):
        self.assertEqual(tables.spans([1024]), {1024: [0, 1024]})
        self.assertEqual(tables.spans([0, 16, 64]), {0: [0, 15], 16: [16, 32], 64: [33, 64]})

    def test_rows(self):
        def better(way):
            return tune.Better(way, self.ring, 2, (1.5, 3))

        sizes = {16: better(self.linear), 64: better(self.linear), 1024: None,
                 4096: better(self.shot)}
        found = {tune.Place("allreduce", 4, b, False): w for b, w in sizes.items()}
        found[tune.Place("allreduce", 2, 16, True)] = better(self.shm)
        found[tune.Place("barrier", 4, 0, False)] = better(self.linear)
        rows = [r for r in tune.rows_of(found, [2, 4], False) if not r.startswith("#")]
        self.assertEqual(rows, [
            "allreduce ranks>=3 ranks<=4 nodes=1 bytes<=256 linear",
            "allreduce ranks>=3 ranks<=4 nodes=1 bytes>=2049 bytes<=4K one_shot",
            "barrier ranks>=3 ranks<=4 nodes=1 linear"])
        rows = list(tune.rows_of(found, [2, 4], True))
        self.assertEqual(rows, [
            "# on 2 ranks at 16 2.00 [1.50, 3.00] times as fast as ring",
            "allreduce shm ranks=2 nodes=1 bytes<=16 one_shot"])

    def test_split(self):
        rows = ["scan shm one_shot", "bcast ring", "bcast shm linear", "scan chain"]
        self.assertEqual(tables.split(rows), (rows[:1], rows[1:]))


class Stats(unittest.TestCase):
    def test_median(self):
        self.assertEqual(stats.median([3, 1, 2]), 2)
        self.assertEqual(stats.median([4, 1, 2, 3]), 2.5)
        self.assertEqual(stats.median([7]), 7)
        self.assertRaises(ValueError, stats.median, [])

    def test_interval(self):
        # The places are those of tables of the sign test: 6 values 1-6, 10 2-9, 20 6-15, 25 8-18.
        for n, low, high in ((6, 1, 6), (8, 1, 8), (9, 2, 8), (10, 2, 9), (20, 6, 15), (25, 8, 18)):
            values = list(range(1, n + 1))
            random.Random(n).shuffle(values)
            self.assertEqual(stats.interval(values), (low, high), n)
        for n in range(6):
            self.assertIsNone(stats.interval(list(range(n))), n)

    def test_interval_covers(self):
        """Of many samples about one in twenty, at most, has its interval beside the median."""
        dice = random.Random(5)
        missed = 0
        for _ in range(2000):
            low, high = stats.interval([dice.lognormvariate(0, 1) for _ in range(20)])
            missed += not low <= 1 <= high
        self.assertLess(missed, 0.05 * 2000 + 40)
        self.assertGreater(missed, 20)

    def test_ratios(self):
        self.assertEqual(stats.ratios([1, 2], [2, 2], False), [2, 1])
        self.assertEqual(stats.ratios([1, 2], [2, 2], True), [0.5, 1])
        self.assertRaises(ValueError, stats.ratios, [1], [1, 2], True)

    def test_verdict(self):
        self.assertEqual(stats.verdict((1.1, 1.3)), "ctran")
        self.assertEqual(stats.verdict((0.1, 0.9)), "peer")
        self.assertEqual(stats.verdict((0.9, 1.3)), "-")
        self.assertEqual(stats.verdict(None), "-")


class Comparing(unittest.TestCase):
    def test_compare(self):
        points = example()
        for unit, pattern in (("us", "latency"), ("MB/s", "bw")):
            found = points.compare(Point(pattern, 2, 8, unit), "slow")
            self.assertAlmostEqual(found.ratio, 2)
            self.assertEqual(found.verdict, "ctran")
        latency = Point("latency", 2, 8, "us")
        self.assertEqual(points.compare(latency, "fast").verdict, "peer")
        self.assertEqual(points.compare(latency, "same").verdict, "-")
        self.assertIsNone(points.compare(Point("barrier", 2, 0, "us"), "slow"))
        self.assertEqual(points.peers(), ["slow", "fast", "same"])

    def test_json(self):
        points = example()
        again = Points.from_json(points.to_json())
        self.assertEqual(again.figures, points.figures)
        self.assertEqual(again.libraries, points.libraries)


class Rounds(unittest.TestCase):
    @staticmethod
    def program():
        path = str(Path(__file__).resolve().parent.parent / "ctran_perf")
        loader = importlib.machinery.SourceFileLoader("ctran_perf", path)
        spec = importlib.util.spec_from_loader("ctran_perf", loader)
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return module

    def test_late(self):
        """A peer that is not done in time has no figure, and the others keep theirs."""
        perf = self.program()
        library = argparse.Namespace(launch=lambda ranks, bind: [], program="p")
        measured = [argparse.Namespace(**vars(library), name=n) for n in ("ctran", "slow", "fast")]
        a = argparse.Namespace(ranks=[2], bind_to="none", wrap=[], limit=1, rounds=2)

        def run(command, what, limit):
            if what.startswith(late):
                raise libraries.Late(f"{what}: late")

        points = Points(["ctran", "slow", "fast"], perf.about())
        with mock.patch.object(libraries, "run", run):
            late = "slow"
            perf.measure_startup(a, measured, points)
            late = "ctran"
            self.assertRaises(libraries.Late, perf.measure_startup, a, measured, points)
        by = points.figures[Point("startup", 2, 0, "ms")]
        self.assertEqual(len(by["fast"]), 2)
        self.assertNotIn("slow", by)
        self.assertEqual(list(perf.remarks(points)), ["slow, 2 ranks: late"] * 2)


class Output(unittest.TestCase):
    def test_numbers(self):
        shown = [(0, "0"), (0.0123, "0.0123"), (0.1234, "0.123"), (1.234, "1.23"), (12.34, "12.3")]
        for value, text in shown + [(123.4, "123"), (12345.6, "12346"), (1, "1.00")]:
            self.assertEqual(report.number(value), text)
        self.assertEqual([report.size(n) for n in (0, 8, 1023, 1024, 1 << 20, 3 << 29)],
                         ["0", "8", "1023", "1K", "1M", "1536M"])

    def test_markdown(self):
        lines = report.markdown(example()).splitlines()
        self.assertEqual({line.count("|") for line in lines}, {lines[0].count("|")})
        self.assertEqual(len(lines), 2 + 14)
        self.assertIn("**0.50 [0.50, 0.50]**", lines[2])

    def test_share(self):
        points = Points(["ctran", "copies"], {"floors": ["copies"]})
        for i in range(6):
            points.add(Point("bcast", 2, 8, "us"), "ctran", 4 + i)
            points.add(Point("bcast", 2, 8, "us"), "copies", (4 + i) * 0.9)
            points.add(Point("bw", 2, 8, "MB/s"), "ctran", 4 + i)
            points.add(Point("bw", 2, 8, "MB/s"), "copies", (4 + i) / 0.9)
        lines = report.markdown(points).splitlines()
        self.assertTrue(lines[0].endswith(f" copies | {report.SHARE:>17} |"), lines[0])
        for line in lines[2:]:
            self.assertTrue(line.endswith("| 0.90 [0.90, 0.90] |"), line)
        self.assertEqual(report.losers(points), "")

    def test_losers(self):
        text = report.losers(example())
        self.assertIn("Against slow: ctran is better at 12 of 12 points", text)
        self.assertIn("worse at 6: latency 0 on 2 (0.50)", text)
        self.assertNotIn("fork", text)

    def test_csv(self):
        rows = list(csv.DictReader(io.StringIO(report.to_csv(example()))))
        self.assertEqual(len(rows), 6 * 4 + 6 * 2 + 2 * 2)
        first = next(r for r in rows if r["library"] == "slow")
        self.assertEqual(float(first["ratio"]), 2)
        self.assertEqual(first["runs"], "20")

    def test_svg(self):
        points = example()
        root = xml.fromstring(plot.svg(points, "A < B & C"))
        space = "{http://www.w3.org/2000/svg}"
        self.assertEqual(root.tag, space + "svg")
        titles = [t.text for t in root.iter(space + "text") if t.get("class") == "title"]
        self.assertEqual(titles[0], "A < B & C")
        self.assertEqual(titles[1:], ["latency, 2 ranks", "latency, 3 ranks", "bw, 2 ranks",
                                      "bw, 3 ranks", "barrier"])
        # Every mark lies within its panel.
        marks = [c for panel in root.findall(space + "g") for c in panel.iter(space + "circle")]
        self.assertEqual(len(marks), 14)  # all of ctran's; the other circle's are at 0
        for circle in marks:
            self.assertTrue(0 <= float(circle.get("cx")) <= plot.WIDTH, circle.attrib)
            self.assertTrue(0 <= float(circle.get("cy")) <= plot.HEIGHT, circle.attrib)

    def test_svg_of_little(self):
        for points in (Points(["ctran"]), Points(["ctran"])):
            points.add(Point("rate", 2, 8, "kmsg/s"), "ctran", 5)
            xml.fromstring(plot.svg(points))


if __name__ == "__main__":
    unittest.main()
