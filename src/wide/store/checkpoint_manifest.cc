#include "wide/store/checkpoint_manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "wide/base/check.h"

namespace wide::store {
namespace {

// Ordered, so that what the pool remembers comes back as it went.
using Json = nlohmann::ordered_json;

constexpr std::string_view kManifestSuffix = ".manifest";
constexpr std::string_view kTensorSuffix = ".safetensors";
constexpr std::size_t kNestingMax = 32;
constexpr std::size_t kHexLetters = 64;

std::string plain_file_name(const Digest& sha256) {
  return fmt::format("{}{}", sha256.hex(), kTensorSuffix);
}

Json file_json(const FileFacts& file) {
  return {{"file", plain_file_name(file.sha256)},
          {"bytes", file.size_bytes},
          {"sha256", file.sha256.hex()}};
}

// Brackets outside of texts. The library's writer calls itself for each level.
bool is_nested_too_deeply(std::string_view json) {
  std::size_t depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char letter = json[i];
    if (in_text && letter == '\\') ++i;
    if (letter == '"') in_text = !in_text;
    if (in_text) continue;
    if ((letter == '{' || letter == '[') && ++depth > kNestingMax) return true;
    if ((letter == '}' || letter == ']') && depth > 0) --depth;
  }
  return false;
}

// An object's fields. The first that is not as it should be is remembered, zeros come from then on.
class Fields final {
 public:
  // `prefix` stands before the keys' names in complaints: "log." for those of the object "log".
  Fields(const Json& object, std::string_view prefix, std::string& flaw)
      : object_(object), prefix_(prefix), flaw_(flaw) {}

  std::uint64_t number(const char* key) {
    const auto* value = find(key);
    if (value != nullptr && value->is_number_unsigned()) return value->get<std::uint64_t>();
    return refuse(key), 0;
  }
  std::string text(const char* key) {
    const auto* value = find(key);
    if (value != nullptr && value->is_string()) return value->get<std::string>();
    return refuse(key), std::string();
  }
  Digest digest(const char* key) {
    const auto digest = parse_digest(text(key));
    if (digest) return *digest;
    return refuse(key), Digest();
  }
  std::uint64_t hex(const char* key) {
    const auto digits = text(key);
    std::uint64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
    if (fmt::format("{:016x}", number) != digits) refuse(key);
    return number;
  }
  const Json& value(const char* key) {
    static const Json kNone;
    const auto* found = find(key);
    if (found == nullptr) refuse(key);
    return found == nullptr ? kNone : *found;
  }

 private:
  const Json* find(const char* key) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }
  void refuse(const char* key) {
    if (flaw_.empty()) flaw_ = fmt::format("its \"{}{}\" is not as it should be", prefix_, key);
  }

  const Json& object_;
  std::string_view prefix_;
  std::string& flaw_;
};

void read_log_facts(const Json& json, CheckpointFacts& facts, std::string& flaw) {
  Fields fields(json, "log.", flaw);
  LogPosition& log = facts.log;
  log.sequence = fields.number("sequence");
  log.previous = fields.digest("previous");
  log.segment = fields.number("segment");
  log.offset_bytes = fields.number("offset");
  facts.synced_to = fields.number("synced");
  const bool fits = log.segment <= log.sequence && log.sequence <= facts.synced_to;
  if (flaw.empty() && !fits) flaw = "its \"log\" contradicts itself";
}

FileFacts read_file_facts(const Json& json, std::string_view prefix, std::string& flaw) {
  Fields fields(json, prefix, flaw);
  const FileFacts file{fields.digest("sha256"), fields.number("bytes")};
  const bool named = fields.text("file") == plain_file_name(file.sha256);
  if (flaw.empty() && !named) flaw = fmt::format("its \"{}file\" is not named by its hash", prefix);
  return file;
}

Manifest read_fields(const Json& json, std::string& flaw) {
  Fields fields(json, "", flaw);
  Manifest manifest;
  manifest.facts.job_id = fields.digest("job_id");
  manifest.facts.step = fields.number("step");
  manifest.facts.chain = fields.hex("chain");
  manifest.facts.state_hash = fields.digest("state_hash");
  read_log_facts(fields.value("log"), manifest.facts, flaw);
  manifest.weights = read_file_facts(fields.value("weights"), "weights.", flaw);
  const Json& optimizer = fields.value("optimizer");
  if (!optimizer.is_null()) manifest.optimizer = read_file_facts(optimizer, "optimizer.", flaw);
  const Json& memory = fields.value("memory");
  if (!memory.is_null()) manifest.memory = read_file_facts(memory, "memory.", flaw);
  const Json& past = fields.value("past");
  if (flaw.empty() && !past.is_object()) flaw = "its \"past\" is no object";
  if (flaw.empty()) manifest.facts.past = past.dump();
  return manifest;
}

