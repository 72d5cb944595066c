#include <algorithm>

#include "wide/wire/message_fields.h"

namespace wide::wire {

namespace {
// Names and reasons come from people and from libraries: a long one must not cost a link. Cut
// before a character of UTF-8, never within one.
std::string_view cut(std::string_view text) {
  if (text.size() <= kTextBytesMax) return text;
  std::size_t length = kTextBytesMax;
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  return text.substr(0, length);
}

class FieldWriter final {
 public:
  template <class T>
  void number(T value) {
    head_.append(std::as_bytes(std::span(&value, 1)));
  }
  void flag(bool value) { number(static_cast<std::uint8_t>(value)); }
  void role(Role role) { number(static_cast<std::uint8_t>(role)); }
  template <class Tag, class Rep>
  void id(Id<Tag, Rep> id) {
    number(id.value);
  }
  void digest(const Digest& digest) { head_.append(digest.bytes); }
  void text(std::string_view text) { job_text(cut(text)); }
  void job_text(std::string_view text) {  // length u32, then the bytes
    number(static_cast<std::uint32_t>(text.size()));
    head_.append(std::as_bytes(std::span(text)));
  }
  void count(std::uint32_t count, std::uint32_t Limits::*) { number(count); }

  template <class Row>
  void rows(std::vector<Row>& rows, std::uint32_t Limits::*) {
    number(static_cast<std::uint32_t>(rows.size()));
    for (Row& row : rows) fields(*this, row);
  }
  void bulk(Floats& floats, std::uint64_t Limits::*) {
    number(static_cast<std::uint64_t>(floats.size()));
    if (!floats.empty()) bulk_ = {std::move(floats.owner), {floats.bytes()}};
  }
  void coded(Coded& values, std::array<std::uint64_t, kCodecCount> Limits::*, std::size_t) {
    number(values.codec);
    number(static_cast<std::uint64_t>(values.bytes.size()));
    if (!values.bytes.empty()) bulk_ = {std::move(values.owner), {values.bytes}};
  }
  void bulk(Bytes& bytes, std::uint64_t Limits::*) {
    number(static_cast<std::uint64_t>(bytes.size()));
    bulk_ = std::move(bytes);
  }

  Packet finish(Kind kind) {
    head_.pad_to_8();
    const std::size_t bulk_bytes = bulk_.size();
    return {kind, std::move(head_), std::move(bulk_), bulk_bytes, {}};
  }

 private:
  MessageHead head_;
  Bytes bulk_;
};

void hash_fragments(Packet& packet) {
  const std::size_t whole_bytes = body_bytes(packet);
  if (whole_bytes == packet.head.size() && whole_bytes <= kFragmentBytes) {
    packet.fragment_xxh3.push_back(xxh3(packet.head));
    return;
  }
  std::size_t begin = 0;
  Segments parts;
  do {
    const std::size_t end = std::min(begin + kFragmentBytes, whole_bytes);
    parts.clear();
    add_body(packet, begin, end, parts);
    packet.fragment_xxh3.push_back(xxh3_joined(parts));
    begin = end;
  } while (begin < whole_bytes);
}
}  // namespace

Packet encode(Message&& message) {
  FieldWriter writer;
  std::visit([&](auto& record) { fields(writer, record); }, message);
  Packet packet = writer.finish(kind_of(message));
  hash_fragments(packet);
  return packet;
}

}  // namespace wide::wire
