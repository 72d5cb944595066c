#include "wide/base/failpoint.h"

#ifdef WIDE_FAILPOINTS

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <vector>

#include "wide/base/check.h"

namespace wide {
namespace {

struct Armed {
  std::string_view name;  // of kFailpoints
  std::uint64_t hits_left = 0;
  bool fails = false;  // else it ends the process
};

std::mutex mutex;
std::vector<Armed> armed;  // guarded by it

tl::unexpected<Error> not_understood(std::string_view word) {
  return fail(Errc::kUsage, fmt::format("failpoint {:?}: NAME:N or NAME:N:io is expected, with a "
                                        "name of kFailpoints and io where that is allowed",
                                        word));
}

// What stands before the next `mark`, which is taken off `rest` with it.
std::string_view take_word(std::string_view& rest, char mark) {
  const auto end = std::min(rest.find(mark), rest.size());
  const auto word = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

Result<Armed> parse(const std::string_view text) {
  auto rest = text;
  const auto* name = std::ranges::find(kFailpoints, take_word(rest, ':'));
  const auto count = take_word(rest, ':');
  Armed one;
  const auto [end, error] =
      std::from_chars(count.data(), count.data() + count.size(), one.hits_left);
  const bool is_number = error == std::errc() && end == count.data() + count.size();
  if (name == kFailpoints.end() || !is_number || one.hits_left == 0) return not_understood(text);
  one.name = *name;
  one.fails = rest == "io";
  const auto place = static_cast<std::size_t>(name - kFailpoints.begin());
  const bool may_fail = place + kFailpointsWithErrors >= kFailpoints.size();
  if (one.fails ? !may_fail : !rest.empty()) return not_understood(text);
  return one;
}

}  // namespace

namespace base {

std::atomic<bool> failpoints_armed = false;

bool is_armed(std::string_view name) {
  const std::lock_guard lock(mutex);
  return std::ranges::any_of(
      armed, [name](const Armed& one) { return one.name == name && one.hits_left > 0; });
}

bool hit_failpoint(std::string_view name) {
  WIDE_CHECK(std::ranges::find(kFailpoints, name) != kFailpoints.end(), "a listed failpoint");
  const std::lock_guard lock(mutex);
  bool fails = false;
  for (auto& one : armed) {
    if (one.name != name || one.hits_left == 0 || --one.hits_left > 0) continue;
    if (one.fails) {
      fails = true;
    } else {
      ::kill(::getpid(), SIGKILL);
    }
  }
  return fails;
}

}  // namespace base

Result<void> arm_failpoints(std::string_view spec) {
  std::vector<Armed> parsed;
  while (!spec.empty()) {
    const auto one = parse(take_word(spec, ','));
    if (!one) return tl::unexpected(one.error());
    parsed.push_back(*one);
  }
  const std::lock_guard lock(mutex);
  armed = std::move(parsed);
  base::failpoints_armed = !armed.empty();
  return {};
}

}  // namespace wide

#endif
