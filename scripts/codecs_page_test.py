#!/usr/bin/env python3
"""The page of codecs is written from whatever facts there are, and its pictures are whole."""

import tempfile
import types
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from bar_picture import Bar, Panel, picture
from codec_links import LINKS, LOSSY, PLANS, check_every_step, merged, with_steps
from codec_quality import PLANS as QUALITY_PLANS
from codec_quality import SEEDS, SUBJECTS, begun, differences
from codecs_page import all_measured_words, auto_rows, goal_words, link_table, losers, write_page
from line_goodput import both_ways, goodput_part, one_way
from page_of_parts import machine
from whole_runs import RunFailed

MEASURED = {"date": "2000-01-01", "machine": "none", "seconds": 1}


def link_row(link, plan, step_seconds):
    return {"link": link, "plan": plan, "lossy": plan in LOSSY, "rounds": 1, "spans": 5, "steps": 9,
            "step_seconds": step_seconds, "first_step_seconds": step_seconds, "bytes_per_step": 1e6,
            "steps_to_loss": None}


def link_facts():
    rows = [link_row(link, plan, 0.5) for link in LINKS for plan in PLANS]
    rows[3]["step_seconds"] = None  # a run that failed
    return {"measured": MEASURED, "nodes": 4, "parameters": 5, "target_steps": 6, "rows": rows}


def quality_facts():
    rows = [{"seed": seed, "plan": plan, "figure": 0.5, "error": None}
            for seed in SEEDS for plan in QUALITY_PLANS]
    rows[1] |= {"figure": None, "error": "it diverged"}
    return {"measured": MEASURED} | {name: {"length": "--steps 5", "whole": True, "rows": rows}
                                     for name in SUBJECTS}


class Begun(unittest.TestCase):
    def facts(self, length):
        return {name: {"length": length, "whole": True, "rows": []} for name in SUBJECTS}

    def options(self, earlier):
        return types.SimpleNamespace(earlier={"quality": earlier})

    def test_goes_on_with_what_time_had_run_out_for(self):
        earlier = quality_facts() | {"stopped": "There was time for 1 of 3 seeds.",
                                     "measured": MEASURED | {"machine": machine()}}

        found = begun(self.options(earlier), self.facts("--steps 5"))

        self.assertEqual(found, {name: earlier[name] for name in SUBJECTS})

    def test_begins_anew_where_it_was_whole_or_shorter_or_elsewhere(self):
        stopped = {"stopped": "There was time for 1 of 3 seeds."}
        here = {"measured": MEASURED | {"machine": machine()}}

        for earlier, length in ((quality_facts() | here, "--steps 5"),
                                (quality_facts() | stopped, "--steps 5"),
                                (quality_facts() | stopped | here, "--steps 6"), ({}, "--steps 5")):
            fresh = self.facts(length)
            self.assertIs(begun(self.options(earlier), fresh), fresh)


class Goodput(unittest.TestCase):
    def test_is_of_the_time_in_which_a_way_was_busy(self):
        summary = {"bytes_sent": 50e6, "bytes_received": 40e6}
        # Eight looks in eight seconds; acknowledgements alone are no work.
        looks = {"tx": [0, 12e6, 24e6, 36e6, 48e6, 50e6, 50e6, 51e6, 51e6],
                 "rx": [0, 1e6, 2e6, 2e6, 2e6, 14e6, 26e6, 38e6, 42e6]}

        self.assertAlmostEqual(one_way(summary, looks, 100, 8.0), 40e6 / 4 / 12.5e6)

    def test_takes_the_busier_of_two_ways_at_once(self):
        summary = {"bytes_sent": 25e6, "bytes_received": 20e6, "seconds": 4.0}

        self.assertAlmostEqual(both_ways(summary, 100), 0.5)

    def test_is_told_with_its_target(self):
        rows = [{"link": "a", "steps": 3, "one_way": share, "both_ways": both}
                for share, both in ((0.92, 0.5), (0.94, None))]
        words = goodput_part({"rows": rows}, "Measured.")

        self.assertIn("| 0.920 | ≥ 0.93 | 0.956 | **no** | 0.500 |", words)
        self.assertIn("| 0.940 | ≥ 0.93 | 0.956 | yes | – |", words)


