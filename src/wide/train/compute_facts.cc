#include "wide/train/compute_facts.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <filesystem>
#include <string_view>

#include "wide/train/compute_thread.h"

namespace wide::train {

namespace {

// The word that follows `label` in `text`; empty where there is none.
std::string word_after(std::string_view text, std::string_view label) {
  const auto found = text.find(label);
  if (found == std::string_view::npos) return {};
  const auto word = text.substr(found + label.size());
  return std::string(word.substr(0, word.find_first_of(" \n,;")));
}

std::filesystem::path file_of_symbol(const char* name) {
  void* symbol = dlsym(RTLD_DEFAULT, name);
  Dl_info place{};
  if (symbol == nullptr || dladdr(symbol, &place) == 0 || place.dli_fname == nullptr) return {};
  std::error_code ignored;
  const auto path = std::filesystem::canonical(place.dli_fname, ignored);
  return ignored ? std::filesystem::path(place.dli_fname) : path;
}

std::string ask_openblas(const char* question) {
  using Ask = char* (*)();
  void* symbol = dlsym(RTLD_DEFAULT, question);
  return symbol == nullptr ? std::string() : reinterpret_cast<Ask>(symbol)();
}

// OpenBLAS may be loaded for LAPACK alone while products go to another BLAS: only the file that
// holds sgemm decides. The core that it chose its kernels for says more about bits than the CPU's
// own name.
std::string blas_name(const std::filesystem::path& path) {
  const bool is_openblas = path.string().find("openblas") != std::string::npos;
  const auto version = word_after(ask_openblas("openblas_get_config"), "OpenBLAS ");
  if (!is_openblas || version.empty()) return path.filename().string();
  return fmt::format("OpenBLAS {} {}", version, ask_openblas("openblas_get_corename"));
}

}  // namespace

ComputeFacts compute_facts() {
  prepare_compute_thread();
  const auto blas_path = file_of_symbol("sgemm_");
  ComputeFacts facts;
  facts.torch_version = TORCH_VERSION;
  facts.cpu_capability = word_after(at::show_config(), "CPU capability usage: ");
  facts.onednn_version = word_after(at::get_mkldnn_version(), " v");
  facts.blas = blas_name(blas_path);
  facts.blas_path = blas_path.string();
  // Netlib's file lies in a folder "blas"; OpenBLAS, BLIS and ATLAS bring folders of their own.
  facts.blas_is_reference = blas_path.parent_path().filename() == "blas";
  facts.threads = at::get_num_threads();
  return facts;
}

std::string describe(const ComputeFacts& facts) {
  auto text =
      fmt::format("libtorch {} {}, {}", facts.torch_version, facts.cpu_capability, facts.blas);
  if (!facts.onednn_version.empty()) text += fmt::format(", oneDNN {}", facts.onednn_version);
  return text;
}

}  // namespace wide::train
