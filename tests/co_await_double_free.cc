// A fault of g++ 12.2, kept as a regression test of the way around it: a braced aggregate or a
// value-capturing lambda that is written inside a co_await expression is destroyed twice.
//
//   co_await length(Note{1, text});                      destroys the note's text twice
//   Note note{1, text};
//   co_await length(std::move(note));                    the way we write it
//
// This program does everything the second way and is always built with AddressSanitizer, which
// would end it at the second destruction. scripts/check_rooms.py refuses the first way.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

namespace {

constexpr std::size_t kTextBytes = 100;  // too long to lie inside the string itself

struct Note {
  int id;
  std::string text;
};

asio::awaitable<std::size_t> length(Note note) { co_return note.text.size(); }

template <class Measure>
asio::awaitable<std::size_t> measured(Measure measure) {
  co_return measure();
}

asio::awaitable<void> add_lengths(std::size_t* total) {
  const std::string text(kTextBytes, 'x');

  Note note{1, text};
  *total += co_await length(std::move(note));

  auto measure = [text] { return text.size(); };
  *total += co_await measured(std::move(measure));
}

}  // namespace

int main() {
  asio::io_context io(1);
  std::size_t total = 0;
  asio::co_spawn(io, add_lengths(&total), [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
  io.run();

  std::printf("lengths add up to %zu\n", total);
  return total == 2 * kTextBytes ? EXIT_SUCCESS : EXIT_FAILURE;
}
