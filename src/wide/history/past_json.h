#pragma once
// What a pool remembers, as JSON in a checkpoint's manifest. Numbers come back to the last bit.

#include <string>
#include <string_view>

#include "wide/base/error.h"
#include "wide/engine/past.h"

namespace wide::history {

std::string past_json(const engine::Past& past);

// kCheckpointDamaged where it is not what past_json() writes.
Result<engine::Past> parse_past(std::string_view json);

}  // namespace wide::history
