#!/usr/bin/env python3
"""The page of reliability says what caught a defect in whole words; a p99 is a value that was seen."""

import unittest

from measure_reliability import nearest_rank
from reliability_page import caught_words


class CaughtWords(unittest.TestCase):
    def test_name_a_failed_check_by_its_place_in_the_tree(self):
        said = "W901 a bug in wide: /tmp/x/build/planted/tree/src/wide/engine/sum_tree.cc:74: complete() &&  "
        self.assertEqual(caught_words(said), "W901, a failed check: src/wide/engine/sum_tree.cc:74")

    def test_end_with_a_whole_word(self):
        said = "word " * 30
        self.assertEqual(caught_words(said), "word " * 19 + "…")

    def test_have_no_comma_at_the_end(self):
        self.assertEqual(caught_words("Codecs/LossyUpdates.LoseNothing/fp16,"),
                         "Codecs/LossyUpdates.LoseNothing/fp16")

    def test_stay_within_their_cell(self):
        self.assertEqual(caught_words("a || b"), "a \\|\\| b")
        self.assertEqual(caught_words(""), "–")


class NearestRank(unittest.TestCase):
    def test_is_the_least_that_so_many_do_not_exceed(self):
        self.assertEqual(nearest_rank(range(1, 101), 0.99), 99)
        self.assertEqual(nearest_rank(range(1, 41), 0.99), 40)
        self.assertEqual(nearest_rank([7], 0.99), 7)


if __name__ == "__main__":
    unittest.main()
