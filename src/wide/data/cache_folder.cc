#include "wide/data/dataset.h"

namespace wide::data {

// The XDG base directory specification has a relative $XDG_CACHE_HOME ignored.
std::filesystem::path cache_folder(const std::string& xdg_cache_home, const std::string& home) {
  const std::filesystem::path xdg(xdg_cache_home);
  if (xdg.is_absolute()) return xdg / "wide";
  if (!home.empty()) return std::filesystem::path(home) / ".cache" / "wide";
  return {};
}

}  // namespace wide::data
