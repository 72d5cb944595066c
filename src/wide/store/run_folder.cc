#include "wide/store/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "wide/base/check.h"
#include "wide/store/atomic_file.h"
#include "wide/store/real_disk.h"

namespace wide::store {
namespace {

constexpr std::string_view kEvents = "events.jsonl";
constexpr std::string_view kMetrics = "metrics.jsonl";
constexpr std::string_view kLock = "lock";
constexpr std::array<std::string_view, 2> kSignsOfARun = {"job.toml", "summary.json"};

bool holds_run(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto name : kSignsOfARun) {
    if (std::filesystem::exists(folder / name, ignored)) return true;
  }
  return false;
}

tl::unexpected<Error> cannot_write(const std::filesystem::path& path, std::string_view why) {
  return fail(Errc::kCannotWrite, fmt::format("{}: {}", path.string(), why));
}

tl::unexpected<Error> already_holds(const std::filesystem::path& path) {
  return fail(
      Errc::kCannotWrite,
      fmt::format("{} already holds a run; go on with it by --resume, or choose another --out",
                  path.string()));
}

// What whoever holds the lock wrote into it; empty where that cannot be told.
std::string holder_of(int lock) {
  std::array<char, 20> text = {};
  const auto count = ::pread(lock, text.data(), text.size(), 0);
  const std::string_view read(text.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  return std::string(read.substr(0, read.find_first_not_of("0123456789")));
}

void write_holder(int lock) {
  const auto text = fmt::format("{}\n", ::getpid());
  // Only for people to read: where it cannot be written the lock holds as well.
  if (::ftruncate(lock, 0) == 0) (void)!::pwrite(lock, text.data(), text.size(), 0);
}

// "e": closed in the programs we start.
std::FILE* open_to_append(const std::filesystem::path& path) {
  return std::fopen(path.c_str(), "ae");
}

}  // namespace

RunFolder::RunFolder(std::filesystem::path path)
    : path_(std::move(path)), events_(nullptr, &std::fclose), metrics_(nullptr, &std::fclose) {}

Result<RunFolder> RunFolder::create(const std::filesystem::path& path) {
  if (holds_run(path)) return already_holds(path);
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return cannot_write(path, error.message());

  RunFolder folder(path);
  if (auto done = folder.lock(); !done) return tl::unexpected(std::move(done.error()));
  if (holds_run(path)) return already_holds(path);  // one that ended before we had the lock
  return folder;
}

Result<RunFolder> RunFolder::resume(const std::filesystem::path& path) {
  auto folder = open(path);
  if (!folder) return folder;
  if (auto done = folder->lock(); !done) return tl::unexpected(std::move(done.error()));
  return folder;
}

Result<void> RunFolder::lock() {
  lock_ = Descriptor(::open(file(kLock).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock_.is_open()) return cannot_write(file(kLock), std::strerror(errno));
  // The kernel drops the lock when the process ends, however it ends. A filesystem without locks
  // is no reason not to train.
  const bool locked = ::flock(lock_.number(), LOCK_EX | LOCK_NB) == 0;
  if (!locked && errno == EWOULDBLOCK) {
    const auto holder = holder_of(lock_.number());
    return fail(Errc::kRunInUse,
                fmt::format("{}: {} has it open", path_.string(),
                            holder.empty() ? "another process" : "process " + holder));
  }
  write_holder(lock_.number());
  return {};
}

Result<RunFolder> RunFolder::open(const std::filesystem::path& path) {
  if (holds_run(path)) return RunFolder(path);
  return fail(Errc::kRunMissing, fmt::format("{} holds no run", path.string()));
}

Result<void> RunFolder::append_event(std::string_view json_line) {
  return append(events_, kEvents, json_line);
}

Result<void> RunFolder::append_metric(std::string_view json_line) {
  return append(metrics_, kMetrics, json_line);
}

Result<void> RunFolder::append(Stream& stream, std::string_view name, std::string_view line) {
  WIDE_CHECK(line.find('\n') == std::string_view::npos, "one line");
  if (!stream) stream.reset(open_to_append(file(name)));
  if (!stream) return cannot_write(file(name), std::strerror(errno));
  const bool written = std::fwrite(line.data(), 1, line.size(), stream.get()) == line.size() &&
                       std::fputc('\n', stream.get()) != EOF && std::fflush(stream.get()) == 0;
  if (!written) return cannot_write(file(name), std::strerror(errno));
  return {};
}

Result<void> RunFolder::write(std::string_view name, std::string_view text) const {
  // Whoever writes holds the lock: one name aside is enough, and kills leave no others behind.
  RealDisk disk(path_);
  const std::array pieces = {std::as_bytes(std::span(text.data(), text.size()))};
  return write_whole(disk, name, pieces);
}

Result<std::string> RunFolder::read(std::string_view name) const {
  const auto bytes = read_whole_file(file(name), Errc::kRunMissing, Errc::kRunMissing);
  if (!bytes) return tl::unexpected(bytes.error());
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

}  // namespace wide::store
