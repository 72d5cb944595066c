#!/usr/bin/env python3
"""The page of speed is written from whatever facts there are, and its pictures are whole."""

import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from delay_cost import DELAYS, RUN_SECONDS_LEAST, SEEDS, halfway_loss, reach, seeds_and_length
from growth import PARAMETERS, SLOTS, parameter_count, step_seconds, sweep
from line_picture import Line, picture, slope
from performance_page import notes, ratio_of, target_words, write_page
from whole_runs import RunFailed

MEASURED = {"date": "2000-01-01", "machine": "none", "seconds": 1}


def row(name, **more):
    return {"name": name, "measured": 5000.0, "unit": "batches/s", "against": "its slots alone",
            "ratio": 0.7, "target": None, "limit": None, "met": None} | more


def node(name):
    return {"name": name, "units": 5, "share": 0.5, "samples_per_second": 1.0, "network_seconds": 0.1,
            "encode_seconds": 0.0, "compression_ratio": 1.0, "loss_mean": 2.0}


def seed_facts():
    summary = {"batches": 10, "seconds": 1.0, "batches_per_second": 10.0, "memory_bytes_peak": 1e8,
               "network_bytes_per_second": 1e6, "compression_ratio": 1.0, "epochs": 1.0,
               "loss_first": 2.3, "loss_last": 0.5, "nodes": [node("n1"), node("n2")]}
    speed = {"slots_alone": 9000.0, "efficiency": 0.6, "steps": 100, "loss_first": 2.3,
             "loss_last": 0.5, "weights_sha256": "ab" * 32, "target": 0.6, "limit": 1.0, "met": True,
             "rounds": [0.71, 0.6, 0.65]}
    return {"measured": MEASURED, "notes": ["a note"], "rows": [
        row("the experiment of 2024", summary=summary), row("10 nodes", **speed),
        row("x", technique="x", noise=0.02)]}


def delay_facts():
    rows = [{"seed": seed, "delay": delay, "loss": 1.0, "batches_per_second": 10.0 * (1 + delay),
             "steps": 100, "seconds": 1.0} for seed in SEEDS for delay in DELAYS]
    return {"measured": MEASURED, "subjects": {"tiny": rows}, "length": 1.0}


def growth_facts():
    points = [(10.0, 0.1), (100.0, 1.0)]
    return {"measured": MEASURED, "slots": points, "slots_slope": 0.1, "parameters": points,
            "parameters_slope": 1.0, "slots_runs": [(1, 40, 3)],
            "parameters_runs": [(1e6, 40, 2), (1e7, 3, 1), (1e8, 3, 0)]}


class Page(unittest.TestCase):
    def write(self, facts):
        with tempfile.TemporaryDirectory() as folder:
            write_page(facts, Path(folder) / "performance.md")
            pictures = {path.name: path.read_text() for path in Path(folder).glob("pictures/*")}
            return (Path(folder) / "performance.md").read_text(), pictures

    def test_is_written_from_nothing(self):
        page, pictures = self.write({})

        self.assertIn("# Speed", page)
        self.assertEqual(pictures, {})

    def test_shows_targets_techniques_delay_and_growth(self):
        page, pictures = self.write({"seed": seed_facts(), "delay": delay_facts(),
                                     "growth": growth_facts()})

        self.assertIn("| `seed` 10 nodes | 5,000 batches/s | its slots alone | 0.7 | ≥ 0.6 | 1 | yes |", page)
        self.assertIn("| 0.600 | 0.60 to 0.71 | 100 |", page)
        self.assertNotIn("Why not more", page)
        self.assertIn("| x | 5,000 | -30.0 % | ± 2.0 % |", page)
        self.assertIn("| tiny | 1 | 2.00 | 1.00 | 1.00 |", page)
        self.assertIn("exponent 1.00", page)
        self.assertIn("1M: 2 × 40, 10M: 1 × 3. Left out: 100M. A step with 10M parameters", page)
        for text in pictures.values():
            ElementTree.fromstring(text)
        self.assertEqual(set(pictures), {"techniques.svg", "slots.svg", "parameters.svg"})


    def test_says_why_a_target_was_missed(self):
        goal = {"target": 0.95, "limit": 1.0}
        facts = {"measured": MEASURED, "rows": [row("10 nodes, delay 1", met=True, **goal),
                                                row("a cnn, 2 nodes", met=False, **goal)]}

        page, _ = self.write({"seed": facts})

        self.assertIn("Why not more", page)
        self.assertIn("Hashing blocks", page)
        self.assertNotIn("Slots alone never wait", page)


