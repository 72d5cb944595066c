#include "wide/apps/cli/bench/machine_limits.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "wide/apps/cli/bench/turns.h"
#include "wide/base/error.h"

namespace wide::apps::bench {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kRoundsLeast = 31;

double since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

[[noreturn]] void give_up(const char* what) {
  const int code = errno;
  throw Failure(Errc::kCannotRead, std::string(what) + ": " + std::system_category().message(code));
}

class Descriptor final {
 public:
  Descriptor(int number, const char* what) : number_(number) {
    if (number_ < 0) give_up(what);
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;

  int get() const { return number_; }

 private:
  int number_;
};

// Both ends of one TCP connection over loopback.
struct Wire {
  Descriptor near;
  Descriptor far;
};

Wire loopback_wire() {
  const Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "a socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof(address);
  if (::bind(listener.get(), any, length) != 0 || ::listen(listener.get(), 1) != 0 ||
      ::getsockname(listener.get(), any, &length) != 0) {
    give_up("listening on loopback");
  }
  Descriptor near(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "a socket");
  if (::connect(near.get(), any, length) != 0) give_up("calling over loopback");
  Descriptor far(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC), "answering a call");
  const int yes = 1;
  for (const int end : {near.get(), far.get()}) {
    ::setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  }
  return {std::move(near), std::move(far)};
}

}  // namespace

double loopback_bytes_per_second(double seconds) {
  const Wire wire = loopback_wire();
  std::uint64_t received = 0;
  std::thread reader([&] {
    std::vector<std::byte> room(1u << 20);
    for (ssize_t some; (some = ::recv(wire.far.get(), room.data(), room.size(), 0)) > 0;) {
      received += static_cast<std::uint64_t>(some);
    }
  });
  const std::vector<std::byte> chunk(1u << 20);
  const auto began = Clock::now();
  while (since(began) < seconds) {
    if (::send(wire.near.get(), chunk.data(), chunk.size(), MSG_NOSIGNAL) < 0) break;
  }
  ::shutdown(wire.near.get(), SHUT_WR);
  reader.join();
  return static_cast<double>(received) / since(began);
}

double wake_up_seconds(double seconds) {
  const Wire wire = loopback_wire();
  std::thread echo([&] {
    for (char byte; ::recv(wire.far.get(), &byte, 1, 0) == 1;) {
      if (::send(wire.far.get(), &byte, 1, MSG_NOSIGNAL) != 1) return;
    }
  });
  std::vector<double> trips;
  const auto began = Clock::now();
  for (char byte = 0; trips.size() < kRoundsLeast || since(began) < seconds;) {
    const auto trip_began = Clock::now();
    if (::send(wire.near.get(), &byte, 1, MSG_NOSIGNAL) != 1) break;
    if (::recv(wire.near.get(), &byte, 1, 0) != 1) break;
    trips.push_back(since(trip_began));
  }
  ::shutdown(wire.near.get(), SHUT_WR);
  echo.join();
  return median(std::move(trips)) / 2;
}

double memcpy_bytes_per_second(double seconds) {
  const std::vector<std::byte> from(64'000'000);
  std::vector<std::byte> to(from.size());
  Turns turns;
  turns.add("memcpy", [&] {
    std::memcpy(to.data(), from.data(), from.size());
    keep_what_was_written();
  });
  turns.run({.seconds = seconds});
  return static_cast<double>(from.size()) / turns.median_seconds("memcpy");
}

double sync_seconds(const std::filesystem::path& folder, double seconds) {
  const Descriptor file(
      ::open((folder / "sync").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600),
      "a file to sync");
  const std::array<std::byte, 4096> page{};
  std::vector<double> spans;
  const auto began = Clock::now();
  while (spans.size() < kRoundsLeast || since(began) < seconds) {
    if (::write(file.get(), page.data(), page.size()) < 0) give_up("writing");
    const auto sync_began = Clock::now();
    if (::fdatasync(file.get()) != 0) give_up("syncing");
    spans.push_back(since(sync_began));
  }
  return median(std::move(spans));
}

}  // namespace wide::apps::bench
