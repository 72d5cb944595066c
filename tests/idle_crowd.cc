// wide-idle-crowd HOST:PORT JOINED SILENT DRIPPING: clients that take part in nothing.
//
//   joined     say hello and ready, beat their hearts, never ask for work
//   silent     connect and say nothing
//   dripping   connect and send one byte a second
//
// Stays until the pool hangs up on the joined ones; then prints what it saw as JSON.

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "wide/base/buffer.h"
#include "wide/wire/frame_reader.h"
#include "wide/wire/frame_writer.h"

namespace {

using namespace wide;
using Clock = std::chrono::steady_clock;

struct Client {
  int socket = -1;
  bool joins = false;
  bool ready = false;
  std::unique_ptr<wire::FrameReader> reader;
  wire::FrameWriter writer;
};

struct Seen {
  int joined = 0;
  int updates = 0;
  int snapshots = 0;
  int closed_others = 0;
};

int dial(const std::string& host, int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  if (connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return -1;
  fcntl(socket, F_SETFL, O_NONBLOCK);
  return socket;
}

void say(Client& client, wire::Message message) {
  client.writer.push(std::make_shared<const wire::Packet>(wire::encode(std::move(message))));
  std::vector<std::span<const std::byte>> segments;
  client.writer.gather(segments);
  std::size_t sent_bytes = 0;
  for (const auto segment : segments) {
    const ssize_t sent = send(client.socket, segment.data(), segment.size(), MSG_NOSIGNAL);
    if (sent > 0) sent_bytes += static_cast<std::size_t>(sent);
    if (sent != static_cast<ssize_t>(segment.size())) break;
  }
  client.writer.sent(sent_bytes);
}

void answer(Client& client, const wire::Message& message, Seen& seen) {
  if (const auto* welcome = std::get_if<wire::Welcome>(&message)) {
    wire::Ready ready;
    ready.libraries = "none";
    ready.class_hash = sha256("idle");
    (void)welcome;
    say(client, ready);
    client.ready = true;
    ++seen.joined;
  }
  seen.updates += std::holds_alternative<wire::Update>(message);
  seen.snapshots += std::holds_alternative<wire::Snapshot>(message);
}

// False when the pool hung up.
bool listen_to(Client& client, Seen& seen) {
  while (true) {
    std::byte scratch[4096];
    const auto space = client.joins ? client.reader->space() : std::span<std::byte>(scratch);
    const ssize_t count = recv(client.socket, space.data(), space.size(), 0);
    if (count == 0) return false;
    if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (!client.joins) continue;
    client.reader->filled(static_cast<std::size_t>(count));
    while (true) {
      const auto next = client.reader->next();
      if (!next) return false;
      if (!*next) break;
      answer(client, **next, seen);
    }
  }
}

long resident_bytes(int port) {
  // The pool is the process that listens on the port; the test runs as its owner.
  const std::string found = fmt::format("ss -tlnpH 'sport = :{}' 2>/dev/null", port);
  FILE* pipe = popen(found.c_str(), "r");
  char line[1024] = {};
  const bool read = fgets(line, sizeof line, pipe) != nullptr;
  pclose(pipe);
  const char* pid = read ? std::strstr(line, "pid=") : nullptr;
  if (pid == nullptr) return 0;
  std::ifstream statm(fmt::format("/proc/{}/statm", std::atoi(pid + 4)));
  long size = 0;
  long resident = 0;
  statm >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const std::string address = argv[1];
  const auto colon = address.rfind(':');
  const std::string host = address.substr(0, colon);
  const int port = std::atoi(address.c_str() + colon + 1);
  const int joined = std::atoi(argv[2]);
  const int silent = std::atoi(argv[3]);
  const int dripping = std::atoi(argv[4]);

  BufferPool buffers;
  Seen seen;
  std::vector<Client> clients(static_cast<std::size_t>(joined + silent + dripping));
  const long before = resident_bytes(port);
  for (std::size_t i = 0; i < clients.size(); ++i) {
    clients[i].socket = dial(host, port);
    clients[i].joins = static_cast<int>(i) < joined;
    if (!clients[i].joins) continue;
    clients[i].reader = std::make_unique<wire::FrameReader>(buffers, wire::Limits::for_caller());
    say(clients[i], wire::Hello{wire::Role::kNode, 1, "idle", fmt::format("idle{}", i), {}});
  }

  long growth = 0;
  auto beat = Clock::now();
  const auto deadline = beat + std::chrono::seconds(90);
  while (Clock::now() < deadline) {
    std::vector<pollfd> watched;
    int open_joined = 0;
    for (const auto& client : clients) {
      if (client.socket >= 0) watched.push_back({client.socket, POLLIN, 0});
      open_joined += client.socket >= 0 && client.joins;
    }
    if (open_joined == 0) break;
    poll(watched.data(), watched.size(), 100);
    for (auto& client : clients) {
      if (client.socket < 0 || listen_to(client, seen)) continue;
      close(client.socket);
      client.socket = -1;
      seen.closed_others += !client.joins;
    }
    if (growth == 0 && seen.joined == joined) {
      growth = resident_bytes(port) - before;
      std::printf("joined %d\n", seen.joined);
      std::fflush(stdout);
    }
    if (Clock::now() - beat < std::chrono::seconds(1)) continue;
    beat = Clock::now();
    for (std::size_t i = 0; i < clients.size(); ++i) {
      if (clients[i].socket < 0) continue;
      if (clients[i].joins) say(clients[i], wire::Heartbeat{});
      if (static_cast<int>(i) >= joined + silent) send(clients[i].socket, "W", 1, MSG_NOSIGNAL);
    }
  }
  const double each = static_cast<double>(growth) / static_cast<double>(clients.size());
  std::printf(
      "%s\n",
      fmt::format("{{\"joined\": {}, \"updates_received\": {}, \"snapshots_received\": {}, "
                  "\"others_closed\": {}, \"pool_bytes_before\": {}, "
                  "\"pool_growth_bytes_per_client\": {}}}",
                  seen.joined, seen.updates, seen.snapshots, seen.closed_others, before, each)
          .c_str());
  return 0;
}
