#!/usr/bin/env python3
"""The documents name every key, flag and variable that the programs know, no others, and link to what
is there."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CODE = ROOT / "src" / "wide"
BETWEEN_PROGRAMS = {"--job", "--connect"}  # `wide` says them to wide-node; nobody types them


def text_of(pattern, folder, left_out="_test.cc"):
    return "\n".join(path.read_text() for path in sorted(folder.rglob(pattern))
                     if not path.name.endswith(left_out))


def document(name):
    return (ROOT / "docs" / name).read_text()


class Documents(unittest.TestCase):
    def test_every_key_of_a_job_is_listed(self):
        known = set(re.findall(r'(?:read\w*|demand)\("(\w+)"', (CODE / "engine/job_parse.cc").read_text()))
        listed = set(re.findall(r"`(\w+)`", document("job-file.md")))
        self.assertGreater(len(known), 40)
        self.assertEqual(known - listed, set())

    def test_every_flag_is_listed_and_no_other(self):
        known = set(re.findall(r'"(--[a-z][a-z-]+)["=,]', text_of("*.cc", CODE / "apps")))
        listed = set(re.findall(r"`[^`]*?(--[a-z][a-z-]+)", document("commands.md")))
        said = set(re.findall(r'(?:flag|text|number|count)\(\s*"(--[a-z][a-z-]+)"',
                              text_of("*.cc", CODE / "apps")))
        self.assertGreater(len(said), 20)
        self.assertEqual(said - listed, BETWEEN_PROGRAMS)
        self.assertEqual(listed - known, set())

    def test_every_variable_is_listed_and_no_other(self):
        known = set(re.findall(r'"(WIDE_[A-Z_]+)"', text_of("*.cc", CODE / "apps")))
        of_tests = set(re.findall(r'"(WIDE_[A-Z_]+)"', text_of("*.cc", ROOT / "tests", "none")))
        listed = set(re.findall(r"`(WIDE_[A-Z_]+)`", document("commands.md")))
        self.assertEqual(known - listed, set())
        self.assertEqual(listed - known - of_tests, set())

    def test_links_lead_somewhere(self):
        pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
        lost = [f"{page.relative_to(ROOT)}: {link}" for page in pages
                for link in re.findall(r"\]\(([^)#\s]+)", page.read_text())
                if "://" not in link and not (page.parent / link).exists()]
        self.assertEqual(lost, [])


if __name__ == "__main__":
    unittest.main()
