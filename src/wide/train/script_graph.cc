#include "wide/train/script_graph.h"

#include <fmt/format.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace wide::train {

namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;

std::string words_of(const std::vector<c10::Argument>& arguments, std::size_t first) {
  std::string words;
  for (std::size_t i = first; i < arguments.size(); ++i) {
    words += (words.empty() ? "" : ", ") + arguments[i].type()->annotation_str();
  }
  return words.empty() ? "nothing" : words;
}

bool is_tensor(const c10::Argument& argument) {
  return argument.type()->isSubtypeOf(*c10::TensorType::get());
}

// A matching node anywhere below?
using Matches = std::function<bool(const Node&)>;
bool any_node(const Block& block, const Matches& matches) {
  for (const Node* node : block.nodes()) {
    if (matches(*node)) return true;
    for (const Block* inner : node->blocks()) {
      if (any_node(*inner, matches)) return true;
    }
    for (const auto name :
         node->attributeNames()) {  // closures and forks carry graphs of their own
      if (node->kindOf(name) != torch::jit::AttributeKind::g) continue;
      if (any_node(*node->g(name)->block(), matches)) return true;
    }
  }
  return false;
}

bool any_node_of(const torch::jit::Function& function, const Matches& matches) {
  const auto graph = torch::jit::toGraphFunction(function).graph()->copy();
  torch::jit::Inline(*graph);
  return any_node(*graph->block(), matches);
}

bool is_call(const Node& node) {
  return node.kind() == c10::prim::CallMethod || node.kind() == c10::prim::CallFunction;
}

// What forward does, with what it calls written out in its place. Where a call is left, which may
// go to any of several parts, every method of every part is looked at.
bool any_in_code(const torch::jit::Module& module, const Matches& matches) {
  const auto& forward = module.get_method("forward").function();
  if (any_node_of(forward, matches)) return true;
  if (!any_node_of(forward, is_call)) return false;
  for (const auto& part : module.modules()) {
    for (const auto& method : part.get_methods()) {
      if (any_node_of(method.function(), matches)) return true;
    }
  }
  return false;
}

// Is this argument written as 0 or False?
bool is_constant_zero(const Node& node, const char* argument) {
  const auto* schema = node.maybeSchema();
  const auto index = schema ? schema->argumentIndexWithName(argument) : c10::nullopt;
  if (!index) return false;
  const auto value = torch::jit::toIValue(node.input(static_cast<std::size_t>(*index)));
  if (!value) return false;
  return (value->isDouble() && value->toDouble() == 0) || (value->isInt() && value->toInt() == 0) ||
         (value->isBool() && !value->toBool());
}

bool is_dropout(const std::string& name) { return name.find("dropout") != std::string::npos; }

bool is_recurrent(const std::string& name) {
  static const std::set<std::string> kNames{"aten::lstm", "aten::gru", "aten::rnn_tanh",
                                            "aten::rnn_relu"};
  return kNames.contains(name);
}

// Those that draw and have no argument for a generator that would give them away.
bool draws_silently(const std::string& name) {
  static const std::set<std::string> kNames{"aten::rand",
                                            "aten::rand_like",
                                            "aten::randn",
                                            "aten::randn_like",
                                            "aten::randint",
                                            "aten::randint_like",
                                            "aten::randperm",
                                            "aten::rrelu",
                                            "aten::rrelu_",
                                            "aten::bernoulli",
                                            "aten::normal",
                                            "aten::multinomial",
                                            "aten::poisson",
                                            "aten::binomial",
                                            "aten::_standard_gamma",
                                            "aten::_sample_dirichlet",
                                            "aten::fractional_max_pool2d",
                                            "aten::fractional_max_pool3d"};
  return kNames.contains(name);
}

bool takes_generator(const Node& node) {
  const auto* schema = node.maybeSchema();
  if (schema == nullptr) return false;
  for (const auto& argument : schema->arguments()) {
    if (argument.type()->annotation_str().find("Generator") != std::string::npos) return true;
  }
  return false;
}

// Attention takes a probability of dropout, whatever the operator is called.
bool takes_dropout(const Node& node) {
  const auto* schema = node.maybeSchema();
  if (schema == nullptr) return false;
  for (const auto& argument : schema->arguments()) {
    const bool named = argument.name().find("dropout") != std::string::npos;
    if (named && !is_constant_zero(node, argument.name().c_str())) return true;
  }
  return false;
}

bool draws(const Node& node) {
  const std::string name = node.kind().toQualString();
  if (is_recurrent(name)) {
    return !is_constant_zero(node, "dropout") && !is_constant_zero(node, "train");
  }
  if (is_dropout(name)) return !is_constant_zero(node, "p") && !is_constant_zero(node, "train");
  return draws_silently(name) || takes_dropout(node) || takes_generator(node) ||
         node.isNondeterministic();
}

}  // namespace

Result<void> check_signature(const torch::jit::Module& module) {
  const auto forward = module.find_method("forward");
  if (!forward) return fail(Errc::kModelUnfit, "it has no method forward");
  const auto& schema = forward->function().getSchema();
  const auto& takes = schema.arguments();  // self is the first
  bool fits = takes.size() >= 2 && is_tensor(takes[1]) && schema.returns().size() == 1 &&
              is_tensor(schema.returns()[0]);
  for (std::size_t i = 2; i < takes.size(); ++i)
    fits = fits && takes[i].default_value().has_value();
  if (fits) return {};
  return fail(Errc::kModelUnfit,
              fmt::format("forward takes {} and returns {}; it must take one Tensor and return one",
                          words_of(takes, 1), words_of(schema.returns(), 0)));
}

bool draws_numbers(const torch::jit::Module& module) { return any_in_code(module, draws); }

bool writes_uncounted(const torch::jit::Module& module) {
  return any_in_code(module, [](const Node& node) {
    const std::string name = node.kind().toQualString();
    return name == "prim::data" || name == "aten::data" || name == "aten::set_" ||
           name == "aten::set_data";
  });
}

}  // namespace wide::train
