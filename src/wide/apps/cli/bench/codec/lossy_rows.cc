#include <array>
#include <cstring>
#include <optional>
#include <span>

#include "wide/apps/cli/bench/codec/codec_rows.h"
#include "wide/base/check.h"
#include "wide/codec/lossy.h"
#include "wide/codec/low_rank.h"

namespace wide::apps::bench {

namespace {

using codec::Lossy;

constexpr std::array kCodecs = {Lossy::kFp16, Lossy::kBf16, Lossy::kInt8,    Lossy::kInt4,
                                Lossy::kTopk, Lossy::kSign, Lossy::kPowersgd};

// What was lost, squared, over the square of what was there.
double lost_share(std::span<const float> values, std::span<const float> decoded) {
  double lost = 0, whole = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double difference = double{values[i]} - double{decoded[i]};
    lost += difference * difference;
    whole += double{values[i]} * double{values[i]};
  }
  return whole > 0 ? lost / whole : 0;
}

// One codec, with all the memory that it needs.
class Coded final {
 public:
  Coded(Lossy codec, const Specimen& specimen)
      : codec_(codec),
        values_(specimen.values),
        residual_(values_.size()),
        decoded_(values_.size()) {
    if (codec == Lossy::kPowersgd) {
      low_rank_.emplace(specimen.matrices);
      memory_.resize(low_rank_->memory_count());
      low_rank_->begin(1, memory_);
    }
    code_.resize(low_rank_ ? low_rank_->coded_bytes() : codec::coded_bytes(codec, values_.size()));
  }

  bool has_unbiased() const { return !low_rank_; }
  std::size_t bytes() const { return code_.size(); }

  void encode_unbiased() { codec::encode_unbiased(codec_, values_, {1, ++step_, 0}, code_); }
  void encode_with_feedback() {
    if (low_rank_) {
      low_rank_->encode_with_feedback(values_, residual_, memory_, code_);
    } else {
      codec::encode_with_feedback(codec_, values_, residual_, code_);
    }
  }
  // Whatever was coded last. powersgd has nothing that adds.
  void decode_add() {
    const auto done =
        low_rank_ ? low_rank_->decode(code_, decoded_) : codec::decode_add(codec_, code_, decoded_);
    WIDE_CHECK(done.has_value());
  }

  double unbiased_error() {
    encode_unbiased();
    return lost_now();
  }
  // Of one step alone, nothing being left from earlier ones. powersgd begins with random
  // directions; a few steps on the same values let it find theirs, as it would in training.
  double feedback_error() {
    for (int round = 0; round < (low_rank_ ? 4 : 1); ++round) {
      std::ranges::fill(residual_, 0.0f);
      encode_with_feedback();
    }
    return lost_now();
  }

 private:
  double lost_now() {
    std::ranges::fill(decoded_, 0.0f);
    decode_add();
    return lost_share(values_, decoded_);
  }

  Lossy codec_;
  std::span<const float> values_;
  std::vector<float> residual_;
  std::vector<float> decoded_;
  std::optional<codec::LowRank> low_rank_;
  std::vector<float> memory_;
  std::vector<std::byte> code_;
  std::uint64_t step_ = 0;
};

void add_turns(Turns& turns, const std::string& name, Coded& coded) {
  if (coded.has_unbiased()) {
    turns.add(name + "/" + std::string(kUnbiased), [&coded] { coded.encode_unbiased(); });
  }
  turns.add(name + "/" + std::string(kFeedback), [&coded] { coded.encode_with_feedback(); });
  turns.add(name + "/" + std::string(kAdd), [&coded] { coded.decode_add(); });
}

void add_error(const Specimen& specimen, std::string_view name, std::string_view what, double error,
               std::vector<Row>& rows) {
  Row row = row_about(specimen, name, what);
  row.measured = error;
  row.unit = "of the square";
  rows.push_back(std::move(row));
}

void add_speed(const Specimen& specimen, const std::string& name, std::string_view what,
               const Turns& turns, std::vector<Row>& rows) {
  const std::string turn = name + "/" + std::string(what);
  Row row = row_about(specimen, name, what);
  row.measured = static_cast<double>(specimen.values.size() * sizeof(float)) /
                 turns.median_seconds(turn) / 1e9;
  row.unit = "GB/s";
  row.against = "memcpy";
  row.ratio = turns.speed_over(turn, "memcpy");
  rows.push_back(std::move(row));
}

void add_rows(const Specimen& specimen, const std::string& name, Coded& coded, const Turns& turns,
              std::vector<Row>& rows) {
  Row size = row_about(specimen, name, kSize);
  size.measured = static_cast<double>(coded.bytes());
  size.unit = "bytes";
  size.against = "raw bytes";
  size.ratio = size.measured / static_cast<double>(specimen.values.size() * sizeof(float));
  rows.push_back(std::move(size));
  if (coded.has_unbiased()) {
    add_error(specimen, name, kUnbiasedError, coded.unbiased_error(), rows);
    add_speed(specimen, name, kUnbiased, turns, rows);
  }
  add_error(specimen, name, kFeedbackError, coded.feedback_error(), rows);
  add_speed(specimen, name, kFeedback, turns, rows);
  add_speed(specimen, name, kAdd, turns, rows);
}

}  // namespace

void measure_lossy(const Specimen& specimen, const Pace& pace, std::vector<Row>& rows) {
  const auto raw = std::as_bytes(std::span(specimen.values));
  std::vector<std::byte> copy(raw.size());
  std::vector<Coded> coded;
  for (const auto codec : kCodecs) coded.emplace_back(codec, specimen);

  Turns turns;
  turns.add("memcpy", [&] {
    std::memcpy(copy.data(), raw.data(), raw.size());
    keep_what_was_written();
  });
  for (std::size_t i = 0; i < kCodecs.size(); ++i) {
    add_turns(turns, std::string(codec::lossy_name(kCodecs[i])), coded[i]);
  }
  turns.run(pace);
  for (std::size_t i = 0; i < kCodecs.size(); ++i) {
    add_rows(specimen, std::string(codec::lossy_name(kCodecs[i])), coded[i], turns, rows);
  }
}

}  // namespace wide::apps::bench
