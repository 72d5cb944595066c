#include "wide/apps/edge/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include <CLI/CLI.hpp>

#include "wide/base/error.h"
#include "wide/base/nearest_word.h"

namespace wide::apps {

struct CommandLine::Parser {
  struct Fallback {
    CLI::Option* option;
    Variable variable;
  };

  CLI::App app;
  std::string name;  // "wide join"
  std::vector<Fallback> fallbacks;

  template <class T>
  void add(const std::string& flag, T& value, const std::string& help, Variable fallback) {
    const std::string note = fallback.name.empty() ? "" : fmt::format(" (or {})", fallback.name);
    CLI::Option* option = app.add_option(flag, value, help + note);
    if constexpr (std::is_same_v<T, std::optional<std::uint64_t>>) {
      option->type_name("N")->check(whole_problem);  // -1 would wrap around
    }
    if (!fallback.value.empty()) fallbacks.push_back({option, std::move(fallback)});
  }

  void take_fallbacks();
  std::string complaint(const std::string& otherwise) const;
  std::string nearest_flag(const std::string& typo) const;
  static std::string whole_problem(const std::string& text);
};

std::string CommandLine::Parser::whole_problem(const std::string& text) {
  const bool whole = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return whole && text.size() < 20 ? "" : "a whole number of at least 0";
}

namespace {
// The parser names the flag somewhere in its own words; ours say what was typed.
std::string misfit(const std::string& words, const std::vector<std::string>& arguments) {
  const auto begin = words.find("--");
  if (begin == std::string::npos) return words;
  const std::string flag = words.substr(begin, words.find_first_of(": =", begin) - begin);
  const auto named = std::ranges::find(arguments, flag);
  const bool has_value = named != arguments.end() && named + 1 != arguments.end();
  const std::string typed = has_value ? *(named + 1) : "that";
  const bool whole = words.find("whole number") != std::string::npos;
  return fmt::format("{} takes a {}number, not '{}'", flag, whole ? "whole " : "", typed);
}
}  // namespace

void CommandLine::Parser::take_fallbacks() {
  for (auto& [option, variable] : fallbacks) {
    if (option->count() > 0) continue;
    try {
      option->add_result(variable.value);
      option->run_callback();
    } catch (const CLI::ParseError&) {
      throw Failure(Errc::kUsage, fmt::format("{}={} is not a value for {}", variable.name,
                                              variable.value, option->get_name()));
    }
  }
}

std::string CommandLine::Parser::nearest_flag(const std::string& typo) const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const auto& word : option->get_lnames()) names.push_back("--" + word);
  }
  const std::vector<std::string_view> words(names.begin(), names.end());
  return std::string(nearest_word(typo.substr(0, typo.find('=')), words));
}

// An unknown flag explains a missing value better than the other way round, so it is named first.
std::string CommandLine::Parser::complaint(const std::string& otherwise) const {
  const auto extras = app.remaining();
  const auto unknown =
      std::ranges::find_if(extras, [](const auto& extra) { return extra.starts_with('-'); });
  const std::string see = fmt::format("; see `{} --help`", name);
  if (unknown == extras.end()) {
    return (extras.empty() ? otherwise : fmt::format("'{}' is one word too many", extras[0])) + see;
  }
  const std::string near = nearest_flag(*unknown);
  if (near.empty()) return fmt::format("{} has no flag '{}'{}", name, *unknown, see);
  return fmt::format("{} has no flag '{}'; did you mean '{}'?", name, *unknown, near);
}

CommandLine::CommandLine(std::string program, std::string command, std::string does,
                         std::string examples)
    : parser_(std::make_unique<Parser>()) {
  parser_->name = command.empty() ? program : program + " " + command;
  parser_->app.name(parser_->name);
  parser_->app.description(std::move(does));
  parser_->app.footer(examples.empty() ? "" : "\nExamples:\n" + examples);
  parser_->app.set_help_flag("-h,--help", "print this help");
}

CommandLine::~CommandLine() = default;

void CommandLine::text(const std::string& flag, std::string& value, const std::string& help,
                       Variable fallback) {
  parser_->add(flag, value, help, std::move(fallback));
}

void CommandLine::whole(const std::string& flag, std::optional<std::uint64_t>& value,
                        const std::string& help, Variable fallback) {
  parser_->add(flag, value, help, std::move(fallback));
}

void CommandLine::number(const std::string& flag, std::optional<double>& value,
                         const std::string& help, Variable fallback) {
  parser_->add(flag, value, help, std::move(fallback));
}

void CommandLine::flag(const std::string& flag, bool& value, const std::string& help) {
  parser_->app.add_flag(flag, value, help);
}

void CommandLine::positional(const std::string& name, std::string& value, const std::string& help,
                             bool required) {
  parser_->app.add_option(name, value, help)->required(required);
}

bool CommandLine::parse(const std::vector<std::string>& arguments) {
  std::vector<std::string> backwards(arguments.rbegin(), arguments.rend());
  try {
    parser_->app.parse(std::move(backwards));
    parser_->take_fallbacks();
  } catch (const CLI::CallForHelp&) {
    std::fputs(help().c_str(), stdout);
    return false;
  } catch (const CLI::ValidationError& error) {
    throw Failure(Errc::kUsage, parser_->complaint(misfit(error.what(), arguments)));
  } catch (const CLI::ConversionError& error) {
    throw Failure(Errc::kUsage, parser_->complaint(misfit(error.what(), arguments)));
  } catch (const CLI::ParseError& error) {
    throw Failure(Errc::kUsage, parser_->complaint(error.what()));
  }
  return true;
}

std::string CommandLine::help() const { return parser_->app.help(); }

}  // namespace wide::apps
