#!/usr/bin/env python3
"""Every rule of check_rooms.py, shown failing on a small tree, and passing where it should."""

import tempfile
import unittest
from pathlib import Path

import check_rooms

HEADER = "#pragma once\n"


def complaints(files):
    """What check_rooms says of a tree with these files, by path."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        return list(check_rooms.check(root))


class HouseTest(unittest.TestCase):
    def refuses(self, path, text, place, words):
        found = complaints({path: text})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{path}:{place}: "), found[0])
        self.assertIn(words, found[0])

    def accepts(self, path, text):
        self.assertEqual(complaints({path: text}), [])


class Arrows(HouseTest):
    def test_lower_room_may_not_use_upper(self):
        text = HEADER + '#include "wide/engine/job.h"\n'
        self.refuses("src/wide/wire/frame.h", text, 2, "wire/ may not use engine/")

    def test_neighbours_on_one_floor_stay_apart(self):
        text = '#include "wide/data/dataset.h"\n'
        self.refuses("src/wide/engine/job.cc", text, 1, "engine/ may not use data/")
        text = '#include "wide/net/link.h"\n'
        self.refuses("src/wide/train/model.cc", text, 1, "train/ may not use net/")

    def test_arrows_of_the_design_hold(self):
        for room, below in check_rooms.ARROWS.items():
            for used in below | {room}:
                self.accepts(f"src/wide/{room}/x.cc", f'#include "wide/{used}/y.h"\n')

    def test_unknown_room(self):
        self.refuses("src/wide/attic/box.cc", "int x;\n", 1, "unknown room 'attic'")

    def test_include_in_a_comment_is_none(self):
        self.accepts("src/wide/base/x.cc", '// like\n/*\n#include "wide/net/link.h"\n*/\n')

    def test_build_follows(self):
        text = "wide_room(base LIBS fmt::fmt)\nwide_room(engine USES codec wire)\n"
        self.accepts("src/wide/CMakeLists.txt", text)
        text += "wide_room(store USES base net)\n"
        self.refuses("src/wide/CMakeLists.txt", text, 3, "store/ may not use net/")


class Doors(HouseTest):
    def test_each_opens_in_its_place_alone(self):
        cases = [
            ("torch/torch.h", "train/model.cc", "engine/job.cc"),
            ("torch/torch.h", "train/model.cc", "apps/node/main.cc"),
            ("ATen/ATen.h", "train/model.cc", "net/link.cc"),
            ("asio.hpp", "net/link.cc", "apps/cli/main.cc"),
            ("asio/ip/tcp.hpp", "net/link.cc", "sim/world.cc"),
            ("openssl/ssl.h", "net/tls.cc", "base/digest.cc"),
            ("openssl/evp.h", "base/digest.cc", "store/log.cc"),
            ("openssl/sha.h", "base/digest.cc", "store/log.cc"),
            ("xxhash.h", "base/digest.cc", "wire/frame.cc"),
            ("toml++/toml.h", "engine/job_parser.cc", "engine/layout.cc"),
            ("hwy/highway.h", "codec/planes.cc", "base/bytes.cc"),
            ("nlohmann/json.hpp", "store/tensor_file.cc", "engine/ledger.cc"),
            ("CLI/CLI.hpp", "apps/cli/main.cc", "net/link.cc"),
            ("zlib.h", "data/gunzip.cc", "store/log.cc"),
            ("tl/expected.hpp", "base/error.cc", "wire/frame.cc"),
            ("gtest/gtest.h", "wire/frame_test.cc", "wire/frame.cc"),
            ("rapidcheck.h", "wire/example_messages.h", "wire/frame.cc"),
            ("benchmark/benchmark.h", "wire/frame_bench.cc", "wire/frame.cc"),
        ]
        for include, inside, outside in cases:
            text = HEADER + f"#include <{include}>\n"
            with self.subTest(include=include):
                self.accepts(f"src/wide/{inside}", text)
                self.refuses(f"src/wide/{outside}", text, 2, "only")

    def test_whole_run_tests_may_use_anything(self):
        text = "#include <nlohmann/json.hpp>\n#include <gtest/gtest.h>\n"
        self.accepts("tests/run_test.cc", text)

    def test_pure_rooms_have_no_files_threads_or_sockets(self):
        for include in ("fstream", "thread", "filesystem", "sys/socket.h", "random"):
            text = f"#include <{include}>\n"
            self.refuses("src/wide/engine/pool/pool.cc", text, 1, "engine/ is pure")
            self.accepts("src/wide/engine/pool/pool_test.cc", text)
            self.accepts("src/wide/net/link.cc", text)


class Includes(HouseTest):
    def test_read_from_the_house(self):
        self.refuses("src/wide/wire/a.cc", '#include "frame.h"\n', 1, "wide/room/file.h")
        self.refuses("src/wide/wire/a.cc", '#include "../base/x.h"\n', 1, "wide/room/file.h")
        self.refuses("src/wide/wire/a.cc", "#include <wide/base/x.h>\n", 1, 'write #include "wide/')
        self.accepts("src/wide/engine/a.cc", '#include "wide/engine/pool/pool.h"\n')
        self.accepts("tests/run_test.cc", '#include "process.h"\n')
        self.refuses("tests/run_test.cc", '#include "../src/x.h"\n', 1, "wide/room/file.h")

    def test_headers_start_with_pragma_once(self):
        self.refuses("src/wide/base/x.h", "// An idea.\n#pragma once\n", 1, "#pragma once")
        self.refuses("src/wide/base/x.h", "", 1, "#pragma once")
        self.accepts("src/wide/base/x.h", "\n#pragma once\n// An idea.\n")
        self.accepts("src/wide/engine/sum-inl.h", "#if defined(X) == defined(Y)\n#endif\n")


class Names(HouseTest):
    def test_of_files(self):
        for name in ("net_utils", "lease_manager", "common", "frame_handler", "node_info", "data"):
            with self.subTest(name=name):
                self.refuses(f"src/wide/net/{name}.cc", "int x;\n", 1, "find the noun")
        self.refuses("tests/helpers/x.cc", "int x;\n", 1, "'helpers'")
        self.refuses("scripts/misc.py", "x = 1\n", 1, "'misc'")

    def test_of_types(self):
        cases = {
            "class LinkManager final {};": "'manager'",
            "struct NodeInfo;": "'info'",
            "enum class UtilKind { kA };": "'util'",
            "using FrameHandler = int;": "'handler'",
            "template <class T>\nstruct BatchData {};": "'data'",
        }
        for text, word in cases.items():
            with self.subTest(text=text):
                line = 1 + text.count("\n")
                self.refuses("src/wide/net/x.cc", text + "\n", line, word)

    def test_data_is_the_room_and_part_of_longer_words(self):
        text = HEADER + "class Dataset {};\nusing Metadata = int;\n"
        self.accepts("src/wide/data/dataset.h", text)

    def test_functions_and_comments_may_say_info(self):
        self.accepts("src/wide/base/log.cc", '// class Info\nvoid info() { x("struct Data"); }\n')


class Sizes(HouseTest):
    def body(self, line_count):
        return "".join(f"  call({n});\n" for n in range(line_count))

    def test_of_files(self):
        self.accepts("src/wide/base/x.cc", "int x;\n" * 600)
        self.refuses("src/wide/base/x.cc", "int x;\n" * 601, 601, "601 lines")

    def test_of_functions(self):
        heads = [
            "void f() {\n",
            "int Pool::f(int a = {1}, std::string b = g(2)) const noexcept {\n",
            "TEST(Subject, Claim) {\n",
            "bool operator==(const A& a, const A& b) {\n",
            "template <class T = int>\nauto f(T t) -> decltype(t) {\n",
        ]
        for head in heads:
            whole = self.body(70 - 1 - head.count("\n"))
            with self.subTest(head=head):
                self.accepts("src/wide/base/x.cc", head + whole + "}\n")
                self.refuses("src/wide/base/x.cc", head + whole + "call();\n}\n", 1, "71 lines")

    def test_of_methods_and_constructors(self):
        head = "namespace a {\nclass alignas(64) B final {\n public:\n  void f() {\n"
        text = head + self.body(70) + "  }\n};\n}\n"
        self.refuses("src/wide/base/x.cc", text, 4, "72 lines")
        text = "B::B(int a) : a_{a}, b_(2) {\n" + self.body(70) + "}\n"
        self.refuses("src/wide/base/x.cc", text, 1, "72 lines")

    def test_tables_and_scopes_are_no_functions(self):
        table = "constexpr Row kRows[] = {\n" + "    {1, \"}\"},\n" * 100 + "};\n"
        self.accepts("src/wide/base/x.cc", table)
        many = "void f() {\n  if (a) {\n  }\n}\n" * 40
        self.accepts("src/wide/base/x.cc", "namespace a::b {\nstruct C {\n" + many + "};\n}\n")

    def test_braces_in_text_do_not_count(self):
        text = "void f() {\n  a('{', \"{\", R\"x({{{)x\", 1'000);  // {\n}\n" + "int x;\n" * 90
        self.accepts("src/wide/base/x.cc", text + "void g() {\n}\n")


class Coroutines(HouseTest):
    def test_live_in_net(self):
        text = "Task f() { co_await g(); }\n"
        self.accepts("src/wide/net/link.cc", text)
        self.refuses("src/wide/apps/cli/main.cc", text, 1, "coroutines live in net/")
        self.refuses("src/wide/sim/w.cc", "Task f() { co_return; }\n", 1, "coroutines live in net/")

    def test_trap_is_seen(self):
        cases = [
            "co_await send(Note{1, text});",
            "co_await send({1, text});",
            "co_await send(a,\n  std::vector<int>{1, 2});",
            "if (co_await ask(Note{}) == 3) {\n}",
            "auto n = co_await with([text] { return 1; });",
            "co_await with(a, [&](int x) { return x; });",
            "co_return co_await send(Note{1});",
            "co_await with([] { return 1; }, Note{2});",
        ]
        for case in cases:
            with self.subTest(case=case):
                text = f"Task f() {{\n  {case}\n}}\n"
                self.refuses("src/wide/net/x.cc", text, 2, "name it first")
        self.refuses("tests/x.cc", "Task f() { co_await g({1}); }\n", 1, "name it first")

    def test_named_values_pass(self):
        cases = [
            "Note note{1, text};\n  co_await send(std::move(note));",
            "if (co_await ask()) { call({1, 2}); }",
            "while (co_await ask(rows[1], (*p)[n])) { Note{1}; }",
            "co_await with([](int x) { return Note{x}; });",
            "co_await send(kBrace);  // like {1}\n  const Note n{2};",
        ]
        for case in cases:
            with self.subTest(case=case):
                self.accepts("src/wide/net/x.cc", f"Task f() {{\n  {case}\n}}\n")


class Promises(HouseTest):
    def test_only_drivers_read_a_clock(self):
        text = "auto t = std::chrono::steady_clock::now();\n"
        for place in ("engine/pool/pool.cc", "base/log.cc", "sim/w.cc", "train/model.cc"):
            self.refuses(f"src/wide/{place}", text, 1, "read a clock")
        for place in ("net/link.cc", "apps/cli/main.cc", "engine/pool/pool_test.cc"):
            self.accepts(f"src/wide/{place}", text)
        self.refuses("src/wide/store/x.cc", "auto t = Clock::now();\n", 1, "read a clock")
        self.accepts("tests/run_test.cc", text)

    def test_nothing_is_left_for_later(self):
        self.refuses("src/wide/base/x.cc", "int x;\n// TODO: more\n", 2, "TODO")
        self.refuses("docs/x.md", "FIXME\n", 1, "FIXME")
        self.refuses("Makefile", "# XXX\n", 1, "XXX")
        self.accepts("src/wide/base/x.cc", "int kTODOs;\n")


if __name__ == "__main__":
    unittest.main()
