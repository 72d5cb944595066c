#pragma once
// For tests: TorchScript modules written here, to be saved and read again.

#include <ATen/ops/full.h>
#include <torch/csrc/jit/api/module.h>

#include <string>

namespace wide::train {

// One parameter `weight` of 2×2 values, and this code.
inline torch::jit::Module script_with(const std::string& code) {
  torch::jit::Module module("odd");
  auto weight = at::full({2, 2}, 0.5f);
  module.register_parameter("weight", weight.set_requires_grad(true), false);
  module.register_attribute("training", c10::BoolType::get(), true);
  module.define(code);
  return module;
}

inline torch::jit::Module script_of(const std::string& expression) {
  return script_with("def forward(self, x):\n  return " + expression + "\n");
}

// [count, features] ─▶ [count, classes]
inline torch::jit::Module scorer_script(std::int64_t features, std::int64_t classes) {
  torch::jit::Module module("scorer");
  auto weight = at::full({classes, features}, 0.5f);
  module.register_parameter("weight", weight.set_requires_grad(true), false);
  module.define("def forward(self, x):\n  return torch.matmul(x, self.weight.t())\n");
  return module;
}

// Two parts that share one 3×3 weight: x · Wᵀ · Wᵀ.
inline torch::jit::Module tied_script() {
  torch::jit::Module module("tied");
  auto left = scorer_script(3, 3);
  auto right = scorer_script(3, 3);
  right.setattr("weight", left.attr("weight"));
  module.register_module("left", left);
  module.register_module("right", right);
  module.define("def forward(self, x):\n  return self.right.forward(self.left.forward(x))\n");
  return module;
}

}  // namespace wide::train
