#pragma once
// Every codec on one array of floats: how small, how exact, how fast beside memcpy of the same
// floats. The codec room's own functions and nothing else.

#include <span>
#include <string_view>
#include <vector>

#include "wide/apps/cli/bench/codec/trained_floats.h"
#include "wide/apps/cli/bench/report.h"
#include "wide/apps/cli/bench/turns.h"

namespace wide::apps::bench {

// What a row measures, behind the last '/' of its name.
inline constexpr std::string_view kSize = "size";          // coded over raw bytes
inline constexpr std::string_view kBound = "bound";        // coded bytes over the order-0 bound
inline constexpr std::string_view kEncode = "encode";      // speed over memcpy
inline constexpr std::string_view kDecode = "decode";      // likewise
inline constexpr std::string_view kUnbiased = "unbiased";  // lossy: encode_unbiased
inline constexpr std::string_view kFeedback = "feedback";  // lossy: encode_with_feedback
inline constexpr std::string_view kAdd = "add";            // lossy: decode_add; powersgd: decode
inline constexpr std::string_view kUnbiasedError = "unbiased-error";  // squared, over their square
inline constexpr std::string_view kFeedbackError = "feedback-error";

void measure_lossless(const Specimen& specimen, const Pace& pace, std::vector<Row>& rows);
void measure_lossy(const Specimen& specimen, const Pace& pace, std::vector<Row>& rows);

Row row_about(const Specimen& specimen, std::string_view codec, std::string_view what);

}  // namespace wide::apps::bench
