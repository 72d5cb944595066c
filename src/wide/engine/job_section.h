#pragma once
// One [section] of a job file, read key by key. A key that is asked for is known; what nobody asked
// for is refused at the end. Complaints gather; the one that stands first in the file is told.
//
//   Section section(root, "train", complaints);
//   section.read("batch", train.batch);            missing: stays what it was
//   section.read("loss", kLossWords, train.loss);  one of the words
//   section.refuse(kTrainKeys, "adamw");           known, but not with this choice
//   section.refuse_unknown();
//
// Inside the job's own files only.

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wide/engine/job_entry.h"
#include "wide/engine/job_words.h"

namespace wide::engine {

// " (did you mean 'batch'?)", or nothing where no word is near.
std::string suggestion(std::string_view typo, std::span<const std::string_view> words,
                       std::string_view open = "'", std::string_view close = "'");

class Complaints final {
 public:
  explicit Complaints(std::string_view source) : source_(source) {}

  void add(std::uint32_t line, Errc code, const std::string& text);  // line 0: of the whole file
  const std::optional<Error>& first() const { return first_; }

 private:
  std::string_view source_;
  std::uint32_t first_line_ = 0;
  std::optional<Error> first_;
};

class Section final {
 public:
  Section(const Entry& root, std::string_view name, Complaints& complaints);

  // bool, text, whole numbers, numbers, and lists of them.
  template <class Value>
  void read(std::string_view key, Value& into) {
    if (const Entry* entry = ask(key)) read_entry(*entry, key, into);
  }

  // False where the word was refused: what keys go with it is unknown then.
  template <class Choice, std::size_t kCount>
  bool read(std::string_view key, const Word<Choice> (&words)[kCount], Choice& into) {
    const Entry* entry = ask(key);
    if (entry == nullptr) return true;
    if (!is(*entry, Entry::Kind::kText, key, "a string")) return false;
    for (const auto& word : words) {
      if (word.text != entry->text) continue;
      if (word.choice) into = *word.choice;
      if (!word.choice) complain_not_yet(*entry, key, words_done(words));
      return word.choice.has_value();
    }
    complain_word(*entry, key, all_words(words));
    return false;
  }

  // A hash as 64 hexadecimal letters.
  void read_digest(std::string_view key, Digest& into);

  // Must be in a file, empty though it may be: "path of the samples".
  void demand(std::string_view key, std::string_view what);

  // Known keys that mean nothing here: "layers" for "a cnn". Those that were asked for are skipped.
  void refuse(std::span<const std::string_view> keys, std::string_view owner);
  void refuse(std::initializer_list<std::string_view> keys, std::string_view owner) {
    refuse(std::span(keys.begin(), keys.size()), owner);
  }
  void refuse_unknown();

  bool is_there() const { return there_; }
  bool has(std::string_view key) const { return table_ != nullptr && table_->find(key) != nullptr; }
  std::uint32_t line_of(std::string_view key) const;  // of the key, else where the section begins

 private:
  const Entry* ask(std::string_view key);
  bool is(const Entry& entry, Entry::Kind kind, std::string_view key, std::string_view wanted);

  void read_entry(const Entry& entry, std::string_view key, bool& into);
  void read_entry(const Entry& entry, std::string_view key, std::string& into);
  void read_entry(const Entry& entry, std::string_view key, double& into);
  void read_entry(const Entry& entry, std::string_view key, float& into);
  void read_entry(const Entry& entry, std::string_view key, std::uint32_t& into);
  void read_entry(const Entry& entry, std::string_view key, std::uint64_t& into);
  template <class Value>
  void read_entry(const Entry& entry, std::string_view key, std::vector<Value>& into) {
    if (!is(entry, Entry::Kind::kList, key, "a list")) return;
    into.clear();
    for (const auto& element : entry.entries) read_entry(element, key, into.emplace_back());
  }
  std::optional<std::uint64_t> whole_of(const Entry& entry, std::string_view key,
                                        std::uint64_t most, int bits);

  void complain_word(const Entry& entry, std::string_view key, const Words& words);
  void complain_not_yet(const Entry& entry, std::string_view key, const Words& words);

  std::string_view name_;
  Complaints& complaints_;
  const Entry* table_ = nullptr;
  bool there_ = false;
  std::uint32_t line_ = 0;
  Words known_;
};

}  // namespace wide::engine
