#pragma once
// The words of a job file for each choice, once for reading and for writing. A word without a
// value is one that the contract names and that this version cannot do yet.
//
// For the job's own files, and for whoever writes or explains job files.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

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
                                                  {"resnet", ModelKind::kResnet},
                                                  {"gpt", ModelKind::kGpt},
                                                  {"torchscript", ModelKind::kTorchScript}};
inline constexpr Word<SampleKind> kSampleWords[] = {{"fashion-mnist", SampleKind::kFashionMnist},
                                                    {"synthetic", SampleKind::kSynthetic},
                                                    {"idx", SampleKind::kIdx},
                                                    {"npy", SampleKind::kNpy},
                                                    {"text", SampleKind::kText},
                                                    {"tokens", SampleKind::kTokens}};
inline constexpr Word<Ship> kShipWords[] = {
    {"auto", Ship::kAuto}, {"local", Ship::kLocal}, {"always", Ship::kAlways}};
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
inline constexpr Word<LosslessPlan> kLosslessWords[] = {
    {"auto", LosslessPlan::kAuto},     {"none", LosslessPlan::kNone},
    {"lz4", LosslessPlan::kLz4},       {"zstd", LosslessPlan::kZstd},
    {"planes", LosslessPlan::kPlanes}, {"zlib", LosslessPlan::kZlib},
    {"zlib9", LosslessPlan::kZlib9}};
inline constexpr Word<LossyPlan> kLossyGradientWords[] = {
    {"none", LossyPlan::kNone}, {"fp16", LossyPlan::kFp16}, {"bf16", LossyPlan::kBf16},
    {"int8", LossyPlan::kInt8}, {"int4", LossyPlan::kInt4}, {"topk", LossyPlan::kTopk},
    {"sign", LossyPlan::kSign}, {"auto", LossyPlan::kAuto}};
inline constexpr Word<LossyPlan> kLossyUpdateWords[] = {
    {"none", LossyPlan::kNone}, {"fp16", LossyPlan::kFp16},         {"bf16", LossyPlan::kBf16},
    {"int8", LossyPlan::kInt8}, {"int4", LossyPlan::kInt4},         {"topk", LossyPlan::kTopk},
    {"sign", LossyPlan::kSign}, {"powersgd", LossyPlan::kPowersgd}, {"auto", LossyPlan::kAuto}};

using Words = std::vector<std::string_view>;

template <class Choice, std::size_t kCount>
Words all_words(const Word<Choice> (&words)[kCount]) {
  Words texts;
  for (const auto& word : words) texts.push_back(word.text);
  return texts;
}
// Without those that cannot be done yet.
template <class Choice, std::size_t kCount>
Words words_done(const Word<Choice> (&words)[kCount]) {
  Words texts;
  for (const auto& word : words) {
    if (word.choice) texts.push_back(word.text);
  }
  return texts;
}

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
