#include "wide/base/nearest_word.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace wide {

namespace {
// Row by row over the table of distances between prefixes; a swap looks two rows back.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before_last(to.size() + 1), last(to.size() + 1), row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t changed = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, changed});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[to.size()];
}

// Two letters of a short word are most of it.
std::size_t distance_max(std::string_view typo) {
  return typo.size() <= 3 ? 1 : std::max<std::size_t>(2, typo.size() / 3);
}
}  // namespace

std::string_view nearest_word(std::string_view typo, std::span<const std::string_view> words) {
  std::string_view nearest;
  std::size_t least = distance_max(typo) + 1;
  for (const std::string_view word : words) {
    const std::size_t length_gap =
        std::max(word.size(), typo.size()) - std::min(word.size(), typo.size());
    if (length_gap >= least) continue;
    const std::size_t changes = distance(typo, word);
    if (changes >= std::min(least, std::max<std::size_t>(word.size(), 1))) continue;
    least = changes;
    nearest = word;
  }
  return nearest;
}

}  // namespace wide
