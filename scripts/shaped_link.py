"""A link of a known rate between us and a network namespace, gone at the end.

    with shaped_link(100) as link:          # Mbit/s, both ways; None: loopback, no namespace
        run(link.inside + ["wide", "join", f"wide://{link.host}:{port}"])

Root only. Names and addresses are made from our process id, and nothing else is touched.
"""

import contextlib
import os
import subprocess
from dataclasses import dataclass, field

IP, TC = "/usr/sbin/ip", "/usr/sbin/tc"


@dataclass
class Link:
    host: str  # ours, as seen from inside
    inside: list = field(default_factory=list)  # what a command line inside begins with
    device: str = ""  # our end of the cable


class NoNamespaces(Exception):
    """This machine, or this user, cannot make them."""


def call(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NoNamespaces(f"{' '.join(words)}: {done.stderr.strip() or done.returncode}")


def shape(megabits):
    # A bucket must hold what a kernel's tick lets through, or the rate is never reached.
    burst = max(32_000, int(megabits * 1e6 / 8 / 100))
    return ["root", "tbf", "rate", f"{megabits}mbit", "burst", str(burst), "latency", "20ms"]


@contextlib.contextmanager
def shaped_link(megabits):
    if megabits is None:
        yield Link("127.0.0.1")
        return
    if os.geteuid() != 0 or not os.path.exists(IP) or not os.path.exists(TC):
        raise NoNamespaces("making network namespaces needs root, ip and tc")
    number = os.getpid() % 10000
    name, ours, theirs = f"widelink{number}", f"wl{number}o", f"wl{number}t"
    subnet = f"10.215.{os.getpid() % 250}."
    call(IP, "netns", "add", name)
    try:
        call(IP, "link", "add", ours, "type", "veth", "peer", "name", theirs, "netns", name)
        call(IP, "addr", "add", subnet + "1/24", "dev", ours)
        call(IP, "link", "set", ours, "up")
        call(IP, "-n", name, "addr", "add", subnet + "2/24", "dev", theirs)
        call(IP, "-n", name, "link", "set", theirs, "up")
        call(IP, "-n", name, "link", "set", "lo", "up")
        call(TC, "qdisc", "add", "dev", ours, *shape(megabits))
        call(TC, "-n", name, "qdisc", "add", "dev", theirs, *shape(megabits))
        yield Link(subnet + "1", [IP, "netns", "exec", name], ours)
    finally:
        # The cable goes with the namespace that one of its ends is in.
        subprocess.run([IP, "netns", "del", name], stderr=subprocess.DEVNULL, check=False)
