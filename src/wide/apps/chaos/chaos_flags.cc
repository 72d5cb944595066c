#include "wide/apps/chaos/chaos_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "wide/base/error.h"

namespace wide::apps {

namespace {

constexpr double kSecondsMax = 1e8;  // three years; nanoseconds hold it

Duration span_of(const std::string& flag, const std::optional<double>& value, double unit_seconds) {
  const double length = value.value_or(0) * unit_seconds;
  if (!std::isfinite(length) || length < 0 || length > kSecondsMax) {
    throw Failure(Errc::kUsage, fmt::format("{} takes 0 or more, not {}", flag, *value));
  }
  return Duration(static_cast<Duration::rep>(length * 1e9));
}

net::Endpoint listen_at(const ChaosFlags& flags) {
  const auto endpoint = value_or_throw(net::parse_listen(flags.listen));
  if (endpoint.is_loopback() || flags.insecure) return endpoint;
  throw Failure(Errc::kNeedsInsecure,
                fmt::format("--listen {}: anyone who reaches the port would reach what is behind "
                            "it, unencrypted; on a network you trust, say --insecure",
                            flags.listen));
}

net::ChaosOptions chaos_options(const ChaosFlags& flags) {
  if (flags.stall_every.has_value() != flags.stall_ms.has_value()) {
    throw Failure(Errc::kUsage, "--stall-every and --stall-ms go together");
  }
  net::ChaosOptions chaos;
  chaos.seed = flags.seed.value_or(0);
  chaos.delay = span_of("--delay-ms", flags.delay_ms, 1e-3);
  chaos.jitter = span_of("--jitter-ms", flags.jitter_ms, 1e-3);
  chaos.stall_every = span_of("--stall-every", flags.stall_every, 1);
  chaos.stall_span = span_of("--stall-ms", flags.stall_ms, 1e-3);
  chaos.rate_bytes = flags.rate_bytes.value_or(0);
  chaos.chunk_bytes = flags.chunk_bytes.value_or(0);
  chaos.flip_every_bytes = flags.flip_every.value_or(0);
  chaos.duplicate_every_bytes = flags.duplicate_every.value_or(0);
  chaos.truncate_every_bytes = flags.truncate_every.value_or(0);
  chaos.half_close_every_bytes = flags.half_close_every.value_or(0);
  chaos.reset_every_bytes = flags.reset_every.value_or(0);
  return chaos;
}

}  // namespace

void ChaosFlags::declare(CommandLine& line) {
  line.text("--listen", listen, "HOST:PORT where nodes join; port 0, the default, is any free one");
  line.text("--to", to, "HOST:PORT of the pool");
  line.flag("--insecure", insecure, "allow an address that other machines can reach");
  line.whole("--seed", seed, "draws every fault; the same seed harms the same bytes");
  line.number("--seconds", seconds, "end after so much time; default: when interrupted");
  line.number("--delay-ms", delay_ms, "hold everything back so long");
  line.number("--jitter-ms", jitter_ms, "and up to so much longer; order is kept");
  line.whole("--rate-bytes", rate_bytes, "so many bytes a second, per connection and direction");
  line.whole("--chunk-bytes", chunk_bytes, "at most so many bytes in one write; 1: single bytes");
  line.number("--stall-every", stall_every, "every so many seconds, on average, nothing passes …");
  line.number("--stall-ms", stall_ms, "… for so long");
  line.whole("--flip-every", flip_every, "turn a bit over, every so many bytes on average");
  line.whole("--duplicate-every", duplicate_every, "send a run of bytes twice, likewise");
  line.whole("--truncate-every", truncate_every, "end both directions in good order, likewise");
  line.whole("--half-close-every", half_close_every, "end one direction in good order, likewise");
  line.whole("--reset-every", reset_every, "reset the connection, likewise");
  line.flag("--json", json, "the counts as one JSON object, in the last line of stdout");
  line.text("--log", log, "silent, normal or verbose");
}

net::ChaosProxyOptions proxy_options(const ChaosFlags& flags) {
  if (flags.to.empty()) throw Failure(Errc::kUsage, "--to HOST:PORT is missing");
  net::ChaosProxyOptions options;
  options.listen = listen_at(flags);
  options.to = value_or_throw(net::parse_url(flags.to));
  options.chaos = chaos_options(flags);
  if (flags.seconds) options.run_for = span_of("--seconds", flags.seconds, 1);
  return options;
}

nlohmann::ordered_json counts_json(const net::ChaosCounts& counts) {
  nlohmann::ordered_json faults;
  for (std::size_t i = 0; i < net::kFaultCount; ++i) {
    faults[std::string(net::plural(static_cast<net::Fault>(i)))] = counts.faults[i];
  }
  return {{"connections", counts.connections},
          {"dials_failed", counts.dials_failed},
          {"bytes_up", counts.bytes_up},
          {"bytes_down", counts.bytes_down},
          {"faults", std::move(faults)}};
}

std::string counts_text(const net::ChaosCounts& counts) {
  std::string text =
      fmt::format("connections   {}\ndials failed  {}\nbytes up      {}\nbytes down    {}\n",
                  counts.connections, counts.dials_failed, counts.bytes_up, counts.bytes_down);
  for (std::size_t i = 0; i < net::kFaultCount; ++i) {
    std::string words(net::plural(static_cast<net::Fault>(i)));
    std::ranges::replace(words, '_', ' ');
    text += fmt::format("{:<12}  {}\n", words, counts.faults[i]);
  }
  return text;
}

}  // namespace wide::apps
