#pragma once
// "did you mean …?": the word that a typo most likely stood for.

#include <span>
#include <string_view>

namespace wide {

// The nearest of `words` by insertions, deletions, changes and swaps of neighbouring letters
// (Damerau-Levenshtein, each letter swapped once at most); the first of equally near ones. Empty
// if even the nearest is not near: over a third of the letters (but two, one of a short typo).
std::string_view nearest_word(std::string_view typo, std::span<const std::string_view> words);

}  // namespace wide
