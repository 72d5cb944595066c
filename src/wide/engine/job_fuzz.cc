// Any text is refused politely or is a job that its canonical text gives back, and that keeps its
// id in what nodes are told.

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
  const auto told = parse_job(text_for_nodes(*job), "told");
  WIDE_CHECK(told && identity_text(*told) == identity_text(*job));

  const wide::SampleSpace image{100, 10, {1, 28, 28}, 10, {}};
  wide::SampleSpace tokens{100, 10, {job->model.context}, 256, {}, true, job->model.context};
  (void)validate_fit(*job, image);
  (void)validate_fit(*job, tokens);
  return 0;
}
