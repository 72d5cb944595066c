#include <fmt/format.h>

#include <algorithm>

#include "wide/base/bytes.h"
#include "wide/base/check.h"
#include "wide/wire/message_fields.h"

namespace wide::wire {

namespace {
// Reads field after field; the first thing that does not fit is remembered in words, and all later
// fields read as zero.
class FieldReader final {
 public:
  FieldReader(std::span<const std::byte> body, const BufferPtr& owner, const Limits& limits)
      : bytes_(body), owner_(owner), limits_(limits) {}

  template <class T>
  void number(T& value) {
    value = bytes_.get<T>();
  }
  void flag(bool& value) {
    const auto byte = bytes_.get<std::uint8_t>();
    if (byte > 1) refuse(fmt::format("flag of {}", byte));
    value = byte == 1;
  }
  void role(Role& role) {
    const auto byte = bytes_.get<std::uint8_t>();
    const bool known = byte == static_cast<std::uint8_t>(Role::kNode) ||
                       byte == static_cast<std::uint8_t>(Role::kObserver);
    if (bytes_.ok() && !known) refuse(fmt::format("unknown role {}", byte));
    role = static_cast<Role>(byte);
  }
  template <class Tag, class Rep>
  void id(Id<Tag, Rep>& id) {
    id.value = bytes_.get<Rep>();
  }
  void digest(Digest& digest) { digest = bytes_.digest(); }
  void text(std::string& text) { bounded_text(text, limits_.text_bytes_max); }
  void job_text(std::string& text) { bounded_text(text, limits_.job_bytes_max); }
  void count(std::uint32_t& count, std::uint32_t Limits::*limit) {
    count = bytes_.get<std::uint32_t>();
    if (count > limits_.*limit)
      refuse(fmt::format("count of {}, at most {}", count, limits_.*limit));
  }

  template <class Row>
  void rows(std::vector<Row>& rows, std::uint32_t Limits::*limit);
  void bulk(Floats& floats, std::uint64_t Limits::*limit);
  void bulk(Bytes& bytes, std::uint64_t Limits::*limit);
  void coded(Coded& values, std::array<std::uint64_t, kCodecCount> Limits::*limit,
             std::size_t part_count);

  // Empty where every byte was read and allowed.
  std::string problem();

 private:
  void refuse(std::string why) {
    if (bytes_.ok()) problem_ = std::move(why);
    bytes_.refuse();
  }
  void bounded_text(std::string& text, std::size_t length_max);
  void padding();

