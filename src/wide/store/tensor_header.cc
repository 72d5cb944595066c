#include "wide/store/tensor_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

namespace wide::store {
namespace {

constexpr std::string_view kMetadataName = "__metadata__";
constexpr std::size_t kRankMax = 32;

// Names come from the file: quoted, escaped and short enough for a line.
std::string in_quotes(std::string_view name) { return fmt::format("{:?}", name.substr(0, 60)); }

// Takes the parser's tokens. Every verb returns whether to go on; once it does not, why() says why.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  TensorHeader take() { return std::move(header_); }
  const std::string& why() const { return why_; }

  bool start_object(std::size_t) override;
  bool key(std::string& text) override;
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override;
  bool number_unsigned(std::uint64_t value) override;
  bool string(std::string& text) override;

  bool null() override { return misplaced("null"); }
  bool boolean(bool) override { return misplaced("a truth value"); }
  bool number_integer(std::int64_t) override { return misplaced("a negative number"); }
  bool number_float(double, const std::string&) override { return misplaced("a fraction"); }
  bool binary(nlohmann::json::binary_t&) override { return misplaced("binary"); }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::json::exception&) override {
    return refuse(fmt::format("no JSON at byte {} of the header", at));
  }

 private:
  enum class Place { kStart, kTop, kMetadata, kTensor, kShape, kOffsets, kEnd };

  bool refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }
  bool misplaced(std::string_view what) {
    return refuse(
        fmt::format("{} in an unexpected place of the header, after {}", what, in_quotes(key_)));
  }
  bool move_to(Place place) {
    place_ = place;
    return true;
  }
  TensorEntry& entry() { return header_.entries.back(); }

  Place place_ = Place::kStart;
  std::string key_;               // the last one
  std::set<std::string> fields_;  // those that the present tensor has had
  std::vector<std::uint64_t> offsets_;
  TensorHeader header_;
  bool had_metadata_ = false;
  std::string why_;
};

bool HeaderReader::start_object(std::size_t) {
  if (place_ == Place::kStart) return move_to(Place::kTop);
  if (place_ != Place::kTop) return misplaced("an object");
  if (key_ == kMetadataName) {
    if (std::exchange(had_metadata_, true)) return refuse("two __metadata__ in the header");
    return move_to(Place::kMetadata);
  }
  header_.entries.push_back({.name = key_, .shape = {}, .begin_bytes = 0, .end_bytes = 0});
  fields_.clear();
  return move_to(Place::kTensor);
}

bool HeaderReader::key(std::string& text) {
  key_ = std::move(text);
  if (place_ != Place::kTensor) return true;
  if (key_ != "dtype" && key_ != "shape" && key_ != "data_offsets") {
    return refuse(
        fmt::format("tensor {} has an unknown field {}", in_quotes(entry().name), in_quotes(key_)));
  }
  if (fields_.insert(key_).second) return true;
  return refuse(fmt::format("tensor {} has two fields {}", in_quotes(entry().name), key_));
}

bool HeaderReader::end_object() {
  if (place_ == Place::kTop) return move_to(Place::kEnd);
  if (place_ == Place::kTensor && fields_.size() != 3) {
    return refuse(
        fmt::format("tensor {} lacks a dtype, shape or data_offsets", in_quotes(entry().name)));
  }
  return move_to(Place::kTop);
}

bool HeaderReader::start_array(std::size_t) {
  if (place_ != Place::kTensor || key_ == "dtype") return misplaced("a list");
  if (key_ == "shape") return move_to(Place::kShape);
  offsets_.clear();
  return move_to(Place::kOffsets);
}

bool HeaderReader::end_array() {
  if (place_ == Place::kOffsets) {
    if (offsets_.size() != 2) {
      return refuse(fmt::format("data_offsets of tensor {} are not two", in_quotes(entry().name)));
    }
    entry().begin_bytes = offsets_[0];
    entry().end_bytes = offsets_[1];
  }
  return move_to(Place::kTensor);
}

bool HeaderReader::number_unsigned(std::uint64_t value) {
  if (place_ == Place::kOffsets && offsets_.size() < 2) {
    offsets_.push_back(value);
    return true;
  }
  if (place_ != Place::kShape || entry().shape.size() >= kRankMax) return misplaced("a number");
  if (value > std::numeric_limits<std::uint32_t>::max()) {
    return refuse(fmt::format("tensor {} has an extent of {}", in_quotes(entry().name), value));
  }
  entry().shape.push_back(static_cast<std::uint32_t>(value));
  return true;
}