tl::unexpected<Error> too_long(const CheckpointFacts& facts, std::size_t bytes) {
  return fail(Errc::kCannotWrite, fmt::format("{}: it would have {} bytes, {} are allowed",
                                              manifest_name(facts.step), bytes, kManifestBytesMax));
}

// The first of the two lines, where the second is its hash and nothing follows.
std::optional<std::string_view> checked_line(std::string_view text) {
  const auto end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const auto line = text.substr(0, end);
  if (text.substr(end + 1) != sha256(line).hex() + "\n") return std::nullopt;
  return line;
}

}  // namespace

std::string FileFacts::name() const {
  return fmt::format("{}/{}", kCheckpointFolder, plain_file_name(sha256));
}

std::string manifest_name(Step step) {
  return fmt::format("{}/{:012}{}", kCheckpointFolder, step, kManifestSuffix);
}

std::optional<Step> step_of_manifest(std::string_view name) {
  Step step = 0;
  std::from_chars(name.data(), name.data() + name.size(), step);
  const auto ours = manifest_name(step);
  if (std::string_view(ours).substr(kCheckpointFolder.size() + 1) != name) return std::nullopt;
  return step;
}

bool is_checkpoint_file(std::string_view name) {
  return name.size() == kHexLetters + kTensorSuffix.size() && name.ends_with(kTensorSuffix) &&
         parse_digest(name.substr(0, kHexLetters)).has_value();
}

Result<std::string> format_manifest(const Manifest& manifest) {
  const auto& facts = manifest.facts;
  if (facts.past.size() > kManifestBytesMax) return too_long(facts, facts.past.size());
  auto past = Json::parse(facts.past.empty() ? "{}" : facts.past, nullptr, false);
  WIDE_CHECK(past.is_object() && !is_nested_too_deeply(facts.past), "a plain JSON object");
  const Json log = {{"sequence", facts.log.sequence},
                    {"previous", facts.log.previous.hex()},
                    {"segment", facts.log.segment},
                    {"offset", facts.log.offset_bytes},
                    {"synced", facts.synced_to}};
  const Json json = {{"format", kCheckpointFormat},
                     {"job_id", facts.job_id.hex()},
                     {"step", facts.step},
                     {"chain", fmt::format("{:016x}", facts.chain)},
                     {"state_hash", facts.state_hash.hex()},
                     {"log", log},
                     {"weights", file_json(manifest.weights)},
                     {"optimizer", manifest.optimizer ? file_json(*manifest.optimizer) : Json()},
                     {"memory", manifest.memory ? file_json(*manifest.memory) : Json()},
                     {"past", std::move(past)}};
  const auto line = json.dump();
  auto text = fmt::format("{}\n{}\n", line, sha256(line).hex());
  if (text.size() > kManifestBytesMax) return too_long(facts, text.size());
  return text;
}

Result<Manifest> parse_manifest(std::string_view text, std::string_view source) {
  const auto damaged = [source](std::string_view why) {
    return fail(Errc::kCheckpointDamaged, fmt::format("{}: {}", source, why));
  };
  const auto line = checked_line(text);
  if (!line) return damaged("its second line is not the hash of its first");
  if (is_nested_too_deeply(*line)) return damaged("it is nested too deeply");
  const auto json = Json::parse(line->begin(), line->end(), nullptr, false);
  if (json.is_discarded() || !json.is_object()) return damaged("its first line is no JSON object");

  std::string flaw;
  const auto format = Fields(json, "", flaw).number("format");
  if (flaw.empty() && format != kCheckpointFormat) {
    return fail(Errc::kOtherFileVersion, fmt::format("{}: checkpoint format {}, this wide reads {}",
                                                     source, format, kCheckpointFormat));
  }
  auto manifest = read_fields(json, flaw);
  if (!flaw.empty()) return damaged(flaw);
  return manifest;
}

Result<Manifest> read_manifest(Disk& disk, Step step) {
  const auto name = manifest_name(step);
  const auto damaged = [&](std::string_view why) {
    return fail(Errc::kCheckpointDamaged, std::string(why));
  };
  const auto file = disk.open(name, Open::kRead);
  if (!file) return damaged(file.error().detail);
  if ((*file)->size_bytes() > kManifestBytesMax) {
    return damaged(fmt::format("{}: {} bytes, {} are allowed", disk.path(name),
                               (*file)->size_bytes(), kManifestBytesMax));
  }
  std::string text((*file)->size_bytes(), '\0');
  if (auto done = (*file)->read(0, std::as_writable_bytes(std::span(text))); !done) {
    return damaged(done.error().detail);
  }
  auto manifest = parse_manifest(text, disk.path(name));
  if (manifest && manifest->facts.step != step) {
    return damaged(fmt::format("{}: it is of step {}", disk.path(name), manifest->facts.step));
  }
  return manifest;
}

}  // namespace wide::store
