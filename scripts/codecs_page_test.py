#!/usr/bin/env python3
"""The page of codecs is written from whatever facts there are, and its pictures are whole."""

import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from bar_picture import Bar, Panel, picture
from codec_links import LINKS, LOSSY, PLANS
from codec_quality import PLANS as QUALITY_PLANS
from codec_quality import SEEDS, SUBJECTS, differences
from codecs_page import auto_rows, write_page

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