bool HeaderReader::string(std::string& text) {
  if (place_ == Place::kMetadata) {
    if (header_.metadata.emplace(key_, std::move(text)).second) return true;
    return refuse(fmt::format("two entries {} in __metadata__", in_quotes(key_)));
  }
  if (place_ != Place::kTensor || key_ != "dtype") return misplaced("a text");
  if (text == "F32") return true;
  return refuse(fmt::format("tensor {} is of type {}; only F32 is read", in_quotes(entry().name),
                            in_quotes(text)));
}

// Nothing where the shape is too large to count.
std::optional<std::uint64_t> bytes_of_shape(const std::vector<std::uint32_t>& shape) {
  std::uint64_t bytes = sizeof(float);
  bool overflowed = false;
  for (const auto extent : shape) {
    if (extent == 0) return 0;
    overflowed |= __builtin_mul_overflow(bytes, extent, &bytes);
  }
  if (overflowed) return std::nullopt;
  return bytes;
}

// What is wrong with where the tensors lie; empty where nothing is.
std::string find_misplaced(const std::vector<TensorEntry>& entries, std::uint64_t values_bytes) {
  std::uint64_t filled_bytes = 0;
  for (const auto& entry : entries) {
    if (entry.begin_bytes != filled_bytes || entry.end_bytes < entry.begin_bytes) {
      return fmt::format("tensor {} lies at {} to {}, expected from {} on", in_quotes(entry.name),
                         entry.begin_bytes, entry.end_bytes, filled_bytes);
    }
    if (bytes_of_shape(entry.shape) != entry.end_bytes - entry.begin_bytes) {
      return fmt::format("the shape of tensor {} does not fit its {} bytes", in_quotes(entry.name),
                         entry.end_bytes - entry.begin_bytes);
    }
    filled_bytes = entry.end_bytes;
  }
  if (filled_bytes == values_bytes) return {};
  return fmt::format("the tensors have {} bytes, the file has {} for them", filled_bytes,
                     values_bytes);
}

// Empty where all names differ.
std::string find_repeated(const std::vector<TensorEntry>& entries) {
  std::set<std::string_view> names;
  for (const auto& entry : entries) {
    if (!names.insert(entry.name).second)
      return fmt::format("two tensors {}", in_quotes(entry.name));
  }
  return {};
}

}  // namespace

Result<TensorHeader> parse_tensor_header(std::string_view json, std::uint64_t values_bytes,
                                         std::string_view source) {
  const auto refuse = [source](std::string_view why) {
    return fail(Errc::kTensorFileCorrupt, fmt::format("{}: {}", source, why));
  };
  HeaderReader reader;
  if (!json.starts_with('{')) return refuse("the header does not begin with '{'");
  if (!nlohmann::json::sax_parse(json.begin(), json.end(), &reader)) return refuse(reader.why());

  auto header = reader.take();
  std::ranges::stable_sort(header.entries, {}, [](const TensorEntry& entry) {
    return std::pair(entry.begin_bytes, entry.end_bytes);
  });
  if (auto why = find_repeated(header.entries); !why.empty()) return refuse(why);
  if (auto why = find_misplaced(header.entries, values_bytes); !why.empty()) return refuse(why);
  return header;
}

Result<std::string> format_tensor_header(const TensorHeader& header) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!header.metadata.empty()) json[std::string(kMetadataName)] = header.metadata;
  if (auto why = find_repeated(header.entries); !why.empty()) {
    return fail(Errc::kCannotWrite, std::move(why));
  }
  for (const auto& entry : header.entries) {
    if (entry.name == kMetadataName) return fail(Errc::kCannotWrite, "a tensor named __metadata__");
    json[entry.name] = {{"dtype", "F32"},
                        {"shape", entry.shape},
                        {"data_offsets", {entry.begin_bytes, entry.end_bytes}}};
  }
  try {
    return json.dump();
  } catch (const nlohmann::json::type_error&) {  // the library's only way to say so
    return fail(Errc::kCannotWrite, "a name or the metadata is not UTF-8");
  }
}

}  // namespace wide::store
