#include "wide/engine/job_section.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "wide/base/nearest_word.h"

namespace wide::engine {

std::string suggestion(std::string_view typo, std::span<const std::string_view> words,
                       std::string_view open, std::string_view close) {
  const auto near = nearest_word(typo, words);
  return near.empty() ? "" : fmt::format(" (did you mean {}{}{}?)", open, near, close);
}

void Complaints::add(std::uint32_t line, Errc code, const std::string& text) {
  if (first_ && first_line_ <= line) return;
  first_line_ = line;
  const auto place = line == 0 ? std::string(source_) : fmt::format("{}:{}", source_, line);
  first_ = Error{code, fmt::format("{}: {}", place, text)};
}

Section::Section(const Entry& root, std::string_view name, Complaints& complaints)
    : name_(name), complaints_(complaints) {
  const Entry* entry = root.find(name);
  if (entry == nullptr) return;
  there_ = true;
  line_ = entry->line;
  if (entry->kind == Entry::Kind::kTable) {
    table_ = entry;
  } else {
    complaints_.add(line_, Errc::kWrongType,
                    fmt::format("[{}] must be a section, not {}", name_, kind_words(*entry)));
  }
}

void Section::read_digest(std::string_view key, Digest& into) {
  const Entry* entry = ask(key);
  if (entry == nullptr || !is(*entry, Entry::Kind::kText, key, "a string")) return;
  const auto digest = parse_digest(entry->text);
  if (digest) {
    into = *digest;
  } else {
    complaints_.add(entry->line, Errc::kOutOfRange,
                    fmt::format("[{}] {} must be 64 hexadecimal letters, not '{}'", name_, key,
                                shown(entry->text)));
  }
}

void Section::demand(std::string_view key, std::string_view what) {
  if (has(key)) return;
  complaints_.add(line_, Errc::kOutOfRange,
                  fmt::format("[{}] needs {}: {} = \"…\"", name_, what, key));
}

void Section::refuse(std::span<const std::string_view> keys, std::string_view owner) {
  for (const auto key : keys) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    const Entry* entry = ask(key);
    if (entry == nullptr) continue;
    complaints_.add(entry->line, Errc::kUnknownKey,
                    fmt::format("key '{}' in [{}] does not go with {}", key, name_, owner));
  }
}

void Section::refuse_unknown() {
  if (table_ == nullptr) return;
  for (const auto& entry : table_->entries) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    complaints_.add(entry.key_line, Errc::kUnknownKey,
                    fmt::format("unknown key '{}' in [{}]{}", shown(entry.key), name_,
                                suggestion(entry.key, known_)));
  }
}

std::uint32_t Section::line_of(std::string_view key) const {
  const Entry* entry = table_ == nullptr ? nullptr : table_->find(key);
  return entry == nullptr ? line_ : entry->line;
}

const Entry* Section::ask(std::string_view key) {
  known_.push_back(key);
  return table_ == nullptr ? nullptr : table_->find(key);
}

bool Section::is(const Entry& entry, Entry::Kind kind, std::string_view key,
                 std::string_view wanted) {
  if (entry.kind == kind) return true;
  complaints_.add(entry.line, Errc::kWrongType,
                  fmt::format("[{}] {} must be {}, not {}", name_, key, wanted, kind_words(entry)));
  return false;
}

void Section::read_entry(const Entry& entry, std::string_view key, bool& into) {
  if (is(entry, Entry::Kind::kTruth, key, "true or false")) into = entry.truth;
}

void Section::read_entry(const Entry& entry, std::string_view key, std::string& into) {
  if (is(entry, Entry::Kind::kText, key, "a string")) into = entry.text;
}

void Section::read_entry(const Entry& entry, std::string_view key, double& into) {
  if (entry.kind != Entry::Kind::kWhole && !is(entry, Entry::Kind::kNumber, key, "a number")) {
    return;
  }
  into = entry.number + 0.0;  // no -0.0: it would be a new id
}

void Section::read_entry(const Entry& entry, std::string_view key, float& into) {
  double number = into;
  read_entry(entry, key, number);
  into = static_cast<float>(number) + 0.0f;
}

void Section::read_entry(const Entry& entry, std::string_view key, std::uint32_t& into) {
  const auto whole = whole_of(entry, key, std::numeric_limits<std::uint32_t>::max(), 32);
  if (whole) into = static_cast<std::uint32_t>(*whole);
}

void Section::read_entry(const Entry& entry, std::string_view key, std::uint64_t& into) {
  const auto whole = whole_of(entry, key, std::numeric_limits<std::uint64_t>::max(), 64);
  if (whole) into = *whole;
}

std::optional<std::uint64_t> Section::whole_of(const Entry& entry, std::string_view key,
                                               std::uint64_t most, int bits) {
  if (!is(entry, Entry::Kind::kWhole, key, "a whole number")) return {};
  if (entry.whole >= 0 && static_cast<std::uint64_t>(entry.whole) <= most) {
    return static_cast<std::uint64_t>(entry.whole);
  }
  complaints_.add(entry.line, Errc::kOutOfRange,
                  fmt::format("[{}] {} must be at least 0 and fit {} bits, not {}", name_, key,
                              bits, entry.whole));
  return {};
}

void Section::complain_word(const Entry& entry, std::string_view key, const Words& words) {
  complaints_.add(
      entry.line, Errc::kOutOfRange,
      fmt::format("[{}] {} must be one of {}, not '{}'{}", name_, key, fmt::join(words, ", "),
                  shown(entry.text), suggestion(entry.text, words)));
}

void Section::complain_not_yet(const Entry& entry, std::string_view key, const Words& words) {
  complaints_.add(entry.line, Errc::kNotYet,
                  fmt::format("[{}] {} = \"{}\" is not there yet; this version has {}", name_, key,
                              entry.text, fmt::join(words, ", ")));
}

}  // namespace wide::engine
