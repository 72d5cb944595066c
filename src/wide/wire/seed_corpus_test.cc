// The seeds of this room's fuzz targets, in tests/corpus, are made from the example messages.
// They also pin the format: bytes that change mean another protocol version. Where they are meant
// to change, copy the folder that the failing test names over tests/corpus.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
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

std::string all_of(FrameWriter& writer) {
  Segments segments;
  std::string stream;
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

std::string stream_of(const std::vector<Message>& messages) {
  FrameWriter writer;
  for (const Message& message : messages) {
    writer.push(std::make_shared<const Packet>(encode(message)));
  }
  return all_of(writer);
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

// Results and updates of the target's job are short; a snapshot of zeros is not, and two fragments
// of it are a few hundred bytes of code. The first byte of a mended body says how long its padding
// is.
std::string coded_seed(BufferPool& pool, codec::Lossless codec) {
  const Floats state = take_floats(pool, kFragmentBytes / 4 + 100);
  std::ranges::fill(state.values, 0.0f);
  const auto packet = std::make_shared<const Packet>(encode(Snapshot{1, 2, {}, state}));
  FragmentCoder coder;
  FrameWriter writer;
  writer.push(packet, code_packet(packet, codec, coder, pool));
  std::string stream = all_of(writer);
  for (std::size_t at = 0; at < stream.size();) {
    const auto header =
        *decode_header(std::as_bytes(std::span(stream)).subspan(at).first<kHeaderBytes>());
    std::uint32_t coded_bytes = 0;
    std::memcpy(&coded_bytes, stream.data() + at + kHeaderBytes, 4);
    stream[at + kHeaderBytes] = static_cast<char>(header.body_bytes - 4 - coded_bytes);
    at += kHeaderBytes + header.body_bytes;
  }
  return stream;
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

// Another version of a library may code the same differently.
Seeds make_coded_seeds() {
  BufferPool pool;
  Seeds seeds;
  for (std::size_t i = 1; i < codec::kLosslessCount; ++i) {
    const auto codec = static_cast<codec::Lossless>(i);
    seeds["frame_reader_fuzz/" + std::string(codec::lossless_name(codec)) + "-mended"] =
        std::string("\3\7", 2) + coded_seed(pool, codec);
  }
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

const fs::path kept = fs::path(__FILE__).parent_path() / "../../../tests/corpus";
const fs::path fresh = fs::path(testing::TempDir()) / "wide-corpus";

TEST(SeedCorpus, IsWhatTheExamplesEncodeTo) {
  for (const auto& [path, contents] : make_seeds()) {
    write_file(fresh / path, contents);

    EXPECT_TRUE(read_file(kept / path) == contents) << path << ": see " << fresh / path;
  }
}

TEST(SeedCorpus, HasFragmentsOfEveryCodec) {
  for (const auto& [path, contents] : make_coded_seeds()) {
    write_file(fresh / path, contents);

    EXPECT_FALSE(read_file(kept / path).empty()) << path << ": see " << fresh / path;
  }
}

}  // namespace
}  // namespace wide::wire
