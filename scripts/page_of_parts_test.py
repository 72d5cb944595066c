#!/usr/bin/env python3
import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

from page_of_parts import Part, parser_for, run


class PageOfParts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.facts = Path(folder.name) / "facts.json"
        self.page = Path(folder.name) / "page.md"
        self.asked = []
        self.written = None
        self.parts = {"near": Part(0.25, self.measure("near")), "far": Part(0.75, self.measure("far"))}

    def measure(self, name):
        def found(_, seconds, __):
            self.asked.append((name, seconds))
            return {"value": len(self.asked)}
        return found

    def call(self, *flags):
        def write(facts, out):
            self.written = (facts, out)

        arguments, sys.argv = sys.argv, ["measure", "--out", str(self.page), *map(str, flags)]
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                run(parser_for("Measures.", self.parts, 100, "page.md"), self.parts, write)
        finally:
            sys.argv = arguments

    def test_parts_have_their_share_of_the_time(self):
        self.call()
        self.assertEqual(self.asked, [("near", 25), ("far", 75)])
        self.assertEqual(self.written[1], self.page)

    def test_a_part_alone_has_all_of_it(self):
        self.call("--only", "far", "--seconds", 10)
        self.assertEqual(self.asked, [("far", 10)])

    def test_parts_that_are_not_measured_again_keep_their_facts(self):
        self.call("--facts", self.facts)
        self.call("--facts", self.facts, "--only", "near")
        self.assertEqual(self.written[0]["near"]["value"], 3)
        self.assertEqual(self.written[0]["far"]["value"], 2)
        self.assertEqual(json.loads(self.facts.read_text()), self.written[0])

    def test_facts_alone_write_the_page(self):
        self.facts.write_text('{"near": {"value": 7}}')
        self.call("--from-facts", self.facts)
        self.assertEqual(self.written[0], {"near": {"value": 7}})
        self.assertEqual(self.asked, [])

    def test_unknown_parts_are_refused(self):
        with self.assertRaises(SystemExit):
            self.call("--only", "nowhere")


if __name__ == "__main__":
    unittest.main()
