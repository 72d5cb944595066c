#pragma once
// Many connections of one process: they say hello, give signs of life, ask small questions, and do
// no work. One question is in flight on each, 64 bytes there and 64 back.
//
// The same code asks a pool and a bare echo server: who is asked makes no difference to what asking
// costs. Frames are read as they come, by their headers alone, and an answer must be the question.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "wide/apps/cli/bench/loopback.h"
#include "wide/base/clock.h"
#include "wide/base/digest.h"
#include "wide/wire/message_codec.h"

namespace wide::apps::bench {

inline constexpr std::size_t kQuestionBytes = 64;  // header and body

// Those who join for a bench are of one class, so that they may work side by side.
Digest crowd_class();

enum class Manners {
  kNone,      // no hello: whoever is called sends everything back
  kObserver,  // hello
  kNode,      // hello and ready, but never asks for work: joined and idle
};

struct Asked {
  std::uint64_t answers = 0;
  double seconds = 0;
  double per_second() const { return static_cast<double>(answers) / seconds; }
};

class Callers final {
 public:
  // Failure where one is turned away.
  Callers(Poller& poller, std::uint16_t port, std::size_t count, Manners manners);
  Callers(const Callers&) = delete;  // the poller knows where it is
  Callers& operator=(const Callers&) = delete;

  // Everyone asks, and asks again once answered, for so long; then the last answers are awaited.
  Asked ask(double seconds);

 private:
  class Caller final : public Watched {
   public:
    Caller(Callers& crowd, std::uint16_t port);
    void readable() override;
    void ask();
    void say(const wire::Message& message);

   private:
    std::size_t take(std::span<const std::byte> bytes);
    void take_frame(const wire::Header& header, std::span<const std::byte> body);
    void send(std::span<const std::byte> bytes);

    Callers& crowd_;
    Descriptor socket_;
    std::uint32_t sequence_ = 0;
    std::uint64_t number_ = 0;      // of its last question
    std::vector<std::byte> begun_;  // a frame that is not all here
  };

  void call(std::size_t count);
  void await_answers();
  void beat();
  void said_hello(Caller& caller);

  Poller& poller_;
  std::uint16_t port_;
  Manners manners_;
  std::vector<std::byte> question_;  // its body; the number is its first field
  std::vector<std::byte> frame_;     // on its way out
  std::array<std::byte, 64u << 10> room_;
  std::deque<Caller> callers_;
  std::size_t unanswered_ = 0;
  std::uint64_t answers_ = 0;
  bool asking_ = false;
  Time beaten_at_{};
  std::uint64_t beats_ = 0;
};

}  // namespace wide::apps::bench
