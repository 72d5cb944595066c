#include "wide/data/npy_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>
#include <string>
#include <utility>

namespace wide::data {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kVersionBytes = 2;

// What the header says, once it has been understood.
struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

// Reads the dict from left to right. The first thing it does not understand is remembered in words,
// and from then on every answer is "no".
class DictReader final {
 public:
  explicit DictReader(std::string_view text) : rest_(text) {}

  std::optional<Header> read();
  const std::string& complaint() const { return complaint_; }

 private:
  bool complain(std::string why) {
    if (complaint_.empty()) complaint_ = std::move(why);
    return false;
  }
  void skip_spaces() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n'))
      rest_.remove_prefix(1);
  }
  bool take(std::string_view word) {
    skip_spaces();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool expect(std::string_view word) {
    return take(word) || complain(fmt::format("its header has no '{}' where one belongs", word));
  }
  bool read_text(std::string& text);
  bool read_entry(Header& header);
  bool read_descr(std::string& descr);
  bool read_order(bool& fortran_order);
  bool read_shape(std::vector<std::uint64_t>& shape);
  bool read_number(std::uint64_t& number);
  bool first_time(bool& seen, std::string_view key) {
    return !std::exchange(seen, true) || complain(fmt::format("its header has '{}' twice", key));
  }

  std::string_view rest_;
  std::string complaint_;
  bool seen_descr_ = false;
  bool seen_order_ = false;
  bool seen_shape_ = false;
};

std::optional<Header> DictReader::read() {
  Header header;
  if (!expect("{")) return std::nullopt;
  while (!take("}")) {
    if (!read_entry(header)) return std::nullopt;
    if (take(",")) continue;
    if (!expect("}")) return std::nullopt;
    break;
  }
  skip_spaces();
  if (!rest_.empty()) complain("its header goes on after the dict");
  if (!seen_descr_ || !seen_order_ || !seen_shape_) {
    complain("its header lacks one of 'descr', 'fortran_order' and 'shape'");
  }
  if (!complaint_.empty()) return std::nullopt;
  return header;
}

bool DictReader::read_entry(Header& header) {
  std::string key;
  if (!read_text(key) || !expect(":")) return false;
  if (key == "descr") return first_time(seen_descr_, key) && read_descr(header.descr);
  if (key == "fortran_order") {
    return first_time(seen_order_, key) && read_order(header.fortran_order);
  }
  if (key == "shape") return first_time(seen_shape_, key) && read_shape(header.shape);
  return complain("its header has a key that is none of NumPy's");
}

bool DictReader::read_text(std::string& text) {
  skip_spaces();
  const char quote = rest_.empty() ? '\0' : rest_.front();
  if (quote != '\'' && quote != '"') return complain("its header has no text where one belongs");
  const auto end = rest_.find(quote, 1);
  if (end == rest_.npos) return complain("its header has a text without an end");
  text = rest_.substr(1, end - 1);
  rest_.remove_prefix(end + 1);
  return true;
}

bool DictReader::read_descr(std::string& descr) {
  skip_spaces();
  if (rest_.starts_with("["))
    return complain("holds records of several fields; only plain arrays are read");
  return read_text(descr);
}

bool DictReader::read_order(bool& fortran_order) {
  fortran_order = take("True");
  return fortran_order || expect("False");
}

bool DictReader::read_shape(std::vector<std::uint64_t>& shape) {
  if (!expect("(")) return false;
  while (!take(")")) {
    if (shape.size() == kNpyRankMax) return complain("its shape has too many extents");
    if (!read_number(shape.emplace_back())) return false;
    if (take(",")) continue;
    if (shape.size() == 1) return complain("its shape is no tuple");  // (3) is a number in Python
    return expect(")");
  }
  return true;
}

bool DictReader::read_number(std::uint64_t& number) {
  skip_spaces();
  const auto* end = rest_.data() + rest_.size();
  const auto [stopped, error] = std::from_chars(rest_.data(), end, number);
  if (error == std::errc::result_out_of_range) return complain("its shape is beyond 64 bits");
  if (error != std::errc()) return complain("its shape is no tuple of whole numbers");
  rest_.remove_prefix(static_cast<std::size_t>(stopped - rest_.data()));
  return true;
}

tl::unexpected<Error> refuse(std::string_view source, std::string_view why) {
  return fail(Errc::kSamplesCorrupt, fmt::format("{}: {}", source, why));
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t little_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[i - 1]);
  }
  return value;
}

