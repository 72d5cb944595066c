#!/usr/bin/env python3
"""Holds the house to its own rules: arrows, doors, names, sizes, coroutines, clocks.

    check_rooms.py [ROOT]        prints  file:line: message  and exits 1 where a rule is broken

Reads files as text: no compiler, no packages, well under a second. Each rule is a function that
takes a Source and yields (line, message); RULES at the end lists them. What a rule means and why
it exists stands in docs/decisions/0001-rooms.md and CONTRIBUTING.md.
"""

import bisect
import re
import sys
from pathlib import Path

FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70

# Which rooms a room may include, itself left out. Arrows only point down.
ARROWS = {
    "base": set(),
    "codec": {"base"},
    "wire": {"codec", "base"},
    "data": {"base"},
    "engine": {"codec", "wire", "base"},
    "store": {"base"},
    "history": {"engine", "store", "codec", "wire", "base"},
    "net": {"history", "engine", "store", "data", "codec", "wire", "base"},
    "sim": {"history", "engine", "store", "codec", "wire", "base"},
    "train": {"engine", "data", "codec", "wire", "base"},
}
ARROWS["apps"] = set(ARROWS)

# Big dependencies: an include that matches, and the only places (under src/wide) for it.
DOORS = [
    (r"(torch|ATen|c10|caffe2)/", r"train/", "libtorch", "train/"),
    (r"asio(\.hpp|/)", r"net/", "Asio", "net/"),
    (r"openssl/(evp|sha)\.h", r"base/digest\.cc$", "libcrypto's hashes", "base/digest.cc"),
    (r"openssl/(?!(evp|sha)\.h)", r"net/", "OpenSSL", "net/"),
    (r"xxhash\.h", r"base/digest\.cc$", "xxHash", "base/digest.cc"),
    (r"toml\+\+/", r"engine/job\w*\.cc$", "toml++", "engine/job*.cc"),
    (r"hwy/", r"(engine|codec)/|base/sha256_lanes", "Highway",
     "engine/, codec/ and base/sha256_lanes"),
    (r"nlohmann/", r"(store|history|net|apps)/", "nlohmann-json", "store/, history/, net/ and apps/"),
    (r"CLI/", r"apps/", "CLI11", "apps/"),
    (r"zlib\.h", r"(data|codec)/", "zlib", "data/ and codec/"),
    (r"tl/", r"base/", "tl::expected", "base/ (everyone else says Result)"),
    (r"(gtest|gmock)/", r".*_test\.cc$", "GoogleTest", "*_test.cc"),
    (r"rapidcheck[/.]", r".*(_test\.cc|/example_\w+\.h)$", "rapidcheck", "*_test.cc and example_*.h"),
    (r"benchmark/", r".*_bench\.cc$", "Google Benchmark", "*_bench.cc"),
]

# Rooms that decide but never act. Their tests may do as they like.
PURE_ROOMS = {"codec", "wire", "engine"}
EFFECTS = r"fstream|iostream|filesystem|thread|random|unistd\.h|fcntl\.h|sys/.*|netinet/.*|arpa/.*"

BANNED_WORDS = {
    "manager", "managers", "helper", "helpers", "util", "utils", "utility", "utilities", "common",
    "misc", "handler", "handlers", "info", "data",
}  # fmt: skip

CODE_SUFFIXES = {".h", ".cc"}
TEXT_SUFFIXES = CODE_SUFFIXES | {".py", ".sh", ".cmake", ".md", ".toml", ".txt", ""}
SIBLING = re.compile(r"_(test|bench|fuzz)\.cc$")


# --- Reading -----------------------------------------------------------------------------------

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<raw>R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)")
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<number>\b[0-9](?:'?[0-9a-zA-Z_.])*)
      | (?P<letter>'(?:\\.|[^'\\\n])+')""",
    re.DOTALL | re.VERBOSE,
)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)


def blank(text):
    """Spaces instead of everything, so that offsets and lines stay where they were."""
    return re.sub(r"[^\n]", " ", text)


def keep_quotes(text):
    """A string without its contents: still an operand, never a brace."""
    return text[0] + blank(text[1:-1]) + text[-1] if len(text) > 1 else text


def without_comments(text):
    return TOKEN.sub(lambda m: blank(m[0]) if m["comment"] else m[0], text)


def code_alone(text):
    """Comments, contents of strings and preprocessor lines blanked."""

    def replace(match):
        if match["comment"]:
            return blank(match[0])
        return match[0] if match["number"] else keep_quotes(match[0])

    return DIRECTIVE.sub(lambda m: blank(m[0]), TOKEN.sub(replace, text))


