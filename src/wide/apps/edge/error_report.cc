#include "wide/apps/edge/error_report.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <new>

#include <nlohmann/json.hpp>

#include "wide/base/log.h"

namespace wide::apps {

std::string code_word(Errc code) { return fmt::format("W{}", static_cast<unsigned>(code)); }

std::string error_text(const Error& error) {
  const auto& entry = catalog_entry(error.code);
  return fmt::format("error {}\n  {} (wide help {})", describe(error), entry.advice,
                     code_word(error.code));
}

nlohmann::ordered_json error_json(const Error& error) {
  const auto& entry = catalog_entry(error.code);
  nlohmann::ordered_json json;
  json["code"] = code_word(error.code);
  json["title"] = entry.title;
  json["detail"] = error.detail;
  json["advice"] = entry.advice;
  json["exit_code"] = static_cast<int>(entry.exit_code);
  return json;
}

std::optional<Error> error_from_json(const nlohmann::json& object) {
  if (!object.is_object() || !object.contains("error")) return std::nullopt;
  const auto& error = object["error"];
  if (!error.is_object() || !error.contains("code") || !error.contains("detail"))
    return std::nullopt;
  const auto code = error["code"].get<std::string>();
  unsigned number = 0;
  if (!code.starts_with('W')) return std::nullopt;
  std::from_chars(code.data() + 1, code.data() + code.size(), number);
  return Error{static_cast<Errc>(number), error["detail"].get<std::string>()};
}

ExitCode exit_code_of(const Error& error) { return catalog_entry(error.code).exit_code; }

void report_error(const Error& error, bool json) {
  log::set_live_line("");
  log::write(error_text(error));
  if (!json) return;
  nlohmann::ordered_json object;
  object["error"] = error_json(error);
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  fmt::print("{}\n", object.dump(2, ' ', false, replace));
}

namespace {
int report(const Error& error, bool json) {
  report_error(error, json);
  return static_cast<int>(exit_code_of(error));
}
}  // namespace

int run_reporting_errors(bool json, const std::function<ExitCode()>& body) {
  try {
    const auto code = body();
    if (std::fflush(stdout) != 0) return static_cast<int>(ExitCode::kFailure);
    return static_cast<int>(code);
  } catch (const Failure& failure) {
    return report(failure.error(), json);
  } catch (const std::bad_alloc&) {
    return report({Errc::kMachine, "out of memory"}, json);
  } catch (const std::exception& exception) {
    return report({Errc::kBug, exception.what()}, json);
  }
}

}  // namespace wide::apps
