// Checkpoints with any bit flipped and cut anywhere, and manifests that lie.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "wide/store/checkpoint.h"
#include "wide/store/checkpoint_manifest.h"
#include "wide/store/example_checkpoint.h"
#include "wide/store/memory_disk.h"

namespace wide::store {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

struct Written {
  MemoryDisk disk;
  BufferPool buffers;
  Manifest manifest;

  Written() {
    WIDE_CHECK(write_all(disk, example_checkpoint(buffers, 120)));
    manifest = read_manifest(disk, 120).value();
  }
  // The error that whoever wants this checkpoint is given; nothing where there is none.
  std::optional<Error> flaw() {
    const auto entry = list_checkpoints(disk).value().at(0);
    if (!entry.facts) return entry.facts.error();
    const auto arrays = read_checkpoint(disk, entry, buffers);
    if (!arrays) return arrays.error();
    return std::nullopt;
  }
  std::vector<std::string> names() const {
    return {manifest_name(120), manifest.weights.name(), manifest.optimizer->name()};
  }
};

TEST(DamagedCheckpoint, IsNoticedAtEveryBit) {
  Written written;
  ASSERT_FALSE(written.flaw());
  int flip_count = 0, undetected_count = 0;
  for (const auto& name : written.names()) {
    auto& file = written.disk.file(name);
    for (std::size_t bit = 0; bit < file.size() * 8; ++bit, ++flip_count) {
      const auto mask = std::byte{1} << (bit % 8);
      file[bit / 8] ^= mask;
      const auto flaw = written.flaw();
      file[bit / 8] ^= mask;
      if (!flaw) {
        ++undetected_count;
        continue;
      }
      EXPECT_EQ(flaw->code, Errc::kCheckpointDamaged);
      EXPECT_THAT(flaw->detail, HasSubstr(name));
    }
  }
  EXPECT_EQ(undetected_count, 0);
  EXPECT_GT(flip_count, 8000);
  RecordProperty("flips", flip_count);
}

TEST(DamagedCheckpoint, IsNoticedWhereverAFileIsCutOrGrows) {
  Written written;
  for (const auto& name : written.names()) {
    auto& file = written.disk.file(name);
    const auto whole = file;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      file.resize(size);
      const auto flaw = written.flaw();
      ASSERT_TRUE(flaw) << name << " " << size;
      EXPECT_EQ(flaw->code, Errc::kCheckpointDamaged);
      file = whole;
    }
    file.push_back(std::byte{'\n'});
    EXPECT_TRUE(written.flaw());
    file = whole;
  }
  EXPECT_FALSE(written.flaw());
}

std::string text_of(const std::string& line) { return line + "\n" + sha256(line).hex() + "\n"; }

// What the parser says of this JSON, properly hashed.
Result<Manifest> parse_line(const std::string& line) {
  return parse_manifest(text_of(line), "some.manifest");
}

void expect_refused(const std::string& line, const std::string& why) {
  const auto manifest = parse_line(line);
  ASSERT_FALSE(manifest) << line;
  EXPECT_EQ(manifest.error().code, Errc::kCheckpointDamaged);
  EXPECT_THAT(manifest.error().detail, HasSubstr("some.manifest"));
  EXPECT_THAT(manifest.error().detail, HasSubstr(why));
}

Json good_json() {
  BufferPool buffers;
  Manifest manifest;
  manifest.facts = example_checkpoint(buffers, 7).facts;
  manifest.weights = {sha256("weights"), 100};
  manifest.optimizer = FileFacts{sha256("optimizer"), 200};
  const auto text = format_manifest(manifest).value();
  return Json::parse(text.substr(0, text.find('\n')));
}

TEST(ParseManifest, RefusesEveryFieldThatIsMissingOrOfAnotherKind) {
  const Json good = good_json();
  ASSERT_TRUE(parse_line(good.dump()));
  const auto with_each = [&](const Json& value) {
    for (const auto& [key, old] : good.items()) {
      const bool may_lack = key == "optimizer" || key == "memory";
      if (may_lack && value.is_null()) continue;  // which is a way to have none
      if (key == "past" && value.is_object()) continue;
      Json changed = good;
      changed[key] = value;
      expect_refused(changed.dump(), key);
    }
  };
  with_each(nullptr);
  with_each(-1);
  with_each(1.5);
  with_each("text");
  with_each(true);
  with_each(Json::array({1, 2}));
  with_each(Json::object({{"a", 1}}));
  for (const auto& [key, old] : good.items()) {
    Json changed = good;
    changed.erase(key);
    expect_refused(changed.dump(), key);
  }
}

