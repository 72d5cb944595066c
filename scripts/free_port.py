"""A port that nobody listens on, for a pool that is started in a moment."""

import random
import socket

# Below those that the kernel gives to callers by itself: none of them takes it meanwhile.
FIRST, END = 20000, 32000


def free_port(host="127.0.0.1"):
    while True:
        port = random.randrange(FIRST, END)
        with socket.socket() as probe:
            try:
                probe.bind((host, port))
                return port
            except OSError:
                continue
