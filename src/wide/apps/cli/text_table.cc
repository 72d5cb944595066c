#include "wide/apps/cli/text_table.h"

#include <algorithm>

#include "wide/apps/cli/figures.h"
#include "wide/base/check.h"

namespace wide::apps {

TextTable::TextTable(std::vector<std::string> head, Side others) : others_(others) {
  rows_.push_back(std::move(head));
}

void TextTable::add_row(std::vector<std::string> cells) {
  WIDE_CHECK(cells.size() == rows_.front().size());
  for (auto& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t at = 0; at < row.size(); ++at) {
      widths[at] = std::max(widths[at], width(row[at]));
    }
  }
  std::string text;
  for (const auto& row : rows_) text += line(row, widths);
  return text;
}

std::string TextTable::line(const std::vector<std::string>& cells,
                            const std::vector<std::size_t>& widths) const {
  std::string text;
  for (std::size_t at = 0; at < cells.size(); ++at) {
    const std::string gap(widths[at] - width(cells[at]), ' ');
    const bool right = at > 0 && others_ == Side::kRight;
    text += (at > 0 ? "  " : "") + (right ? gap + cells[at] : cells[at] + gap);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

}  // namespace wide::apps
