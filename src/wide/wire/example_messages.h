#pragma once
// For tests: limits of a tiny job, one message of each kind that they allow, and what is needed to
// compare messages and to make up random ones. ties() names every field of a message; a field that
// is added to one makes it fail to compile here.

#include <rapidcheck.h>

#include <cstring>
#include <tuple>

#include "wide/wire/message_codec.h"

namespace wide::wire::example {

inline Limits limits() {
  Limits limits;
  limits.value_count = 5;  // odd: its bulk needs padding
  limits.state_count = 8;
  limits.block_count_max = 4;
  limits.eval_unit_max = 3;
  limits.job_bytes_max = 200;
  limits.status_bytes_max = 4096;
  limits.manifest_bytes_max = 100;
  limits.fetch_count_max = 3;
  limits.kept_count_max = 3;
  limits.chunk_bytes_max = 9;
  limits.sample_bytes_max = 50;
  limits.stranger = false;
  return limits;
}

inline Floats floats(BufferPool& pool, std::size_t count) {
  Floats floats = take_floats(pool, count);
  for (std::size_t i = 0; i < count; ++i) floats.values[i] = 0.5f * static_cast<float>(i) - 1;
  return floats;
}

// In runs of these sizes.
inline Bytes bytes(BufferPool& pool, const std::vector<std::size_t>& sizes) {
  Bytes bytes;
  const BufferPtr owner = pool.take(256);
  std::size_t at = 0;
  for (const auto size : sizes) {
    for (std::size_t i = at; i < at + size; ++i) owner->begin()[i] = static_cast<std::byte>(i + 1);
    bytes.runs.push_back({owner->begin() + at, size});
    at += size;
  }
  bytes.owner = owner;
  return bytes;
}

inline std::vector<Message> messages(BufferPool& pool, const Limits& limits) {
  const Digest digest = sha256("example");
  const NodeTimes times{1, 2, 3, 4};
  const NodeStatus node{"n1", 2, 3, 1000, 512.5, 0.25, 1, "working"};
  return {
      Hello{Role::kObserver, 3, "0.1.0", "dünn", digest, 5},
      Welcome{{7}, "n1", digest, digest, digest, 1000, 12, "[job]\nname = \"x\"\n"},
      Refused{403, "pool is full"},
      Ready{"libtorch 1.13.0", digest, true, 11, 0x1122334455667788, 9, {{4, 2}, {7, 1}}},
      Want{4},
      Lease{{9}, 12, 12, 0x1122334455667788, 2, 2, 0, 5},
      LeaseResult{{9},
                  12,
                  0x11,
                  2,
                  1,
                  3.25,
                  500,
                  times,
                  {{digest, 2}, {digest}},
                  as_they_are(floats(pool, limits.value_count))},
      Update{12, 0x22, {0.1f, 1, 0.2f, 0.3f, 0.9f}, as_they_are(floats(pool, limits.value_count))},
      Snapshot{12, 0x33, digest, floats(pool, limits.state_count)},
      EvalLease{{10}, 12, 0x44, 1, 2},
      EvalResult{{10}, 12, 0x44, 1, 1, {{0.5, 30}, {0.75, 29}}},
      Heartbeat{77, times},
      Leave{"asked to stop"},
      Bye{0, "the run is over", 60, digest},
      Resync{12, 0x55, "chain differs"},
      StatusRequest{},
      StatusReport{"fashion", "training", 12, 60, 0.5, 1.25, 1000, 10, 50, {node, node}},
      Measure{2000},
      Measured{400, 2.5},
      WantSamples{},
      Manifest{bytes(pool, {3, 8})},
      Fetch{{{7}, {0}, {1u << 20}}},
      Chunk{41, bytes(pool, {9})},
      Samples{true, 250, 2, bytes(pool, {1, 4, 2})},
      Echo{0x1122334455667788, "as it came"},
      Yield{14},
      Committed{15, 0x1122334455667788},
  };
}

inline auto ties(Hello& m) {
  auto& [a, b, c, d, e, f] = m;
  return std::tie(a, b, c, d, e, f);
}
inline auto ties(Welcome& m) {
  auto& [a, b, c, d, e, f, g, h] = m;
  return std::tie(a, b, c, d, e, f, g, h);
}
inline auto ties(Refused& m) {
  auto& [a, b] = m;
  return std::tie(a, b);
}
inline auto ties(Ready& m) {
  auto& [a, b, c, d, e, f, g] = m;
  return std::tie(a, b, c, d, e, f, g);
}
inline auto ties(Want& m) { return std::tie(m.leases); }
inline auto ties(Lease& m) {
  auto& [a, b, c, d, e, f, g, h] = m;
  return std::tie(a, b, c, d, e, f, g, h);
}
inline auto ties(BlockRow& m) { return std::tie(m.sha256, m.helper); }
inline auto ties(NodeTimes& m) {
  auto& [a, b, c, d] = m;
  return std::tie(a, b, c, d);
}
inline auto ties(LeaseResult& m) {
  auto& [a, b, c, d, e, f, g, h, i, j] = m;
  return std::tie(a, b, c, d, e, f, g, h, i, j);
}
inline auto ties(StepScalars& m) {
  auto& [a, b, c, d, e] = m;
  return std::tie(a, b, c, d, e);
}
inline auto ties(Update& m) {
  auto& [a, b, c, d] = m;
  return std::tie(a, b, c, d);
}
inline auto ties(Snapshot& m) {
  auto& [a, b, c, d] = m;
  return std::tie(a, b, c, d);
}
inline auto ties(EvalLease& m) {
  auto& [a, b, c, d, e] = m;
  return std::tie(a, b, c, d, e);
}
inline auto ties(EvalRow& m) {
  auto& [a, b] = m;
  return std::tie(a, b);
}
inline auto ties(EvalResult& m) {
  auto& [a, b, c, d, e, f] = m;
  return std::tie(a, b, c, d, e, f);
}
inline auto ties(Heartbeat& m) { return std::tie(m.units_done, m.times); }
inline auto ties(Leave& m) { return std::tie(m.reason); }
inline auto ties(Bye& m) {
  auto& [a, b, c, d] = m;
  return std::tie(a, b, c, d);
}
inline auto ties(Resync& m) {
  auto& [a, b, c] = m;
  return std::tie(a, b, c);
}
inline auto ties(StatusRequest&) { return std::tuple<>(); }
inline auto ties(NodeStatus& m) {
  auto& [a, b, c, d, e, f, g, h] = m;
  return std::tie(a, b, c, d, e, f, g, h);
}
inline auto ties(StatusReport& m) {
  auto& [a, b, c, d, e, f, g, h, i, j] = m;
  return std::tie(a, b, c, d, e, f, g, h, i, j);
}
inline auto ties(Measure& m) { return std::tie(m.milliseconds); }
inline auto ties(Measured& m) {
  auto& [a, b] = m;
  return std::tie(a, b);
}

inline auto ties(WantSamples&) { return std::tuple<>(); }
inline auto ties(Manifest& m) { return std::tie(m.bytes); }
inline auto ties(ChunkName& m) { return std::tie(m.chunk); }
inline auto ties(Fetch& m) { return std::tie(m.chunks); }
inline auto ties(Chunk& m) {
  auto& [a, b] = m;
  return std::tie(a, b);
}
inline auto ties(Samples& m) {
  auto& [a, b, c, d] = m;
  return std::tie(a, b, c, d);
}
inline auto ties(Echo& m) {
  auto& [a, b] = m;
  return std::tie(a, b);
}
inline auto ties(Yield& m) { return std::tie(m.step); }
inline auto ties(Committed& m) { return std::tie(m.step, m.chain_after); }

inline std::vector<std::byte> joined(const Bytes& bytes) {
  std::vector<std::byte> whole;
  for (const auto run : bytes.runs) whole.insert(whole.end(), run.begin(), run.end());
  return whole;
}

// Equal in every field; floating-point numbers by their bits.
template <class T>
bool same(T& x, T& y) {
  if constexpr (requires { ties(x); }) {
    return std::apply(
        [&](auto&... left) {
          return std::apply([&](auto&... right) { return (same(left, right) && ...); }, ties(y));
        },
        ties(x));
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::memcmp(&x, &y, sizeof(T)) == 0;
  } else if constexpr (requires { x.runs; }) {
    return joined(x) == joined(y);
  } else if constexpr (std::is_same_v<T, Coded>) {
    return x.codec == y.codec && std::ranges::equal(x.bytes, y.bytes);
  } else if constexpr (requires { x.values; }) {
    return std::ranges::equal(x.bytes(), y.bytes());
  } else if constexpr (requires { x.resize(0); } && !std::is_same_v<T, std::string>) {
    return std::ranges::equal(x, y, [](auto& left, auto& right) { return same(left, right); });
  } else {
    return x == y;
  }
}

inline bool same(Message& x, Message& y) {
  if (x.index() != y.index()) return false;
  return std::visit(
      [&](auto& left) { return same(left, std::get<std::remove_cvref_t<decltype(left)>>(y)); }, x);
}

// Random numbers and texts in every field of fixed size of an example.
template <class T>
void randomize(T& field) {
  if constexpr (requires { ties(field); }) {
    std::apply([](auto&... part) { (randomize(part), ...); }, ties(field));
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    field = *rc::gen::arbitrary<T>();
  } else if constexpr (requires { field.value; }) {
    randomize(field.value);
  } else if constexpr (requires { field.values; }) {
    for (float& value : field.values) randomize(value);
  } else if constexpr (std::is_same_v<T, Digest>) {
    field = sha256(*rc::gen::arbitrary<std::string>());
  } else if constexpr (requires { field.resize(0); }) {
    field.resize(*rc::gen::inRange<std::size_t>(0, 4));
    for (auto& row : field) randomize(row);
  }
}

inline Message random_message(BufferPool& pool, const Limits& limits) {
  auto all = messages(pool, limits);
  Message message = std::move(all[*rc::gen::inRange<std::size_t>(0, all.size())]);
  std::visit([](auto& record) { randomize(record); }, message);
  if (auto* lease = std::get_if<Lease>(&message)) lease->block_count %= limits.block_count_max + 1;
  if (auto* lease = std::get_if<EvalLease>(&message)) lease->unit_count %= limits.eval_unit_max + 1;
  return message;
}

// The packet's body in one piece, in a buffer of its own.
struct JoinedBody {
  BufferPtr owner;
  std::span<std::byte> bytes;
};
inline JoinedBody joined_body(BufferPool& pool, const Packet& packet) {
  BufferPtr owner = pool.take(body_bytes(packet));
  std::size_t at = 0;
  Segments parts;
  add_body(packet, 0, body_bytes(packet), parts);
  for (const auto part : parts) {
    std::ranges::copy(part, owner->begin() + at);
    at += part.size();
  }
  const auto bytes = owner->first(at);
  return {std::move(owner), bytes};
}

}  // namespace wide::wire::example
