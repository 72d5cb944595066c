#include "wide/history/past_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace wide::history {

namespace {

using Json = nlohmann::ordered_json;

Json optional_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json eval_json(const engine::EvalRecord& eval) {
  return {{"step", eval.step},
          {"loss", eval.loss},
          {"accuracy", optional_json(eval.accuracy)},
          {"perplexity", optional_json(eval.perplexity)}};
}

std::optional<double> optional_number(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

engine::EvalRecord parse_eval(const Json& json) {
  engine::EvalRecord eval;
  json.at("step").get_to(eval.step);
  json.at("loss").get_to(eval.loss);
  eval.accuracy = optional_number(json.at("accuracy"));
  eval.perplexity = optional_number(json.at("perplexity"));
  return eval;
}

engine::Past parse(const Json& json) {
  engine::Past past;
  json.at("steps").get_to(past.steps);
  json.at("units").get_to(past.units);
  json.at("seconds").get_to(past.seconds);
  json.at("loss_first").get_to(past.loss_first);
  json.at("loss_last").get_to(past.loss_last);
  json.at("loss_sum").get_to(past.loss_sum);
  json.at("node_last").get_to(past.node_last);
  json.at("stopped").get_to(past.stopped);
  for (const auto& hex : json.at("classes")) {
    const auto digest = parse_digest(hex.get<std::string>());
    if (!digest) throw Failure(Errc::kCheckpointDamaged, "a numerics class is no digest");
    past.classes.insert(*digest);
  }
  for (const auto& node : json.at("nodes")) {
    engine::NodePast& found = past.nodes[node.at("name").get<std::string>()];
    node.at("slots").get_to(found.slots);
    node.at("units").get_to(found.units);
    node.at("loss_sum").get_to(found.loss_sum);
  }
  if (!json.at("eval").is_null()) past.eval = parse_eval(json.at("eval"));
  return past;
}

}  // namespace

std::string past_json(const engine::Past& past) {
  Json json{{"steps", past.steps},
            {"units", past.units},
            {"seconds", past.seconds},
            {"loss_first", past.loss_first},
            {"loss_last", past.loss_last},
            {"loss_sum", past.loss_sum},
            {"node_last", past.node_last},
            {"stopped", past.stopped},
            {"classes", Json::array()},
            {"nodes", Json::array()},
            {"eval", nullptr}};
  for (const auto& digest : past.classes) json["classes"].push_back(digest.hex());
  for (const auto& [name, node] : past.nodes) {
    json["nodes"].push_back({{"name", name},
                             {"slots", node.slots},
                             {"units", node.units},
                             {"loss_sum", node.loss_sum}});
  }
  if (past.eval) json["eval"] = eval_json(*past.eval);
  // Names come from peers and may be any bytes; replaced ones only make two names look alike.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<engine::Past> parse_past(std::string_view text) {
  const auto json = Json::parse(text, nullptr, false);
  try {
    return parse(json);
  } catch (const Json::exception& wrong) {
    return fail(Errc::kCheckpointDamaged, fmt::format("the pool's past: {}", wrong.what()));
  } catch (const Failure& wrong) {
    return tl::unexpected(wrong.error());
  }
}

}  // namespace wide::history
