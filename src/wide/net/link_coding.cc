#include "wide/net/link_coding.h"

#include <fmt/format.h>

#include "wide/base/check.h"

namespace wide::net {

std::string described(const codec::Change& change) {
  return fmt::format("from={} to={} reason={}", codec::lossless_name(change.from),
                     codec::lossless_name(change.to), change.reason);
}

LinkCoding::LinkCoding(CodingCrew& crew, engine::LosslessPlan plan, std::size_t bytes_least)
    : crew_(crew), bytes_least_(bytes_least) {
  WIDE_CHECK(plan != engine::LosslessPlan::kNone, "there is nothing to do");
  if (plan == engine::LosslessPlan::kAuto) {
    codec::ChoiceOptions options;
    options.threads = crew.thread_count();
    choice_.emplace(options);
  } else {
    fixed_ = static_cast<codec::Lossless>(plan);
  }
}

wire::SharedCode LinkCoding::code(const wire::SharedPacket& packet, const CodingCrew::Told& told,
                                  Time now) {
  const std::size_t raw_bytes = wire::body_bytes(*packet);
  codec::Lossless codec = fixed_;
  if (choice_) {
    codec = choice_->choose(raw_bytes);
    tried_ = packet;
    grant(choice_->trial(raw_bytes, now), packet, told);
  }
  return codec == codec::Lossless::kNone ? nullptr : crew_.code(packet, codec, told);
}

void LinkCoding::try_on(const CodingCrew::Told& told, Time now) {
  const auto packet = tried_.lock();
  if (!choice_ || !packet) return;
  grant(choice_->another_trial(wire::body_bytes(*packet), now), packet, told);
}

void LinkCoding::grant(const std::optional<codec::TrialWish>& wish,
                       const wire::SharedPacket& packet, const CodingCrew::Told& told) {
  if (wish && !crew_.try_out(packet, *wish, told)) choice_->trial_refused();
}

std::optional<codec::Change> LinkCoding::learn(const codec::Trial& seen, Time now) {
  return choice_ ? choice_->learn(seen, now) : std::nullopt;
}

std::optional<codec::Change> LinkCoding::learn(const TcpReading& reading) {
  const auto facts = line_.learn(reading);
  return facts && choice_ ? choice_->learn(*facts, reading.at) : std::nullopt;
}

}  // namespace wide::net
