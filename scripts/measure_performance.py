#!/usr/bin/env python3
"""Measures this machine, ours beside its limits and beside others; writes docs/performance.md.

    measure_performance.py --bin build/release/bin [--seconds 600] [--only limit,seed,…]
                           [--facts FILE] [--from-facts FILE]

    limit    `wide bench limit`: what the machine could do with no network
    seed     `wide bench seed`: the experiment of 2024
    peers    `wide bench peers`: PyTorch DDP over Gloo
    rpc      `wide bench rpc`: small requests beside a bare epoll server
    scale    `wide bench scale`: up to 10,000 connections
    delay    what a delay costs in steps and brings in time
    growth   the cost of a step against slots and against parameters
"""

from delay_cost import measure_delay
from growth import measure_growth
from page_of_parts import Part, parser_for, run
from performance_page import write_page
from whole_runs import bench

SEED_SECONDS = 10.0  # of the run of 2024 alone; all else of that bench takes about five minutes


def benched(name):
    return lambda options, seconds, _: bench(options.bin, name, seconds)


def measure_seed(options, *_):
    return bench(options.bin, "seed", SEED_SECONDS)


PARTS = {"limit": Part(0.04, benched("limit")),
         "seed": Part(0.51, measure_seed),
         "peers": Part(0.16, benched("peers")),
         "rpc": Part(0.03, benched("rpc")),
         "scale": Part(0.06, benched("scale")),
         "delay": Part(0.12, measure_delay),
         "growth": Part(0.08, measure_growth)}

if __name__ == "__main__":
    run(parser_for(__doc__, PARTS, 600, "performance.md"), PARTS, write_page)
