// The doctor's checks of disk and ports: straight to the kernel.

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include "wide/apps/cli/doctor_checks.h"
#include "wide/net/endpoint.h"

namespace wide::apps {

namespace {
constexpr int kSyncCount = 20;
constexpr double kSlowSyncMs = 10;

class OpenFile final {
 public:
  explicit OpenFile(int number) : number_(number) {}
  ~OpenFile() {
    if (number_ >= 0) close(number_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int number() const { return number_; }
  bool good() const { return number_ >= 0; }

 private:
  int number_;
};

// The median of a few writes of 4 KiB, each synced; empty where the disk refuses.
std::optional<double> sync_milliseconds(int file) {
  const std::array<char, 4096> bytes{};
  std::vector<double> spans;
  for (int round = 0; round < kSyncCount; ++round) {
    const auto began = std::chrono::steady_clock::now();
    const bool written = write(file, bytes.data(), bytes.size()) == ssize_t{bytes.size()};
    if (!written || fdatasync(file) != 0) return std::nullopt;
    const std::chrono::duration<double, std::milli> span = std::chrono::steady_clock::now() - began;
    spans.push_back(span.count());
  }
  std::ranges::sort(spans);
  return spans[spans.size() / 2];
}

bool can_listen(std::uint16_t port) {
  const OpenFile socket_file(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  setsockopt(socket_file.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return bind(socket_file.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
             0 &&
         listen(socket_file.number(), 1) == 0;
}
}  // namespace

Check check_disk(const std::filesystem::path& folder) {
  const std::string advice = "run wide in a folder you may write to, or give --out";
  std::string name = (folder / ".wide-doctor-XXXXXX").string();
  const OpenFile file(mkstemp(name.data()));
  if (!file.good()) {
    return {"disk", Verdict::kFail, fmt::format("{}: {}", folder.string(), std::strerror(errno)),
            advice};
  }
  unlink(name.c_str());
  const auto milliseconds = sync_milliseconds(file.number());
  if (!milliseconds) {
    return {"disk", Verdict::kFail, fmt::format("{}: {}", folder.string(), std::strerror(errno)),
            advice};
  }
  const std::string found = fmt::format("a synced write takes {:.2f} ms here", *milliseconds);
  if (*milliseconds < kSlowSyncMs) return {"disk", Verdict::kOk, found, ""};
  return {"disk", Verdict::kWarn, found, "a faster disk for --out would help short steps"};
}

Check check_port() {
  if (!can_listen(0)) {
    return {"port", Verdict::kFail, fmt::format("loopback: {}", std::strerror(errno)),
            "a pool and its nodes talk over TCP on 127.0.0.1; bring the lo interface up"};
  }
  if (!can_listen(net::kDefaultPort)) {
    return {"port", Verdict::kWarn, fmt::format("{} is taken", net::kDefaultPort),
            "perhaps a pool runs already; another one needs --listen HOST:PORT"};
  }
  return {"port", Verdict::kOk, fmt::format("{} is free on loopback", net::kDefaultPort), ""};
}

}  // namespace wide::apps
