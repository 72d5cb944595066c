#include "wide/base/error.h"

#include <fmt/format.h>

#include "wide/base/error_catalog.h"

namespace wide {

std::string describe(const Error& error) {
  const auto number = static_cast<unsigned>(error.code);
  const std::string_view title = catalog_entry(error.code).title;
  return error.detail.empty() ? fmt::format("W{:03} {}", number, title)
                              : fmt::format("W{:03} {}: {}", number, title, error.detail);
}

}  // namespace wide