class Source:
    """One file: where it lies, what it says, and what of that is code."""

    def __init__(self, root, path):
        self.path = path.relative_to(root).as_posix()
        self.text = path.read_text(encoding="utf-8", errors="replace")
        self.line_starts = [0] + [m.end() for m in re.finditer("\n", self.text)]
        self.is_code = path.suffix in CODE_SUFFIXES
        self.is_header = path.suffix == ".h"
        in_house = re.match(r"src/wide/(([a-z0-9_]+)/.*)", self.path)
        self.place = in_house[1] if in_house else ""  # below src/wide
        self.room = in_house[2] if in_house else ""
        self.is_sibling = bool(SIBLING.search(self.path))  # a test, benchmark or fuzz target
        self.code = code_alone(self.text) if self.is_code else ""

    def line_at(self, offset):
        return bisect.bisect_right(self.line_starts, offset)

    def includes(self):
        """(line, "<" or a quote, path) of each include."""
        pattern = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
        for match in pattern.finditer(without_comments(self.text)):
            yield self.line_at(match.start(1)), match[1], match[2]


# --- Rooms and doors ---------------------------------------------------------------------------


def arrows_point_down(source):
    if not source.room:
        return
    if source.room not in ARROWS:
        yield 1, f"unknown room '{source.room}': rooms are {', '.join(ARROWS)}"
        return
    allowed = ARROWS[source.room] | {source.room}
    for line, _, path in source.includes():
        match = re.match(r"wide/([a-z0-9_]+)/", path)
        if match and match[1] not in allowed:
            yield line, f"{source.room}/ may not use {match[1]}/"


def build_follows_arrows(source):
    """The USES of every wide_room() in the build are arrows too."""
    if source.path != "src/wide/CMakeLists.txt":
        return
    for match in re.finditer(r"wide_room\((\w+)\s*([^)]*)\)", source.text):
        room, rest = match[1], match[2]
        uses = re.search(r"USES\s+([a-z0-9_\s]+)", rest)
        for used in uses[1].split() if uses else []:
            if used not in ARROWS.get(room, set()):
                yield source.line_at(match.start()), f"{room}/ may not use {used}/ (USES)"


def doors_stay_shut(source):
    if not source.room:
        return
    for line, _, path in source.includes():
        for pattern, place, name, where in DOORS:
            if re.match(pattern, path) and not re.match(place, source.place):
                yield line, f"{name} belongs in {where} only"


def pure_rooms_act_not(source):
    if source.room not in PURE_ROOMS or source.is_sibling:
        return
    for line, _, path in source.includes():
        if re.fullmatch(EFFECTS, path):
            yield line, f"{source.room}/ is pure: <{path}> belongs to net/, store/ or apps/"


def includes_read_alike(source):
    if not source.is_code:
        return
    house = re.compile(r"wide/[a-z0-9_]+/([a-z0-9_]+/)*[a-z0-9_]+(-inl)?\.h")
    beside = source.path.startswith("tests/")  # whole-run tests are one folder of neighbours
    for line, quote, path in source.includes():
        if quote == "<" and path.startswith("wide/"):
            yield line, f'write #include "{path}"'
        elif quote == '"' and not house.fullmatch(path) and not (beside and "/" not in path):
            yield line, f'"{path}" should read "wide/room/file.h"'


def headers_start_alike(source):
    # A Highway -inl.h is included once per SIMD target and guards itself.
    if not source.is_header or source.path.endswith("-inl.h"):
        return
    first = next((text for text in source.text.splitlines() if text.strip()), "")
    if first.strip() != "#pragma once":
        yield 1, "a header starts with #pragma once"


# --- Names and sizes ---------------------------------------------------------------------------


