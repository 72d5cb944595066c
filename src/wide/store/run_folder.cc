#include "wide/store/run_folder.h"

#include <fmt/format.h>
#include <sys/file.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "wide/base/check.h"
#include "wide/store/atomic_file.h"

namespace wide::store {
namespace {

constexpr std::string_view kEvents = "events.jsonl";
constexpr std::string_view kMetrics = "metrics.jsonl";
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
  return fail(Errc::kCannotWrite,
              fmt::format("{} already holds a run; choose another --out", path.string()));
}

// "e": closed in the programs we start, so that they do not hold on to the lock.
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
  folder.events_.reset(open_to_append(folder.file(kEvents)));
  if (!folder.events_) return cannot_write(folder.file(kEvents), std::strerror(errno));
  // The kernel drops the lock when the process ends, however it ends. A filesystem without locks
  // is no reason not to train.
  const bool locked = ::flock(::fileno(folder.events_.get()), LOCK_EX | LOCK_NB) == 0;
  if (!locked && errno == EWOULDBLOCK) return already_holds(path);
  if (holds_run(path)) return already_holds(path);  // one that ended before we had the lock
  return folder;
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
  return write_atomically(file(name), text);
}

Result<std::string> RunFolder::read(std::string_view name) const {
  const auto bytes = read_whole_file(file(name), Errc::kRunMissing, Errc::kRunMissing);
  if (!bytes) return tl::unexpected(bytes.error());
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

}  // namespace wide::store
