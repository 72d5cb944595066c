// Any text is refused politely or is a job that its canonical text gives back.

#include <cstddef>
#include <cstdint>

#include "wide/base/check.h"
#include "wide/engine/job.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  using namespace wide::engine;
  const std::string_view text(reinterpret_cast<const char*>(bytes), count);
  const auto job = parse_job(text, "fuzz");
  if (!job) return 0;
  const auto again = parse_job(canonical_text(*job), "canonical");
  WIDE_CHECK(again && *again == *job);
  return 0;
}
