// The only door to toml++. Reads every key that the contract names, complains about the others,
// and reports the complaint that stands first in the file.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <type_traits>

#include "wide/base/nearest_word.h"
#include "wide/engine/job.h"
#include "wide/engine/job_validate.h"
#include "wide/engine/job_words.h"

namespace wide::engine {

namespace {

using Words = std::vector<std::string_view>;

// A job's text may come from a stranger and end in a log: letters only.
std::string shown(std::string_view text) {
  constexpr std::size_t kShownMax = 60;
  std::string result(text.substr(0, kShownMax));
  for (char& letter : result) {
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) letter = '?';
  }
  return result;
}

std::string suggestion(std::string_view typo, std::span<const std::string_view> words,
                       std::string_view open = "'", std::string_view close = "'") {
  const auto near = nearest_word(typo, words);
  return near.empty() ? "" : fmt::format(" (did you mean {}{}{}?)", open, near, close);
}

std::string_view kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a number with a fraction";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

// What was wrong and where; only the first place in the file is told.
class Complaints final {
 public:
  explicit Complaints(std::string_view source) : source_(source) {}

  void add(std::uint32_t line, Errc code, const std::string& text) {
    if (first_ && first_line_ <= line) return;
    first_line_ = line;
    const auto place = line == 0 ? std::string(source_) : fmt::format("{}:{}", source_, line);
    first_ = Error{code, fmt::format("{}: {}", place, text)};
  }
  const std::optional<Error>& first() const { return first_; }

 private:
  std::string_view source_;
  std::uint32_t first_line_ = 0;
  std::optional<Error> first_;
};

// One [section]. A key that is asked for is known; what nobody asked for is refused at the end.
class Section final {
 public:
  Section(const toml::table& root, std::string_view name, Complaints& complaints)
      : name_(name), complaints_(complaints) {
    const toml::node* node = root.get(name);
    if (node == nullptr) return;
    line_ = node->source().begin.line;
    table_ = node->as_table();
    if (table_ == nullptr) {
      complaints_.add(line_, Errc::kWrongType,
                      fmt::format("[{}] must be a section, not {}", name_, kind_of(*node)));
    }
  }

  template <class Value>
  void read(std::string_view key, Value& into) {
    if (const toml::node* node = ask(key)) read_node(*node, key, into);
  }

  // False where the word is known but cannot be done yet: the keys that go with it are unknown too.
  template <class Choice, std::size_t kCount>
  bool read(std::string_view key, const Word<Choice> (&words)[kCount], Choice& into) {
    const toml::node* node = ask(key);
    if (node == nullptr) return true;
    const auto text = node->value_exact<std::string_view>();
    if (!text) {
      complain_type(*node, key, "a string");
      return true;
    }
    const auto* found = std::find_if(std::begin(words), std::end(words),
                                     [&](const Word<Choice>& word) { return word.text == *text; });
    if (found == std::end(words)) {
      complain_word(*node, key, *text, all_of(words));
    } else if (!found->choice) {
      complain_not_yet(*node, key, *text, done_of(words));
      return false;
    } else {
      into = *found->choice;
    }
    return true;
  }

  // Known keys that mean nothing here: "layers" for "a cnn".
  void refuse(std::initializer_list<std::string_view> keys, std::string_view owner) {
    for (const auto key : keys) {
      if (ask(key) == nullptr) continue;
      complaints_.add(lines_[std::string(key)], Errc::kUnknownKey,
                      fmt::format("key '{}' in [{}] does not go with {}", key, name_, owner));
    }
  }

  void refuse_unknown() {
    if (table_ == nullptr) return;
    for (const auto& [key, value] : *table_) {
      if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
      complaints_.add(key.source().begin.line, Errc::kUnknownKey,
                      fmt::format("unknown key '{}' in [{}]{}", shown(key.str()), name_,
                                  suggestion(key.str(), known_)));
    }
  }

  bool has(std::string_view key) const { return table_ != nullptr && table_->contains(key); }

  // Where the key stands, else where the section begins.
  std::uint32_t line_of(std::string_view key) const {
    const auto found = lines_.find(key);
    return found == lines_.end() ? line_ : found->second;
  }

 private:
  const toml::node* ask(std::string_view key) {
    known_.push_back(key);
    const toml::node* node = table_ == nullptr ? nullptr : table_->get(key);
    if (node != nullptr) lines_[std::string(key)] = node->source().begin.line;
    return node;
  }

  template <class Value>
  void read_node(const toml::node& node, std::string_view key, Value& into) {
    if constexpr (std::is_same_v<Value, bool>) {
      const auto value = node.value_exact<bool>();
      value ? void(into = *value) : complain_type(node, key, "true or false");
    } else if constexpr (std::is_same_v<Value, std::string>) {
      const auto value = node.value_exact<std::string>();
      value ? void(into = *value) : complain_type(node, key, "a string");
    } else if constexpr (std::is_floating_point_v<Value>) {
      read_number(node, key, into);
    } else {
      read_whole(node, key, into);
    }
  }

