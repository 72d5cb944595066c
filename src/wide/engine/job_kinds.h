#pragma once
// What tells the kinds of models and samples apart, once for reading, writing and checking, so that
// a key is read exactly where it is written.
//
// For the job's own files, and for whoever writes or explains job files.

#include <string_view>

#include "wide/engine/job.h"

namespace wide::engine {

// Samples are runs of `context` tokens out of one long file.
inline bool is_text(SampleKind kind) {
  return kind == SampleKind::kText || kind == SampleKind::kTokens;
}

// Labels lie in a file of their own.
inline bool has_labels(SampleKind kind) {
  return kind == SampleKind::kIdx || kind == SampleKind::kNpy;
}

inline bool brings_its_own_test(SampleKind kind) {
  return kind == SampleKind::kFashionMnist || kind == SampleKind::kSynthetic;
}

// In the middle of a sentence: "a cnn", "synthetic data".
inline std::string_view name_of(ModelKind kind) {
  constexpr std::string_view kNames[] = {"an mlp", "a cnn", "a resnet", "a gpt",
                                         "a torchscript model"};
  return kNames[static_cast<int>(kind)];
}
inline std::string_view name_of(SampleKind kind) {
  constexpr std::string_view kNames[] = {"fashion-mnist", "synthetic data", "idx files",
                                         "npy files",     "text",           "tokens"};
  return kNames[static_cast<int>(kind)];
}

}  // namespace wide::engine
