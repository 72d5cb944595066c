"""The page docs/reliability.md, from the facts that measure_reliability.py gathered."""

import re
import textwrap

CELL_LETTERS_MAX = 100

PEERS = """
## The same faults elsewhere

From the sources and documents of these systems, not measured here.

| fault | WIIIIIDE | torchft | PCCL | Flower |
|---|---|---|---|---|
| a node dies within a step | its lease goes to others; every unit still counts exactly once | the step is not committed and all gradients of it are discarded; the dead replica's samples are never processed ("inherently lossy" sampler) | the collective returns an error and the user's code tries again with one peer less | its reply is missing at the timeout (3,600 s unless set), and the round goes on without it |
| the coordinator dies | `--resume`: no committed step is lost, same hash | the lighthouse is a single point of failure | "Master crash = end of run" | state is in memory unless a database is given |
| how it was tried | see above | 1,200 failures, one every 15 s, in one published loss curve | churn stress tests | unit and end-to-end tests |
| result depends on who took part | no, to the bit | yes | on ring and world size | yes |
"""


def faults_found(facts):
    found = []
    simulation = facts.get("simulation", {})
    found += simulation.get("violations", [])
    if facts.get("kills", {}).get("failed"):
        found.append("kills: " + facts["kills"]["failed"])
    if facts.get("reissues", {}).get("failed"):
        found.append("reissues: " + facts["reissues"]["failed"])
    planted = facts.get("planted")
    if planted and planted["caught"] != planted["planted"]:
        found.append(f"planted defects: {planted['caught']} of {planted['planted']} caught")
    return found


def grouped(number):
    return f"{number:,}"


def row(what, asked, measured):
    return f"| {what} | {asked} | {measured} |"


def simulation_rows(simulation):
    ratio = simulation["simulated_seconds"] / max(simulation["real_seconds"], 1e-9)
    hours = simulation["simulated_seconds"] / 3600
    broken = len(simulation["violations"])
    return [
        row("simulated runs, each twice with one trace", "100,000 in an hour",
            f"{grouped(simulation['seeds'])} seeds from {grouped(simulation['first_seed'])} in "
            f"{simulation['real_seconds']:.0f} s; {grouped(simulation['steps'])} steps, "
            f"{grouped(sum(simulation['faults'].values()))} faults, {broken} promises broken"),
        row("simulated over real time", "1,000", f"{ratio:,.0f} ({hours:,.0f} hours simulated)"),
    ]


def kill_rows(counts):
    node, pool = counts.get("node_kills", 0), counts.get("pool_kills", 0)
    verdict = "every run ended with the hash of a calm one" if not counts.get("failed") else "FAILED"
    span = counts.get("seconds", 0)
    return [row("real processes killed", "5,000 nodes and 1,000 pools in an hour",
                f"{grouped(node)} nodes and {grouped(pool)} pools in {span:.0f} s, "
                f"{grouped(counts.get('runs', 0))} runs: {verdict}")]


def reissue_rows(found):
    rows = []
    if "killed" in found:
        rows.append(row("leases of a killed node are free again", "within 100 ms",
                        f"median {max(found['killed'], 1)} ms or less"))
    if "cut" in found:
        rows.append(row("leases behind a silently cut link are free again", "within 5 s",
                        f"{found['cut'] / 1000:.1f} s"))
    return rows


def restart_rows(found):
    return [
        row("restart of the pool to its first new commit, 100 MB of state",
            "p50 below 0.5 s, p99 below 2 s",
            f"p50 {found['p50']:.2f} s, p99 {found['p99']:.2f} s, most {found['most']:.2f} s "
            f"({found['count']} kills)"),
        row("a checkpoint of 100 MB stops training", "at most 20 ms",
            f"p50 {found['stood_ms_p50']:.1f} ms, most {found['stood_ms_most']:.1f} ms "
            f"({found['checkpoints']} times)"),
    ]