  template <class Value>
  void read_number(const toml::node& node, std::string_view key, Value& into) {
    if (!node.is_number()) return complain_type(node, key, "a number");
    into = static_cast<Value>(*node.value<double>()) + Value{0};  // no -0.0: it would be a new id
  }

  template <class Value>
  void read_whole(const toml::node& node, std::string_view key, Value& into) {
    if (!node.is_integer()) return complain_type(node, key, "a whole number");
    const auto value = *node.value_exact<std::int64_t>();
    constexpr std::uint64_t kMax = std::numeric_limits<Value>::max();
    if (value < 0 || static_cast<std::uint64_t>(value) > kMax) {
      complaints_.add(node.source().begin.line, Errc::kOutOfRange,
                      fmt::format("[{}] {} must be at least 0 and fit {} bits, not {}", name_, key,
                                  sizeof(Value) * 8, value));
      return;
    }
    into = static_cast<Value>(value);
  }

  template <class Value>
  void read_node(const toml::node& node, std::string_view key, std::vector<Value>& into) {
    const toml::array* list = node.as_array();
    if (list == nullptr) return complain_type(node, key, "a list");
    into.clear();
    for (const auto& entry : *list) read_node(entry, key, into.emplace_back());
  }

  void complain_type(const toml::node& node, std::string_view key, std::string_view wanted) {
    complaints_.add(node.source().begin.line, Errc::kWrongType,
                    fmt::format("[{}] {} must be {}, not {}", name_, key, wanted, kind_of(node)));
  }
  void complain_word(const toml::node& node, std::string_view key, std::string_view text,
                     const Words& words) {
    complaints_.add(node.source().begin.line, Errc::kOutOfRange,
                    fmt::format("[{}] {} must be one of {}, not '{}'{}", name_, key,
                                fmt::join(words, ", "), shown(text), suggestion(text, words)));
  }
  void complain_not_yet(const toml::node& node, std::string_view key, std::string_view text,
                        const Words& words) {
    complaints_.add(node.source().begin.line, Errc::kNotYet,
                    fmt::format("[{}] {} = \"{}\" is not there yet; this version has {}", name_,
                                key, text, fmt::join(words, ", ")));
  }

  template <class Choice, std::size_t kCount>
  static Words all_of(const Word<Choice> (&words)[kCount]) {
    Words texts;
    for (const auto& word : words) texts.push_back(word.text);
    return texts;
  }
  template <class Choice, std::size_t kCount>
  static Words done_of(const Word<Choice> (&words)[kCount]) {
    Words texts;
    for (const auto& word : words) {
      if (word.choice) texts.push_back(word.text);
    }
    return texts;
  }