TEST(ParseManifest, RefusesFilesThatAreNotNamedByTheirHash) {
  for (const auto* name : {"../../etc/passwd", "", "weights.safetensors"}) {
    Json changed = good_json();
    changed["weights"]["file"] = name;
    expect_refused(changed.dump(), "not named by its hash");
  }
}

TEST(ParseManifest, RefusesALogThatContradictsItself) {
  Json changed = good_json();
  changed["log"]["segment"] = 9;
  expect_refused(changed.dump(), "\"log\"");
}

TEST(ParseManifest, RefusesWhatIsNoJsonObject) {
  for (const auto* line : {"", "[]", "3", "{", "{}x", "\"text\"", "{\"format\":1,}"}) {
    expect_refused(line, "");
  }
  EXPECT_FALSE(parse_manifest("", "x"));
  EXPECT_FALSE(parse_manifest("{}", "x"));
  EXPECT_FALSE(parse_manifest("{}\n\n", "x"));
}

TEST(ParseManifest, RefusesDeepNestingAtOnce) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  expect_refused("{\"format\":1,\"past\":" + deep + "}", "nested");
  // Brackets in a text are no nesting.
  Json changed = good_json();
  changed["past"]["text"] = "\"" + std::string(1000, '[') + "\\";
  EXPECT_TRUE(parse_line(changed.dump()));
}

TEST(ReadManifest, RefusesAnOversizedOneUnread) {
  MemoryDisk disk;
  ASSERT_TRUE(disk.make_folder("checkpoints"));
  disk.file(manifest_name(1)).resize(kManifestBytesMax + 1);

  const auto manifest = read_manifest(disk, 1);

  ASSERT_FALSE(manifest);
  EXPECT_EQ(manifest.error().code, Errc::kCheckpointDamaged);
}

TEST(FormatManifest, RefusesToRememberMoreThanIsRead) {
  Manifest manifest;
  manifest.facts.past = fmt::format("{{\"text\":\"{}\"}}", std::string(kManifestBytesMax, 'x'));

  EXPECT_EQ(format_manifest(manifest).error().code, Errc::kCannotWrite);
}

TEST(StepOfManifest, TakesOnlyNamesThatWeGive) {
  EXPECT_EQ(step_of_manifest("000000000120.manifest"), Step{120});
  EXPECT_EQ(step_of_manifest("1234567890123.manifest"), Step{1234567890123});
  for (const auto* name : {"120.manifest", "000000000120.manifest2", "", ".manifest",
                           "0000000000120.manifest", "-00000000120.manifest", "notes"}) {
    EXPECT_FALSE(step_of_manifest(name)) << name;
  }
}

RC_GTEST_PROP(Manifest, ComesBackAsItWas, ()) {
  Manifest manifest;
  auto& facts = manifest.facts;
  facts.job_id = sha256(*rc::gen::arbitrary<std::string>());
  facts.step = *rc::gen::arbitrary<Step>();
  facts.chain = *rc::gen::arbitrary<std::uint64_t>();
  facts.state_hash = sha256(*rc::gen::arbitrary<std::string>());
  facts.log.segment = *rc::gen::arbitrary<std::uint32_t>();
  facts.log.sequence = facts.log.segment + *rc::gen::arbitrary<std::uint32_t>();
  facts.log.previous = sha256(*rc::gen::arbitrary<std::string>());
  facts.log.offset_bytes = *rc::gen::arbitrary<std::uint64_t>();
  facts.synced_to = facts.log.sequence + *rc::gen::arbitrary<std::uint8_t>();
  facts.past = Json{{"z", *rc::gen::arbitrary<std::uint64_t>()},
                    {"a", *rc::gen::arbitrary<std::vector<double>>()}}
                   .dump();
  manifest.weights = {sha256("w"), *rc::gen::arbitrary<std::uint64_t>()};
  if (*rc::gen::arbitrary<bool>()) manifest.optimizer = FileFacts{sha256("o"), 5};

  const auto text = format_manifest(manifest).value();
  const auto back = parse_manifest(text, "x").value();

  RC_ASSERT(format_manifest(back).value() == text);
  RC_ASSERT(back.facts.job_id == facts.job_id && back.facts.step == facts.step);
  RC_ASSERT(back.facts.chain == facts.chain && back.facts.state_hash == facts.state_hash);
  RC_ASSERT(back.facts.log.sequence == facts.log.sequence);
  RC_ASSERT(back.facts.log.previous == facts.log.previous);
  RC_ASSERT(back.facts.log.segment == facts.log.segment);
  RC_ASSERT(back.facts.log.offset_bytes == facts.log.offset_bytes);
  RC_ASSERT(back.facts.synced_to == facts.synced_to);
  RC_ASSERT(back.facts.past == facts.past);
  RC_ASSERT(back.weights == manifest.weights && back.optimizer == manifest.optimizer);
}

}  // namespace
}  // namespace wide::store
