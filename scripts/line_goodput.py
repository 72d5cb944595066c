"""How much of a line's rate is values, while the line is what everybody waits for.

The same four nodes and mlp as for codecs on links, sent as they are. With a delay of two steps both
directions of the line always have something to carry: what arrives in a step, over what the line could
have carried in that time, headers of Ethernet, IP and TCP included. These alone take 4.4 % of it.
"""

from codec_links import (LINKS, LONGEST_RUN, NODES, chosen_links, job_text, measure_run,
                         parameter_count)
from page_of_parts import stamp
from shaped_link import NoNamespaces, shaped_link

TARGET, LIMIT = 0.93, 0.956
DELAY = 2
STEPS = {"1 Gbit/s": 60, "100 Mbit/s": 14, "10 Mbit/s": 7}

HEADING = "## How much of a line is used"


def step_seconds(rows):
    """Of the later half, without its last steps, after which nothing more is on its way."""
    rows = rows[len(rows) // 2:len(rows) - DELAY]
    return (rows[-1][1] - rows[0][1]) / (rows[-1][0] - rows[0][0])


def goodput(seconds, megabits):
    values = NODES * parameter_count() * 4  # bytes in a step, one way
    return values * 8 / seconds / (megabits * 1e6)


def measure_line(options, name, say):
    say(f"goodput, {name}")
    megabits, steps = LINKS[name][0], STEPS[name]
    with shaped_link(megabits) as link:
        text = job_text({"lossless": "none"}, steps, delay=DELAY)
        rows, _ = measure_run(options, link, text, LONGEST_RUN)
    seconds = step_seconds(rows)
    return {"link": name, "steps": steps, "step_seconds": seconds,
            "goodput": goodput(seconds, megabits), "measured": stamp()}


def measure_goodput(options, _, say):
    found = {row["link"]: row for row in options.earlier.get("goodput", {}).get("rows", [])}
    try:
        found |= {name: measure_line(options, name, say) for name in chosen_links(options)
                  if name in STEPS}
    except NoNamespaces as reason:
        return {"rows": [], "skipped": f"Shaped links were left out: {reason}"}
    return {"rows": [found[name] for name in STEPS if name in found]}


def goodput_part(facts, table):
    rows = [[row["link"], f"{row['step_seconds']:.3g} s", f"{row['goodput']:.3f}",
             f"≥ {TARGET}", f"{LIMIT}", "yes" if row["goodput"] >= TARGET else "**no**"]
            for row in facts["rows"]]
    skipped = f"\n{facts['skipped']}.\n" if "skipped" in facts else ""
    head = ["line", "a step", "values ÷ line", "target", "limit", "met"]
    return f"""{HEADING}

Measured on {facts['measured']['date']}, {facts['measured']['machine']}.

The same nodes and model, nothing coded, `delay = {DELAY}`, so that both directions always have something to carry:
the values that arrive in a step, over what the line could have carried meanwhile. The rest is headers (4.4 %) and
gaps.
{skipped}
{table(head, rows)}
"""
