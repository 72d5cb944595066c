#pragma once
// How an error leaves a program: what happened and what to do on stderr, a JSON object on stdout
// where a script asked for one, and the exit code that the catalogue gives it.

#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "wide/base/error_catalog.h"

namespace wide::apps {

std::string code_word(Errc code);                       // "W301"
std::string error_text(const Error& error);             // two lines: what, and what to do
nlohmann::ordered_json error_json(const Error& error);  // code, title, detail, advice, exit_code
// Takes back what report_error() printed; nothing where it is something else.
std::optional<Error> error_from_json(const nlohmann::json& object);
ExitCode exit_code_of(const Error& error);

void report_error(const Error& error, bool json);

// Runs the body of a program; a Failure, or any other exception, becomes a report and a code.
int run_reporting_errors(bool json, const std::function<ExitCode()>& body);

}  // namespace wide::apps