class Page(unittest.TestCase):
    def write(self, facts):
        with tempfile.TemporaryDirectory() as folder:
            write_page(facts, Path(folder) / "codecs.md")
            pictures = {path.name: path.read_text() for path in Path(folder).glob("pictures/*")}
            return (Path(folder) / "codecs.md").read_text(), pictures

    def test_says_what_was_not_measured(self):
        page, pictures = self.write({})

        self.assertIn("Not measured this time: links", page)
        self.assertEqual(pictures, {})

    def test_keeps_what_was_not_measured_again(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "codecs.md"
            write_page({"links": link_facts(), "quality": quality_facts()}, page)
            whole = page.read_text()
            write_page({"quality": quality_facts()}, page)

            self.assertEqual(page.read_text(), whole)

    def test_has_every_plan_and_whole_pictures(self):
        page, pictures = self.write({"links": link_facts(), "quality": quality_facts()})

        for plan in [*PLANS, *QUALITY_PLANS]:
            self.assertIn(f"| {plan} |", page)
        self.assertIn("it diverged", page)
        self.assertEqual(set(pictures), {"codecs-links.svg", "codecs-quality.svg"})
        for text in pictures.values():
            ElementTree.fromstring(text)


class Auto(unittest.TestCase):
    def judge(self, none, planes, auto):
        rows = [link_row("a", plan, span) for plan, span in
                (("none", none), ("planes", planes), ("auto", auto))]
        return auto_rows({"a": rows})[0][-1]

    def test_is_held_against_the_best_fixed_codec_and_against_none(self):
        self.assertEqual(self.judge(none=2.0, planes=1.0, auto=1.04), "yes")
        self.assertEqual(self.judge(none=2.0, planes=1.0, auto=1.06), "**no**")
        self.assertEqual(self.judge(none=1.0, planes=1.0, auto=1.03), "**no**")


    def test_is_judged_within_its_own_measurement(self):
        rows = [stamped("none", 9.0, "today", 9.0), stamped("lz4", 1.5, "before", 2.0),
                stamped("planes", 3.0, "today", 9.0), stamped("auto", 1.5, "before", 2.0)]

        row = auto_rows({"a": rows})[0]
        self.assertEqual(row[1], "lz4, 1.5 s; of another measurement: planes, 0.33 of its none's")
        self.assertEqual(row[4:], ["1.00", "1.33", "yes"])


def stamped(plan, step_seconds, date, none_seconds, link="a"):
    measured = {"date": date, "time": "12:00:00", "machine": "one"}
    return link_row(link, plan, step_seconds) | {"measured": measured, "none_seconds": none_seconds}


class Measurements(unittest.TestCase):
    def test_are_each_held_against_their_own_none(self):
        rows = [stamped("none", 1.0, "today", 1.0), stamped("lz4", 2.0, "before", 4.0)]

        self.assertIn("| lz4 | 2.0 s | 5 | 0.50 |", link_table(rows))
        self.assertIn("no codec made a step longer", losers({"a": rows}))

    def test_of_old_facts_are_held_against_the_none_beside_them(self):
        rows = [link_row("a", "none", 1.0), link_row("a", "lz4", 2.0)]

        self.assertIn("| lz4 | 2.0 s | 5 | 2.00 |", link_table(rows))
        self.assertIn("lz4 (2.00×)", losers({"a": rows}))

    def test_are_all_named(self):
        rows = [stamped("none", 1.0, "2000-01-03", 1.0), stamped("lz4", 1.0, "2000-01-02", 1.0),
                link_row("a", "zstd", 1.0)]

        self.assertEqual(all_measured_words({"measured": MEASURED, "rows": rows}),
                         "Measured on 2000-01-02 and 2000-01-03, one; and on 2000-01-01, none.\n")

    def test_keep_the_none_that_is_measured_again(self):
        old = {"measured": MEASURED, "rows": [link_row("loopback", "none", 4.0),
                                              link_row("loopback", "lz4", 2.0)]}

        none, lz4 = merged(old, [stamped("none", 1.0, "today", 1.0, "loopback")])
        self.assertEqual((none["step_seconds"], none["measured"]["date"]), (1.0, "today"))
        self.assertEqual((lz4["none_seconds"], lz4["measured"]["date"]), (4.0, "2000-01-01"))


class Steps(unittest.TestCase):
    def test_are_those_counted_again_even_where_the_loss_was_not_reached(self):
        old = link_row("a", "int8", 2.0) | {"steps_to_loss": 40, "seconds_to_loss": 80.0}

        row = with_steps(old, {"counts": {"none": [40], "int8": [41, None]}})
        self.assertEqual((row["steps_to_loss"], row["seconds_to_loss"]), (None, None))
        row = with_steps(old, {"counts": {"none": [40]}})
        self.assertEqual((row["steps_to_loss"], row["seconds_to_loss"]), (40, 80.0))

    def test_without_a_row_are_an_error(self):
        check_every_step([(0, 0.1, 2.0), (1, 0.2, 1.9)], "none")
        with self.assertRaisesRegex(RunFailed, "row of step 1 and then of 3"):
            check_every_step([(0, 0.1, 2.0), (1, 0.2, 1.9), (3, 0.3, 1.8)], "none")


class Goals(unittest.TestCase):
    def test_say_their_direction(self):
        goal = {"name": "a", "against": "memcpy", "ratio": 0.5, "target": 0.6, "limit": None,
                "met": True, "beyond_limit": False}

        self.assertEqual(goal_words(goal)[3], "≥ 0.60")
        self.assertEqual(goal_words(goal | {"against": "order-0 bound"})[3], "≤ 0.60")
        self.assertEqual(goal_words(goal | {"wanted": "at_most"})[3], "≤ 0.60")


class Differences(unittest.TestCase):
    def test_pairs_each_seed_with_its_own(self):
        rows = [{"seed": seed, "plan": plan, "figure": value} for seed, plan, value in
                ((1, "none", 0.5), (1, "int8, both ways", 0.6), (2, "none", 0.9))]
        found = {one["plan"]: one for one in differences({"rows": rows}, 100)}

        self.assertEqual(len(found["int8, both ways"]["differences"]), 1)
        self.assertAlmostEqual(found["int8, both ways"]["differences"][0], 10)


class Picture(unittest.TestCase):
    def test_takes_names_as_text(self):
        text = picture("a < b", [Panel("&", [Bar("<x>", -1.0, "plain", "-1"), Bar("y", 2, "auto", "2")])])

        ElementTree.fromstring(text)


if __name__ == "__main__":
    unittest.main()