def words_of(name):
    """PascalCase, snake_case and kebab-case, in lower-case words."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def files_have_good_names(source):
    if not source.path.startswith(("src/", "tests/", "scripts/")):
        return
    parts = Path(source.path).with_suffix("").parts
    for depth, part in enumerate(parts):
        if part == "data" and parts[:depth] == ("src", "wide"):
            continue  # the one room of that name
        for word in BANNED_WORDS.intersection(words_of(part)):
            yield 1, f"'{word}' in the name {part}: find the noun"


def types_have_good_names(source):
    pattern = re.compile(
        r"\b(?:class|struct|union|enum(?:\s+class|\s+struct)?)\s+(?:\[\[.*?\]\]\s*)?([A-Za-z_]\w*)"
        r"|\busing\s+([A-Za-z_]\w*)\s*="
    )
    for match in pattern.finditer(source.code):
        name = match[1] or match[2]
        for word in BANNED_WORDS.intersection(words_of(name)):
            yield source.line_at(match.start()), f"'{word}' in the type {name}: find the noun"


def files_stay_small(source):
    line_count = len(source.text.splitlines())
    if source.is_code and line_count > FILE_LINES_MAX:
        yield FILE_LINES_MAX + 1, f"{line_count} lines: split it ({FILE_LINES_MAX} at most)"


def matching(code, start):
    """Offset of the bracket that closes the one at `start`; the end of the text where none does."""
    depth = 0
    for at in range(start, len(code)):
        if code[at] in "([{":
            depth += 1
        elif code[at] in ")]}":
            depth -= 1
            if depth == 0:
                return at
    return len(code) - 1


SCOPE_HEAD = re.compile(r"\b(namespace|extern)\b|\b(class|struct|union|enum)\b(?!.*\(\))", re.S)
TEMPLATE_HEAD = re.compile(r"template\s*<[^{]*?>(?=\s*(class|struct|union|enum|requires)\b)")


def head_kind(head):
    """What a brace opens, by the text since the last statement: scope, function or value."""
    plain = TEMPLATE_HEAD.sub(" ", head).replace("alignas()", " ")
    if SCOPE_HEAD.search(plain):
        return "scope"
    tail = plain.rsplit("()", 1)[-1]
    if "()" in plain and "=" not in tail:
        return "function"
    return "function" if not plain.strip() or plain.lstrip().startswith((",", ":")) else "value"


def functions(source):
    """(first line, last line) of every function, by its braces. Lambdas count with theirs."""
    code, at, head_start, head = source.code, 0, 0, ""
    while at < len(code):
        char = code[at]
        if char == "(":  # parentheses are emptied, so that a default value is no assignment
            at, head = matching(code, at), head + "()"
        elif char == "{":
            kind, close = head_kind(head), matching(code, at)
            if kind == "function":
                first = re.compile(r"\S").search(code, head_start).start()
                yield source.line_at(first), source.line_at(close)
            at = at if kind == "scope" else close
            head_start, head = at + 1, ""
        elif char in ";}" or (char == ":" and head.strip() in ("public", "private", "protected")):
            head_start, head = at + 1, ""
        else:
            head += char
        at += 1


def functions_stay_small(source):
    for first, last in functions(source):
        length = last - first + 1
        if length > FUNCTION_LINES_MAX:
            yield first, f"a function of {length} lines: split it ({FUNCTION_LINES_MAX} at most)"


# --- Coroutines, clocks, promises --------------------------------------------------------------


def coroutines_live_in_net(source):
    if not source.room or source.room == "net":
        return
    for match in re.finditer(r"\bco_(await|return|yield)\b", source.code):
        yield source.line_at(match.start()), "coroutines live in net/ only"


def awaited_expression(code, start):
    """From co_await to the end of its statement, or of the bracket that it stands in."""
    at = start
    while at < len(code) and code[at] not in ";)]}":
        at = matching(code, at) + 1 if code[at] in "([{" else at + 1
    return code[start:at]


# A bracket that follows no operand, its captures, and what may come behind a lambda's bracket.
LAMBDA = re.compile(
    r"(?<![\w)\]])(?<![\w)\]] )\[(?!\[)([^\[\]]*)\]\s*(?=[({<]|mutable|noexcept|->)"
)


def trap_in(expression):
    """Why g++ 12.2 would destroy a temporary of this co_await twice, or nothing."""
    for match in LAMBDA.finditer(expression):
        if match[1].strip():
            return "a capturing lambda inside co_await is destroyed twice by g++ 12: name it first"
    bodies = re.compile(r"\[\]\s*(\([^()]*\))?[^(){};,]*\{")
    while match := bodies.search(expression):  # captureless lambdas are fine; so is what they hold
        close = matching(expression, match.end() - 1)
        expression = expression[: match.start()] + expression[close + 1 :]
    if "{" in expression:
        return "a braced value inside co_await is destroyed twice by g++ 12: name it first"
    return None


def await_trap_is_avoided(source):
    for match in re.finditer(r"\bco_await\b", source.code):
        why = trap_in(awaited_expression(source.code, match.end()))
        if why:
            yield source.line_at(match.start()), why


# Drivers, and the one file whose subject is how fast this machine is.
CLOCK_PLACES = re.compile(r"net/|apps/|train/blas_check\.cc$")


def clocks_are_told(source):
    if not source.room or CLOCK_PLACES.match(source.place) or source.is_sibling:
        return
    for match in re.finditer(r"\b\w*[Cc]lock(_t|_type)?\s*::\s*now\b", source.code):
        yield source.line_at(match.start()), "only net/, apps/ and tests read a clock: pass it in"


def nothing_is_left_undone(source):
    if source.path.startswith("scripts/check_rooms"):
        return
    for match in re.finditer(r"\b(TODO|FIXME|XXX)\b", source.text):
        yield source.line_at(match.start()), f"{match[1]}: do it, or write it into an issue"


RULES = [
    arrows_point_down,
    build_follows_arrows,
    doors_stay_shut,
    pure_rooms_act_not,
    includes_read_alike,
    headers_start_alike,
    files_have_good_names,
    types_have_good_names,
    files_stay_small,
    functions_stay_small,
    coroutines_live_in_net,
    await_trap_is_avoided,
    clocks_are_told,
    nothing_is_left_undone,
]

# --- The walk ----------------------------------------------------------------------------------


def our_files(root):
    """Everything we wrote: the folders below, and the files beside them."""
    for top in ("src", "tests", "scripts", "cmake", "docs", "examples"):
        yield from sorted((root / top).rglob("*"))
    yield from sorted(root.iterdir())


def sources(root):
    for path in our_files(root):
        generated = "__pycache__" in path.parts or "corpus" in path.parts or "golden" in path.parts
        if path.is_file() and path.suffix in TEXT_SUFFIXES and not generated:
            yield Source(root, path)


def check(root):
    """Every complaint about the tree at `root`, as "file:line: message"."""
    for source in sources(root):
        for rule in RULES:
            for line, message in rule(source):
                yield f"{source.path}:{line}: {message}"


def main(arguments):
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    complaints = list(check(root))
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
