// The seeds of this room's fuzz targets, in tests/corpus, are made from the example messages.
// They also pin the format: bytes that change mean another protocol version. Where they are meant
// to change, copy the folder that the failing test names over tests/corpus.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "wide/wire/example_messages.h"
#include "wide/wire/frame_writer.h"

namespace wide::wire {
namespace {

namespace fs = std::filesystem;
using Seeds = std::map<std::string, std::string>;  // by path under tests/corpus

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string stream_of(const std::vector<Message>& messages) {
  FrameWriter writer;
  Segments segments;
  std::string stream;
  for (const Message& message : messages) {
    writer.push(std::make_shared<const Packet>(encode(message)));
  }
  while (!writer.empty()) {
    writer.gather(segments);
    std::size_t bytes = 0;
    for (const auto segment : segments) {
      stream += text_of(segment);
      bytes += segment.size();
    }
    writer.sent(bytes);
  }
  return stream;
}

std::string file_name(Kind kind) {
  std::string name(kind_name(kind));
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

// A snapshot in two fragments as the reader's target takes it: of the first only 512 bytes are
// given, the target fills in zeros.
std::string fragments_seed(BufferPool& pool) {
  constexpr std::size_t kGivenBytes = 512;
  const Floats state = take_floats(pool, kFragmentBytes / 4 + 100);
  std::ranges::fill(state.values, 0.0f);
  const std::string stream = stream_of({Snapshot{1, 2, {}, state}});
  return stream.substr(0, kHeaderBytes + kGivenBytes) +
         stream.substr(kHeaderBytes + kFragmentBytes);
}

Seeds make_seeds() {
  BufferPool pool;
  const auto messages = example::messages(pool, example::limits());
  Seeds seeds;
  for (const Message& message : messages) {
    const Packet packet = encode(message);
    const char first = static_cast<char>(static_cast<int>(packet.kind) - 1);
    const std::string body = text_of(example::joined_body(pool, packet).bytes);
    seeds["message_codec_fuzz/" + file_name(packet.kind)] = first + body;
  }
  const std::vector<Message> talk = {messages[4], messages[5], messages[6], messages[11]};
  seeds["frame_reader_fuzz/stranger"] = std::string("\0\5", 2) + stream_of({messages[0]});
  seeds["frame_reader_fuzz/node"] = std::string("\1\7", 2) + stream_of(talk);
  seeds["frame_reader_fuzz/node-mended"] = std::string("\3\7", 2) + stream_of(talk);
  seeds["frame_reader_fuzz/fragments-mended"] = std::string("\3\7", 2) + fragments_seed(pool);
  seeds["frame_reader_fuzz/other-program"] = std::string("\0\1GET / HTTP/1.1\r\n\r\n", 20);
  return seeds;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, const std::string& contents) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << contents;
}

TEST(SeedCorpus, IsWhatTheExamplesEncodeTo) {
  const fs::path kept = fs::path(__FILE__).parent_path() / "../../../tests/corpus";
  const fs::path fresh = fs::path(testing::TempDir()) / "wide-corpus";
  for (const auto& [path, contents] : make_seeds()) {
    write_file(fresh / path, contents);

    EXPECT_TRUE(read_file(kept / path) == contents) << path << ": see " << fresh / path;
  }
}

}  // namespace
}  // namespace wide::wire