struct HeaderText {
  std::string_view text;
  std::size_t values_at = 0;
};

Result<HeaderText> find_header(std::span<const std::byte> bytes, std::string_view source) {
  if (!text_of(bytes).starts_with(kMagic)) return refuse(source, "no npy file");
  auto rest = bytes.subspan(kMagic.size());
  if (rest.size() < kVersionBytes) return refuse(source, "truncated: the npy header is not whole");
  const auto major = std::to_integer<unsigned>(rest[0]);
  const auto minor = std::to_integer<unsigned>(rest[1]);
  if (major < 1 || major > 3 || minor != 0) {
    return refuse(source,
                  fmt::format("npy version {}.{}; 1.0, 2.0 and 3.0 are read", major, minor));
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  rest = rest.subspan(kVersionBytes);
  if (rest.size() < length_bytes) return refuse(source, "truncated: the npy header is not whole");
  const auto header_bytes = little_endian(rest.first(length_bytes));
  rest = rest.subspan(length_bytes);
  if (header_bytes > kNpyHeaderBytesMax) {
    return refuse(source, fmt::format("an npy header of {} bytes", header_bytes));
  }
  if (header_bytes > rest.size()) return refuse(source, "truncated: the npy header is not whole");
  return HeaderText{.text = text_of(rest.first(header_bytes)),
                    .values_at = bytes.size() - rest.size() + header_bytes};
}

constexpr std::string_view kTypesRead = "uint8, int32, int64, float16 and float32 are read";

Result<ElementType> type_of(std::string_view descr, std::string_view source) {
  if (descr.starts_with(">")) {
    return refuse(source, "its values are big-endian; save it as little-endian");
  }
  if (descr.starts_with("|O")) return refuse(source, "holds Python objects, which are never read");
  if (descr == "|u1" || descr == "<u1") return ElementType::kU8;
  if (descr == "<i4") return ElementType::kI32;
  if (descr == "<i8") return ElementType::kI64;
  if (descr == "<f2") return ElementType::kF16;
  if (descr == "<f4") return ElementType::kF32;
  const bool plain =
      descr.size() <= 16 &&
      descr.find_first_not_of("<|=0123456789abcdefghijklmnopqrstuvwxyzSUVOM?") == descr.npos;
  return refuse(source, fmt::format("holds values of type {}; {}",
                                    plain ? descr : std::string_view("unknown"), kTypesRead));
}

// Nothing where the product is beyond 64 bits.
std::optional<std::uint64_t> bytes_promised(const NpyFile& file) {
  std::uint64_t product = element_bytes(file.type);
  bool overflowed = false;
  for (const auto extent : file.extents) {
    if (extent == 0) return 0;
    overflowed |= __builtin_mul_overflow(product, extent, &product);
  }
  if (overflowed) return std::nullopt;
  return product;
}

Result<void> check_extents(const NpyFile& file, std::string_view source) {
  const auto promised = bytes_promised(file);
  const auto found = file.values.size();
  if (promised == found) return {};
  if (promised && *promised < found) {
    return refuse(source, fmt::format("{} bytes after its last value", found - *promised));
  }
  return refuse(source, fmt::format("truncated: the header promises {} values, {} bytes are there",
                                    fmt::join(file.extents, " × "), found));
}

}  // namespace

Result<NpyFile> parse_npy(std::span<const std::byte> bytes, std::string_view source) {
  const auto found = find_header(bytes, source);
  if (!found) return tl::unexpected(found.error());
  DictReader reader(found->text);
  auto header = reader.read();
  if (!header) return refuse(source, reader.complaint());
  if (header->fortran_order) {
    return refuse(source, "is in Fortran order; save it with numpy.ascontiguousarray");
  }
  const auto type = type_of(header->descr, source);
  if (!type) return tl::unexpected(type.error());

  NpyFile file{.type = *type,
               .extents = std::move(header->shape),
               .values = bytes.subspan(found->values_at)};
  if (auto good = check_extents(file, source); !good) return tl::unexpected(good.error());
  return file;
}

}  // namespace wide::data
