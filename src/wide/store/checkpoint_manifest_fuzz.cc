// Any bytes as a manifest, as they are and with the right hash below them: it is refused with one
// of two codes, or reads the same once it is written again.

#include "wide/base/check.h"
#include "wide/store/checkpoint_manifest.h"

namespace wide::store {
namespace {

void parse(std::string_view text) {
  const auto manifest = parse_manifest(text, "fuzz");
  if (!manifest) {
    const auto code = manifest.error().code;
    WIDE_CHECK(code == Errc::kCheckpointDamaged || code == Errc::kOtherFileVersion);
    return;
  }
  const auto written = format_manifest(*manifest);
  WIDE_CHECK(written.has_value());
  const auto again = parse_manifest(*written, "fuzz");
  WIDE_CHECK(again.has_value() && again->facts.past == manifest->facts.past);
  WIDE_CHECK(format_manifest(*again).value() == *written);
}

}  // namespace
}  // namespace wide::store

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  wide::store::parse(text);
  const auto line = text.substr(0, text.find('\n'));
  wide::store::parse(std::string(line) + "\n" + wide::sha256(line).hex() + "\n");
  return 0;
}