  ByteReader bytes_;
  const BufferPtr& owner_;
  const Limits& limits_;
  std::string problem_;
};

void FieldReader::bounded_text(std::string& text, std::size_t length_max) {
  const auto length = bytes_.get<std::uint32_t>();
  if (length > length_max) refuse(fmt::format("text of {} bytes, at most {}", length, length_max));
  const auto letters = bytes_.raw(length);
  text = std::string(reinterpret_cast<const char*>(letters.data()), letters.size());
}

template <class Row>
void FieldReader::rows(std::vector<Row>& rows, std::uint32_t Limits::*limit) {
  const auto count = bytes_.get<std::uint32_t>();
  if (count > limits_.*limit) refuse(fmt::format("{} rows, at most {}", count, limits_.*limit));
  if (count > bytes_.left() / kRowBytesMin<Row>) refuse(fmt::format("{} rows do not fit", count));
  if (!bytes_.ok()) return;
  rows.resize(count);
  for (Row& row : rows) fields(*this, row);
}

void FieldReader::bulk(Floats& floats, std::uint64_t Limits::*limit) {
  const auto count = bytes_.get<std::uint64_t>();
  if (count != limits_.*limit) refuse(fmt::format("{} values, not {}", count, limits_.*limit));
  padding();
  const std::size_t at = bytes_.position();
  if (count > bytes_.left() / sizeof(float)) refuse(fmt::format("{} values do not fit", count));
  bytes_.raw(count * sizeof(float));
  if (!bytes_.ok() || count == 0) return;
  WIDE_CHECK(owner_, "a bulk needs an owner");
  floats = {owner_, {reinterpret_cast<float*>(owner_->begin() + at), count}};
}

void FieldReader::bulk(Bytes& bytes, std::uint64_t Limits::*limit) {
  const auto count = bytes_.get<std::uint64_t>();
  if (count > limits_.*limit) refuse(fmt::format("{} bytes, at most {}", count, limits_.*limit));
  padding();
  const std::size_t at = bytes_.position();
  if (count > bytes_.left()) refuse(fmt::format("{} bytes do not fit", count));
  bytes_.raw(count);
  if (!bytes_.ok() || count == 0) return;
  WIDE_CHECK(owner_, "a bulk needs an owner");
  bytes = {owner_, {{owner_->begin() + at, count}}};
}

void FieldReader::coded(Coded& values, std::array<std::uint64_t, kCodecCount> Limits::*limit,
                        std::size_t part_count) {
  const auto codec = bytes_.get<std::uint8_t>();
  const auto count = bytes_.get<std::uint64_t>();
  const std::uint64_t part_bytes = codec < kCodecCount ? (limits_.*limit)[codec] : 0;
  if (codec != 0 && part_bytes == 0) refuse(fmt::format("codec {} is not of this job", codec));
  const std::uint64_t wanted =
      codec == 0 ? limits_.value_count * sizeof(float) : part_bytes * part_count;
  if (count != wanted) refuse(fmt::format("{} bytes of values, not {}", count, wanted));
  padding();
  const std::size_t at = bytes_.position();
  if (count > bytes_.left()) refuse(fmt::format("{} bytes do not fit", count));
  bytes_.raw(count);
  if (!bytes_.ok() || count == 0) return;
  WIDE_CHECK(owner_, "a bulk needs an owner");
  values = {codec, owner_, {owner_->begin() + at, count}};
}

void FieldReader::padding() {
  const auto zeros = bytes_.raw((8 - bytes_.position() % 8) % 8);
  const bool clean = std::ranges::all_of(zeros, [](std::byte byte) { return byte == std::byte{}; });
  if (!clean) refuse("padding is not zero");
}

std::string FieldReader::problem() {
  padding();
  if (bytes_.ok() && bytes_.left() > 0) refuse(fmt::format("{} bytes too many", bytes_.left()));
  if (!bytes_.ok() && problem_.empty()) return "ends too early";
  return problem_;
}

template <class Record>
Result<Message> decode_record(FieldReader& reader, Kind kind) {
  Record record;
  fields(reader, record);
  if (auto problem = reader.problem(); !problem.empty()) {
    return fail(Errc::kBadFrame, fmt::format("{}: {}", kind_name(kind), problem));
  }
  return Result<Message>(tl::in_place, std::in_place_type<Record>, std::move(record));
}

using Decoder = Result<Message> (*)(FieldReader&, Kind);

template <std::size_t... Index>
constexpr auto make_decoders(std::index_sequence<Index...>) {
  return std::array<Decoder, sizeof...(Index)>{
      decode_record<std::variant_alternative_t<Index, Message>>...};
}
constexpr auto kDecoders = make_decoders(std::make_index_sequence<kKindLast>());
}  // namespace

Result<Message> decode(Kind kind, std::span<const std::byte> body, const BufferPtr& owner,
                       const Limits& limits) {
  const auto number = static_cast<std::size_t>(kind);
  WIDE_CHECK(number >= 1 && number <= kKindLast, "the header was not decoded");
  WIDE_CHECK(!owner || body.data() == owner->begin(), "a body lies at its owner's start");
  FieldReader reader(body, owner, limits);
  return kDecoders[number - 1](reader, kind);
}

}  // namespace wide::wire
