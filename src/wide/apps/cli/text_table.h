#pragma once
// Rows of words under each other: the first column to the left, the others to the right unless
// told otherwise. Cells are made printable: some hold names that strangers chose.

#include <string>
#include <vector>

namespace wide::apps {

class TextTable final {
 public:
  enum class Side { kLeft, kRight };

  explicit TextTable(std::vector<std::string> head, Side others = Side::kRight);

  void add_row(std::vector<std::string> cells);  // as many as the head has
  std::string text() const;                      // every line ends with a newline

 private:
  std::string line(const std::vector<std::string>& cells,
                   const std::vector<std::size_t>& widths) const;

  Side others_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace wide::apps