class Figures(unittest.TestCase):
    def test_a_slope_is_the_exponent(self):
        self.assertAlmostEqual(slope([(1, 3), (10, 300), (100, 30000)]), 2)
        self.assertAlmostEqual(slope([(1, 3), (10, 3)]), 0)

    def test_a_loss_is_reached_when_the_median_is_there(self):
        rows = [(step, step * 0.5, 2.0 - 0.1 * step) for step in range(20)]

        steps, seconds = reach(rows, 9, 1.5)
        self.assertEqual((steps, seconds), (10, 4.5))
        self.assertEqual(reach(rows, 9, -5), (None, None))

    def test_a_loss_is_taken_over_steps_however_many_have_rows(self):
        every = [(step, step * 0.5, 2.0 - 0.1 * step) for step in range(21)]
        sparse = every[::2]

        self.assertEqual(reach(every, 9, 1.5), (10, 4.5))
        self.assertEqual(reach(sparse, 9, 1.5), (11, 5.0))
        self.assertAlmostEqual(halfway_loss(every, 9), halfway_loss(sparse, 9))

    def test_few_steps_have_no_loss(self):
        with self.assertRaises(RuntimeError):
            halfway_loss([(0, 0.5, 2.0), (5, 1.0, 1.0)], 9)

    def test_delay_has_fewer_seeds_before_it_has_shorter_runs(self):
        for seconds, count in ((10, 1), (70, 2), (101, 3), (1000, 3)):
            seeds, length = seeds_and_length(seconds)
            self.assertEqual(len(seeds), count)
            self.assertGreaterEqual(length, RUN_SECONDS_LEAST)

    def test_seeds_are_paired(self):
        rows = [{"seed": 1, "delay": 0, "steps": 10}, {"seed": 1, "delay": 1, "steps": 20},
                {"seed": 2, "delay": 1, "steps": 90}]
        self.assertEqual(ratio_of(rows, 1, "steps"), 2)

    def test_models_have_about_the_parameters_that_they_are_named_for(self):
        for size in PARAMETERS:
            self.assertAlmostEqual(parameter_count(size) / size, 1, delta=0.05)


    def test_targets_say_their_direction(self):
        self.assertEqual(target_words({"target": 0.5, "wanted": "at_most"}), "≤ 0.5")
        self.assertEqual(target_words({"target": 0.5, "wanted": "at_least"}), "≥ 0.5")
        self.assertEqual(target_words({"target": 0.5}), "≥ 0.5")

    def test_further_lines_of_a_note_are_a_list_below_it(self):
        self.assertEqual(notes({"notes": ["a", "b:\n    c\n    d"]}), "\n- a\n- b:\n  - c\n  - d")


class Growth(unittest.TestCase):
    def test_the_first_step_is_not_timed(self):
        self.assertAlmostEqual(step_seconds([(0, 9.0, 1.0), (4, 9.4, 1.0), (10, 10.0, 1.0)], 10), 0.1)
        with self.assertRaises(RunFailed):
            step_seconds([(0, 9.0, 1.0), (4, 9.4, 1.0)], 10)

    def test_ten_steps_are_timed_and_three_of_the_largest(self):
        self.assertEqual([size for size, steps in (PARAMETERS | SLOTS).items() if steps < 10], [1e8])
        self.assertEqual(PARAMETERS[1e8], 3)

    @staticmethod
    def rows_of(size, timed):
        if size > 1e9:
            raise RunFailed("out of memory")
        return [(0, 0.0, 1.0), (timed, float(size), 1.0)]

    def test_every_size_has_its_turn_however_little_time_there_is(self):
        found = sweep({1: 10, 100: 10}, time.monotonic(), self.rows_of, lambda _: None)
        self.assertEqual(found.runs(), [(1, 10, 1), (100, 10, 1)])

    def test_sizes_that_cannot_be_run_are_left_out_and_named(self):
        said = []
        found = sweep({1: 10, 1e15: 10}, time.monotonic() + 30, self.rows_of, said.append)
        self.assertEqual(found.runs(), [(1, 10, 3), (1e15, 10, 0)])
        self.assertEqual(found.points(), [(1, 0.1)])
        self.assertIn("1e+15: out of memory", said)


class Picture(unittest.TestCase):
    def test_takes_names_as_text(self):
        ElementTree.fromstring(picture("a < b", "<x>", "&", [Line("<l>", "auto", [(1, 2), (100, 3)])]))

    def test_no_label_stands_over_another(self):
        lines = [Line(name, "auto", [(1, 2), (100, end)]) for name, end in (("a", 3), ("b", 3.01), ("c", 9))]
        drawn = ElementTree.fromstring(picture("t", "x", "y", lines))
        heights = {part.text: float(part.get("y")) for part in drawn.iter() if part.text in ("a", "b", "c")}
        self.assertLess(heights["c"], heights["b"])
        self.assertGreaterEqual(heights["a"] - heights["b"], 16)


if __name__ == "__main__":
    unittest.main()
