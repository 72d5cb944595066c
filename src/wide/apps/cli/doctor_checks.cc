#include "wide/apps/cli/doctor_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "wide/apps/cli/figures.h"
#include "wide/apps/cli/node_program.h"
#include "wide/apps/edge/this_machine.h"
#include "wide/base/error_catalog.h"
#include "wide/data/recipe.h"
#include "wide/net/pool_call.h"

namespace wide::apps {

namespace {
using Json = nlohmann::json;

constexpr std::uint32_t kRoundTrips = 32;

Duration middle_of(std::vector<Duration>& spans) {
  const auto middle = spans.begin() + static_cast<std::ptrdiff_t>(spans.size() / 2);
  std::ranges::nth_element(spans, middle);
  return *middle;
}

std::string advice_for(Errc code) { return std::string(catalog_entry(code).advice); }

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "unknown";
}

double number_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

Check blas_check(const Json& answer) {
  Check check{"blas", Verdict::kOk, "", ""};
  check.found =
      fmt::format("{}, {:.1f} GFLOP/s on one core (a plain loop: {:.1f})", text_of(answer, "blas"),
                  number_of(answer, "gflops"), number_of(answer, "gflops_plain_loop"));
  if (answer.value("slow", true)) {
    check.verdict = Verdict::kFail;
    check.advice = advice_for(Errc::kSlowBlas);
  }
  return check;
}
}  // namespace

std::string_view verdict_word(Verdict verdict) {
  if (verdict == Verdict::kOk) return "ok";
  return verdict == Verdict::kWarn ? "warn" : "fail";
}

std::vector<Check> read_compute_answer(std::string_view json_text) {
  const auto answer = Json::parse(json_text, nullptr, false);
  if (!answer.is_object() || !answer.contains("libtorch")) {
    return {{"libtorch", Verdict::kFail, "wide-node gave no answer",
             "run `wide-node doctor` to see what it says"}};
  }
  const std::string libtorch =
      fmt::format("{}, kernels {}, oneDNN {}", text_of(answer, "libtorch"),
                  text_of(answer, "cpu_capability"), text_of(answer, "onednn"));
  return {{"libtorch", Verdict::kOk, libtorch, ""}, blas_check(answer)};
}

std::vector<Check> check_compute(const Environment& environment) {
  try {
    NodeCall call;
    call.program = find_node_program(environment);
    call.environment = node_environment(environment, engine::Numerics::kNative);
    call.arguments = {"doctor", "--json"};
    auto checks = read_compute_answer(ask_program(call).output);
    checks.insert(checks.begin(), {"wide-node", Verdict::kOk, call.program.string(), ""});
    return checks;
  } catch (const Failure& failure) {
    const auto& error = failure.error();
    return {{"wide-node", Verdict::kFail, error.detail, advice_for(error.code)}};
  }
}

Check check_cores() {
  const auto cores = cores_available();
  return {"cores", Verdict::kOk, fmt::format("{} for this process", cores), ""};
}

Check check_samples(const Environment& environment) {
  const auto cache =
      data::cache_folder(environment.value("XDG_CACHE_HOME"), environment.value("HOME"));
  data::Recipe recipe;
  recipe.path = environment.value("WIDE_DATA");
  const auto samples = data::open_files(recipe, cache);
  if (!samples) {
    const bool missing = samples.error().code == Errc::kSamplesMissing;
    return {"fashion-mnist", missing ? Verdict::kWarn : Verdict::kFail, samples.error().detail,
            "apt install dataset-fashion-mnist; without it the demo takes synthetic samples"};
  }
  const auto& space = (*samples)->space();
  return {"fashion-mnist", Verdict::kOk,
          fmt::format("{} samples to train on, {} held out", grouped(space.train_count),
                      grouped(space.eval_count)),
          ""};
}

Check check_pool(const std::string& url) {
  const auto pool = net::parse_url(url);
  if (!pool) return {"pool", Verdict::kFail, pool.error().detail, advice_for(pool.error().code)};
  auto answer = net::ask_pool(*pool, {.round_trips = kRoundTrips});
  if (!answer) {
    return {"pool", Verdict::kFail, answer.error().detail, advice_for(answer.error().code)};
  }
  return {"pool", Verdict::kOk,
          fmt::format("{} is {:.2f} ms away and back (median of {}): job {}, {}", pool->url(),
                      1e3 * seconds(middle_of(answer->round_trips)), kRoundTrips,
                      answer->status.job_name, answer->status.state),
          ""};
}

}  // namespace wide::apps
