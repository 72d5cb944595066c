#include "wide/apps/cli/bench/machine_limits.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "wide/apps/cli/bench/give_up.h"
#include "wide/apps/cli/bench/loopback.h"
#include "wide/apps/cli/bench/turns.h"

namespace wide::apps::bench {

namespace {

constexpr std::size_t kRoundsLeast = 31;

}  // namespace

double loopback_bytes_per_second(double seconds) {
  const Wire wire = loopback_wire();
  std::uint64_t received = 0;
  std::thread reader([&] {
    std::vector<std::byte> room(1u << 20);
    for (ssize_t some; (some = ::recv(wire.far.number(), room.data(), room.size(), 0)) > 0;) {
      received += static_cast<std::uint64_t>(some);
    }
  });
  const std::vector<std::byte> chunk(1u << 20);
  const auto began = Clock::now();
  while (since(began) < seconds) {
    if (::send(wire.near.number(), chunk.data(), chunk.size(), MSG_NOSIGNAL) < 0) break;
  }
  ::shutdown(wire.near.number(), SHUT_WR);
  reader.join();
  return static_cast<double>(received) / since(began);
}

double wake_up_seconds(double seconds) {
  const Wire wire = loopback_wire();
  std::thread echo([&] {
    for (char byte; ::recv(wire.far.number(), &byte, 1, 0) == 1;) {
      if (::send(wire.far.number(), &byte, 1, MSG_NOSIGNAL) != 1) return;
    }
  });
  std::vector<double> trips;
  const auto began = Clock::now();
  for (char byte = 0; trips.size() < kRoundsLeast || since(began) < seconds;) {
    const auto trip_began = Clock::now();
    if (::send(wire.near.number(), &byte, 1, MSG_NOSIGNAL) != 1) break;
    if (::recv(wire.near.number(), &byte, 1, 0) != 1) break;
    trips.push_back(since(trip_began));
  }
  ::shutdown(wire.near.number(), SHUT_WR);
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
      ::open((folder / "sync").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file.is_open()) give_up("a file to sync");
  const std::array<std::byte, 4096> page{};
  std::vector<double> spans;
  const auto began = Clock::now();
  while (spans.size() < kRoundsLeast || since(began) < seconds) {
    if (::write(file.number(), page.data(), page.size()) < 0) give_up("writing");
    const auto sync_began = Clock::now();
    if (::fdatasync(file.number()) != 0) give_up("syncing");
    spans.push_back(since(sync_began));
  }
  return median(std::move(spans));
}

}  // namespace wide::apps::bench
