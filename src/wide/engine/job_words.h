#pragma once
// The words of a job file for each choice, once for reading and for writing. A word without a
// value is one that the contract names and that this version cannot do yet.
//
// Inside the job's own files only.

#include <optional>
#include <span>
#include <string_view>

#include "wide/base/check.h"
#include "wide/engine/job.h"

namespace wide::engine {

template <class Choice>
struct Word {
  std::string_view text;
  std::optional<Choice> choice;
};

inline constexpr Word<ModelKind> kModelWords[] = {{"mlp", ModelKind::kMlp},
                                                  {"cnn", ModelKind::kCnn},
                                                  {"resnet", {}},
                                                  {"gpt", {}},
                                                  {"torchscript", {}}};
inline constexpr Word<SampleKind> kSampleWords[] = {{"fashion-mnist", SampleKind::kFashionMnist},
                                                    {"synthetic", SampleKind::kSynthetic},
                                                    {"idx", {}},
                                                    {"npy", {}},
                                                    {"text", {}},
                                                    {"tokens", {}}};
inline constexpr Word<Ship> kShipWords[] = {
    {"auto", Ship::kAuto}, {"local", Ship::kLocal}, {"always", {}}};
inline constexpr Word<Loss> kLossWords[] = {{"cross-entropy", Loss::kCrossEntropy},
                                            {"mse", Loss::kMse}};
inline constexpr Word<OptimizerKind> kOptimizerWords[] = {
    {"sgd", OptimizerKind::kSgd}, {"adam", OptimizerKind::kAdam}, {"adamw", OptimizerKind::kAdamW}};
inline constexpr Word<Schedule> kScheduleWords[] = {
    {"constant", Schedule::kConstant}, {"cosine", Schedule::kCosine}, {"step", Schedule::kStep}};
inline constexpr Word<Exact> kExactWords[] = {{"bits", Exact::kBits}, {"ledger", Exact::kLedger}};
inline constexpr Word<Numerics> kNumericsWords[] = {{"native", Numerics::kNative},
                                                    {"portable", Numerics::kPortable}};
inline constexpr Word<StrategyKind> kStrategyWords[] = {
    {"sync", StrategyKind::kSync}, {"async", {}}, {"local", {}}};
inline constexpr Word<Lossless> kLosslessWords[] = {{"auto", Lossless::kAuto},
                                                    {"none", Lossless::kNone},
                                                    {"lz4", {}},
                                                    {"zstd", {}},
                                                    {"planes", {}},
                                                    {"zlib", {}}};

// Lossy codecs: "none" is the only one so far, so a job has no field for them.
enum class Lossy { kNone };
inline constexpr Word<Lossy> kLossyGradientWords[] = {
    {"none", Lossy::kNone}, {"fp16", {}}, {"bf16", {}}, {"int8", {}},
    {"int4", {}},           {"topk", {}}, {"sign", {}}};
inline constexpr Word<Lossy> kLossyUpdateWords[] = {
    {"none", Lossy::kNone}, {"fp16", {}}, {"bf16", {}}, {"int8", {}},
    {"int4", {}},           {"topk", {}}, {"sign", {}}, {"powersgd", {}}};

template <class Choice>
std::string_view word_of(std::span<const Word<Choice>> words, Choice choice) {
  for (const auto& word : words) {
    if (word.choice == choice) return word.text;
  }
  WIDE_CHECK(false, "a choice without a word");
  return {};
}
template <class Choice, std::size_t kCount>
std::string_view word_of(const Word<Choice> (&words)[kCount], Choice choice) {
  return word_of(std::span<const Word<Choice>>(words), choice);
}

}  // namespace wide::engine
