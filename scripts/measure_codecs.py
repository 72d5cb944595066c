#!/usr/bin/env python3
"""Measures every codec on real floats, on real links and by what is learnt; writes docs/codecs.md.

    measure_codecs.py --bin build/release/bin --seconds 3600 [--only data,links,goodput,quality]
                      [--links loopback,100] [--plans planes,int8] [--facts FILE] [--from-facts FILE]

    data      `wide bench codec`: how small, how exact, how fast beside memcpy
    links     four nodes over loopback, 1 Gbit/s, 100 Mbit/s and 10 Mbit/s (root: namespaces)
    goodput   how much of such a line is values, where it is what everybody waits for
    quality   accuracy and loss after the same steps, with and without lossy codecs

Parts of which no facts are kept stay on the page as they are.
"""

from codec_links import measure_links
from codec_quality import measure_quality
from codecs_page import write_page
from line_goodput import measure_goodput
from page_of_parts import Part, parser_for, run, words
from whole_runs import bench

FLOATS_SECONDS = 120.0  # more of it shows nothing new


def measure_floats(options, seconds, _):
    return bench(options.bin, "codec", min(seconds, FLOATS_SECONDS))


PARTS = {"data": Part(0.05, measure_floats),
         "links": Part(0.4, measure_links),
         "goodput": Part(0.1, measure_goodput),
         "quality": Part(0.45, measure_quality)}


def main():
    parser = parser_for(__doc__, PARTS, 600, "codecs.md")
    parser.add_argument("--links", type=words, default=[], help="such as loopback,100: only these")
    parser.add_argument("--plans", type=words, default=[],
                        help="such as planes,int8: only these, and none")
    run(parser, PARTS, write_page)


if __name__ == "__main__":
    main()