  std::string_view name_;
  Complaints& complaints_;
  const toml::table* table_ = nullptr;
  std::uint32_t line_ = 0;
  Words known_;
  std::map<std::string, std::uint32_t, std::less<>> lines_;
};

void read_model(Section& section, Model& model) {
  if (!section.read("kind", kModelWords, model.kind)) return;
  section.read("batch_norm", model.batch_norm);
  section.read("dropout", model.dropout);
  if (model.kind == ModelKind::kMlp) {
    section.read("layers", model.layers);
    section.refuse({"channels", "hidden"}, "an mlp");
  } else {
    section.read("channels", model.channels);
    section.read("hidden", model.hidden);
    section.refuse({"layers"}, "a cnn");
  }
  section.refuse_unknown();
}

void read_samples(Section& section, Samples& samples) {
  if (!section.read("kind", kSampleWords, samples.kind)) return;
  section.read("ship", kShipWords, samples.ship);
  if (samples.kind == SampleKind::kSynthetic) {
    section.read("samples", samples.count);
    section.read("features", samples.features);
    section.read("classes", samples.classes);
    section.refuse({"path", "labels"}, "synthetic data");
  } else {
    section.read("path", samples.path);
    section.refuse({"labels", "samples", "features", "classes"}, "fashion-mnist");
  }
  section.refuse_unknown();
}

void read_optimizer(Section& section, Train& train, Complaints& complaints) {
  section.read("optimizer", kOptimizerWords, train.optimizer);
  if (train.optimizer != OptimizerKind::kAdamW) train.weight_decay = 0;
  section.read("weight_decay", train.weight_decay);
  section.read("clip_norm", train.clip_norm);
  if (train.optimizer == OptimizerKind::kSgd) {
    section.read("momentum", train.momentum);
    section.read("nesterov", train.nesterov);
    section.refuse({"betas", "eps"}, "sgd");
    return;
  }
  std::vector<double> betas = {train.beta1, train.beta2};
  section.read("betas", betas);
  if (betas.size() == 2) {
    train.beta1 = betas[0];
    train.beta2 = betas[1];
  } else {
    complaints.add(section.line_of("betas"), Errc::kWrongType,
                   "[train] betas must be two numbers: betas = [0.9, 0.999]");
  }
  section.read("eps", train.eps);
  section.refuse({"momentum", "nesterov"}, word_of(kOptimizerWords, train.optimizer));
}

void read_schedule(Section& section, Train& train) {
  section.read("lr", train.lr);
  section.read("schedule", kScheduleWords, train.schedule);
  section.read("warmup_steps", train.warmup_steps);
  if (train.schedule == Schedule::kStep) {
    section.read("decay_every_steps", train.decay_every_steps);
    section.read("decay_rate", train.decay_rate);
  } else {
    section.refuse({"decay_every_steps", "decay_rate"},
                   fmt::format("schedule = \"{}\"", word_of(kScheduleWords, train.schedule)));
  }
}

// Zero stands for "not this way" in a Job, so a file may not say it.
void read_end(Section& section, Train& train, Complaints& complaints) {
  section.read("epochs", train.epochs);
  section.read("steps", train.steps);
  section.read("seconds", train.seconds);
  for (const auto key : {"epochs", "steps", "seconds"}) {
    const bool zero = std::string_view(key) == "epochs"  ? train.epochs == 0
                      : std::string_view(key) == "steps" ? train.steps == 0
                                                         : train.seconds == 0;
    if (!section.has(key) || !zero) continue;
    complaints.add(section.line_of(key), Errc::kOutOfRange,
                   fmt::format("[train] {} must be above 0", key));
  }
  if (!section.has("epochs") && !section.has("steps") && !section.has("seconds")) train.epochs = 1;
}

void read_train(Section& section, Train& train, Complaints& complaints) {
  section.read("batch", train.batch);
  section.read("units_per_step", train.units_per_step);
  section.read("block_units", train.block_units);
  section.read("loss", kLossWords, train.loss);
  section.read("exact", kExactWords, train.exact);
  section.read("numerics", kNumericsWords, train.numerics);
  read_end(section, train, complaints);
  read_schedule(section, train);
  read_optimizer(section, train, complaints);
  section.refuse_unknown();
}

void read_rest(std::map<std::string_view, Section>& sections, Job& job) {
  auto& strategy = sections.at("strategy");
  if (strategy.read("kind", kStrategyWords, job.strategy)) {
    strategy.read("delay", job.delay);
    strategy.refuse_unknown();
  }
  auto& codec = sections.at("codec");
  Lossy lossy = Lossy::kNone;
  codec.read("gradient", kLossyGradientWords, lossy);
  codec.read("update", kLossyUpdateWords, lossy);
  codec.read("lossless", kLosslessWords, job.lossless);
  codec.refuse_unknown();
  auto& eval = sections.at("eval");
  eval.read("every", job.eval.every);
  eval.read("batch", job.eval.batch);
  eval.refuse_unknown();
  auto& net = sections.at("net");
  net.read("buffer_bytes", job.net.buffer_bytes);
  net.read("quick_ack", job.net.quick_ack);
  net.refuse_unknown();
}

constexpr std::string_view kSectionNames[] = {"job",  "model",    "data",  "train",
                                              "eval", "strategy", "codec", "net"};

void refuse_unknown_sections(const toml::table& root, Complaints& complaints) {
  for (const auto& [key, node] : root) {
    if (std::ranges::find(kSectionNames, key.str()) != std::end(kSectionNames)) continue;
    const auto line = key.source().begin.line;
    const auto name = shown(key.str());
    complaints.add(line, Errc::kUnknownKey,
                   node.is_table() ? fmt::format("unknown section [{}]{}", name,
                                                 suggestion(key.str(), kSectionNames, "[", "]"))
                                   : fmt::format("unknown key '{}' outside any section", name));
  }
}

Result<Job> read_job(const toml::table& root, std::string_view source) {
  Complaints complaints(source);
  std::map<std::string_view, Section> sections;
  for (const auto name : kSectionNames) sections.try_emplace(name, root, name, complaints);
  refuse_unknown_sections(root, complaints);

  Job job;
  auto& heading = sections.at("job");
  heading.read("name", job.name);
  heading.read("seed", job.seed);
  heading.refuse_unknown();
  read_model(sections.at("model"), job.model);
  read_samples(sections.at("data"), job.samples);
  read_train(sections.at("train"), job.train, complaints);
  read_rest(sections, job);

  if (complaints.first()) return tl::unexpected(*complaints.first());
  if (const auto violation = find_violation(job)) {
    const auto dot = violation->key.find('.');
    const auto& section = sections.at(std::string_view(violation->key).substr(0, dot));
    complaints.add(section.line_of(violation->key.substr(dot + 1)), violation->code,
                   violation->text);
    return tl::unexpected(*complaints.first());
  }
  return job;
}

}  // namespace

Result<Job> parse_job(std::string_view text, std::string_view source) {
  if (text.size() > kJobTextBytesMax) {
    return fail(Errc::kJobSyntax, fmt::format("{}: {} bytes are more than a job may have ({})",
                                              source, text.size(), kJobTextBytesMax));
  }
  try {
    return read_job(toml::parse(text), source);
  } catch (const toml::parse_error& error) {
    return fail(Errc::kJobSyntax, fmt::format("{}:{}: {}", source, error.source().begin.line,
                                              shown(error.description())));
  }
}

}  // namespace wide::engine
