#include "wide/apps/cli/bench/crowd/callers.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "wide/apps/cli/bench/give_up.h"
#include "wide/base/check.h"
#include "wide/base/error.h"
#include "wide/net/steady.h"
#include "wide/wire/frame.h"

namespace wide::apps::bench {

namespace {

constexpr std::size_t kCallsAtOnce = 256;  // fewer than a listener lets wait
constexpr Duration kBeatEvery = std::chrono::seconds(1);
constexpr Duration kPatience = std::chrono::seconds(20);

using net::steady_now;

std::vector<std::byte> question_body() {
  const auto packet = wire::encode(wire::Echo{0, "twenty letters, no. "});
  WIDE_CHECK(wire::kHeaderBytes + packet.head.size() == kQuestionBytes);
  return {packet.head.begin(), packet.head.end()};
}

void add_frame(wire::Kind kind, std::uint32_t sequence, std::span<const std::byte> body,
               std::vector<std::byte>& frame) {
  wire::Header header;
  header.kind = kind;
  header.body_bytes = header.raw_bytes = static_cast<std::uint32_t>(body.size());
  header.sequence = sequence;
  const auto head = wire::encode_header(header, xxh3(body));
  frame.assign(head.begin(), head.end());
  frame.insert(frame.end(), body.begin(), body.end());
}

[[noreturn]] void turned_away(const std::string& why) {
  throw Failure(Errc::kPoolUnreachable, "a connection of the bench was ended: " + why);
}

}  // namespace

Digest crowd_class() { return sha256("a bench's crowd"); }

Callers::Caller::Caller(Callers& crowd, std::uint16_t port)
    : crowd_(crowd), socket_(call_loopback(port)) {
  crowd_.poller_.watch(socket_.number(), *this);
}

void Callers::Caller::send(std::span<const std::byte> bytes) {
  const auto count =
      ::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count < 0) give_up("a question to the server");
  if (static_cast<std::size_t>(count) < bytes.size()) turned_away("it does not read");
  ++sequence_;
}

void Callers::Caller::say(const wire::Message& message) {
  const auto packet = wire::encode(message);
  add_frame(packet.kind, sequence_, packet.head, crowd_.frame_);
  send(crowd_.frame_);
}

void Callers::Caller::ask() {
  ++number_;
  std::memcpy(crowd_.question_.data(), &number_, sizeof number_);
  add_frame(wire::Kind::kEcho, sequence_, crowd_.question_, crowd_.frame_);
  send(crowd_.frame_);
  ++crowd_.unanswered_;
}

void Callers::Caller::readable() {
  auto& room = crowd_.room_;
  std::ranges::copy(begun_, room.begin());
  const auto count = ::recv(socket_.number(), room.data() + begun_.size(),
                            room.size() - begun_.size(), MSG_DONTWAIT);
  if (count == 0) turned_away("the server hung up");
  if (count < 0 && errno != EAGAIN) give_up("an answer of the server");
  if (count <= 0) return;
  const auto all = std::span<const std::byte>(room).first(begun_.size() + count);
  const std::size_t taken = take(all);
  begun_.assign(all.begin() + static_cast<std::ptrdiff_t>(taken), all.end());
}

std::size_t Callers::Caller::take(std::span<const std::byte> bytes) {
  std::size_t at = 0;
  while (bytes.size() - at >= wire::kHeaderBytes) {
    const auto rest = bytes.subspan(at);
    const auto header = value_or_throw(wire::decode_header(rest.first<wire::kHeaderBytes>()));
    const std::size_t frame_bytes = wire::kHeaderBytes + header.body_bytes;
    if (frame_bytes > crowd_.room_.size()) turned_away("an answer that nobody asked for");
    if (rest.size() < frame_bytes) break;
    take_frame(header, rest.subspan(wire::kHeaderBytes, header.body_bytes));
    at += frame_bytes;
  }
  return at;
}

void Callers::Caller::take_frame(const wire::Header& header, std::span<const std::byte> body) {
  switch (header.kind) {
    case wire::Kind::kWelcome:
      return crowd_.said_hello(*this);
    case wire::Kind::kRefused:
    case wire::Kind::kBye:
      return turned_away("the pool said so");
    case wire::Kind::kEcho:
      break;
    default:
      return;
  }
  const auto& asked = crowd_.question_;
  const bool same =
      body.size() == asked.size() && std::memcmp(body.data(), &number_, sizeof number_) == 0 &&
      std::ranges::equal(body.subspan(sizeof number_), std::span(asked).subspan(sizeof number_));
  if (!same) turned_away("the answer is not the question");
  --crowd_.unanswered_;
  ++crowd_.answers_;
  if (crowd_.asking_) ask();
}

Callers::Callers(Poller& poller, std::uint16_t port, std::size_t count, Manners manners)
    : poller_(poller), port_(port), manners_(manners), question_(question_body()) {
  if (manners_ != Manners::kNone) poller_.at_every_turn([this] { beat(); });
  beaten_at_ = steady_now();
  while (callers_.size() < count) call(std::min(kCallsAtOnce, count - callers_.size()));
}

// Until each of them has been heard: an answer comes behind all that was said before the question.
void Callers::call(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Caller& caller = callers_.emplace_back(*this, port_);
    if (manners_ == Manners::kNone) {
      caller.ask();
      continue;
    }
    wire::Hello hello;
    hello.role = manners_ == Manners::kNode ? wire::Role::kNode : wire::Role::kObserver;
    hello.program_version = WIDE_VERSION;
    hello.name = fmt::format("idle{}", callers_.size());
    caller.say(hello);
    ++unanswered_;  // until the welcome
  }
  await_answers();
}

void Callers::said_hello(Caller& caller) {
  --unanswered_;
  if (manners_ == Manners::kNode) {
    wire::Ready ready;
    ready.libraries = "none";
    ready.class_hash = crowd_class();
    caller.say(ready);
  }
  caller.ask();
}

void Callers::await_answers() {
  const Time patience = steady_now() + kPatience;
  while (unanswered_ > 0) {
    poller_.turn(100);
    if (steady_now() > patience) turned_away("it does not answer");
  }
}

Asked Callers::ask(double seconds) {
  const std::uint64_t answers_before = answers_;
  const Time began = steady_now();
  const Time end = began + Duration(static_cast<std::int64_t>(seconds * 1e9));
  asking_ = true;
  for (auto& caller : callers_) caller.ask();
  while (steady_now() < end) poller_.turn(100);
  asking_ = false;
  await_answers();
  return {answers_ - answers_before, wide::seconds(steady_now() - began)};
}

// Signs of life, spread over the time as if everyone had come by themselves.
void Callers::beat() {
  const double part = wide::seconds(steady_now() - beaten_at_) / wide::seconds(kBeatEvery);
  const auto due = static_cast<std::size_t>(part * static_cast<double>(callers_.size()));
  if (due == 0) return;
  beaten_at_ = steady_now();
  for (std::size_t i = 0; i < std::min(due, callers_.size()); ++i) {
    callers_[beats_++ % callers_.size()].say(wire::Heartbeat{});
  }
}

}  // namespace wide::apps::bench