def churn_rows(found):
    return [row("throughput with one kill every 15 s, 8 nodes", "0.95 of the undisturbed run",
                f"{found['ratio']:.3f} (medians of {found['rounds']} turns of {found['span']} s)")]


def planted_rows(found):
    return [row("planted defects caught", "all of at least 30",
                f"{found['caught']} of {found['planted']}; {found['by_simulator']} by the simulator "
                "alone")]


def table(facts):
    lines = ["| what | asked | measured |", "|---|---|---|"]
    makers = {"simulation": simulation_rows, "kills": kill_rows, "reissues": reissue_rows,
              "restarts": restart_rows, "churn": churn_rows, "planted": planted_rows}
    for part, maker in makers.items():
        lines += maker(facts[part]) if part in facts else [row(part, "", "left out: too little time")]
    return "\n".join(lines)


def faults_table(simulation):
    lines = ["| simulated fault | times |", "|---|---:|"]
    for kind, count in sorted(simulation["faults"].items(), key=lambda item: -item[1]):
        lines.append(f"| {kind} | {grouped(count)} |")
    return "\n".join(lines)


def caught_words(said):
    """What caught a defect, in whole words and with no folder of the machine that tried it."""
    said = re.sub(r"/\S*/(src/wide/)", r"\1", said)
    check = re.match(r"(W\d+) a bug in wide: ([^\s:]+:\d+)", said)
    if check:  # the condition behind it may be long: who wants it looks there
        return f"{check.group(1)}, a failed check: {check.group(2)}"
    whole = textwrap.shorten(said.rstrip(", "), CELL_LETTERS_MAX, placeholder=" …")
    return whole.replace("|", "\\|") or "–"


def planted_table(found):
    lines = ["| defect | simulator | unit tests |", "|---|---|---|"]
    for one in found["rows"]:
        lines.append(f"| {one['defect']} | {caught_words(one['simulator'])} | "
                     f"{caught_words(one['unit_tests'])} |")
    return "\n".join(lines)


def page(facts):
    parts = [f"""# Reliability

What was tried against WIIIIIDE, and what came out. Written by `make soak` on {facts['date']}
(seed {facts['seed']}, {facts['seconds']:.0f} s, {facts['machine']}); run it to get your own.
{facts.get('note', '')}
{table(facts)}

Two promises are tested byte by byte in `make test`: the log cut at every byte of its last three records,
and every bit of a small log and of a small checkpoint flipped. Nothing goes undetected: the run is
recovered, or refused with file and offset.

## How

- **Simulated runs** (`wide sim`, `src/wide/sim`): the real pool, nodes, frames, ledger and checkpoints
  under a virtual clock, network and disk. All that happens is drawn from one seed: links that delay, chop
  to single bytes, reset, go silent one way, clog and release; disks that forget, tear and reorder what
  was not synced, lose renames, fill up, fail and rot; nodes that crash, pause, repeat themselves and
  send what is plainly wrong; pools that crash at any moment, also while they recover. After every event
  the promises are checked; after the faults stop the run must end in time, with the hash of a calm one.
- **Real processes** (`tests/kill_run_test.cc`, `fault_run_test.cc`, `chaos_run_test.cc`,
  `kill_soak_test.cc`): pools and nodes killed at random and at every failpoint, stopped and continued,
  links cut in network namespaces, disks filled, syncs and allocations that fail, no descriptors left, and
  `wide-chaos` in between. Every run ends with the hash of a calm one, and `wide verify` finds nothing.
- **Planted defects** (`tests/planted`, `scripts/planted_bugs.py`): a line or two of the code made wrong,
  one at a time. The simulator or the unit tests must notice.

Not covered by simulation: the kernel, real threads, libtorch. The process tests and the thread sanitizer
are there for those.
"""]
    if "simulation" in facts:
        parts.append("## Faults in the simulated runs\n\n" + faults_table(facts["simulation"]) + "\n")
    if "planted" in facts:
        parts.append("## Planted defects\n\n" + planted_table(facts["planted"]) + "\n")
    return "\n".join(parts) + PEERS
