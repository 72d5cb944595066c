#include "wide/net/chunk_fetcher.h"

#include <gtest/gtest.h>

#include <chrono>

#include <asio/executor_work_guard.hpp>

#include "wide/data/library.h"
#include "wide/net/text_samples.h"

namespace wide::net {
namespace {

using namespace std::chrono_literals;

// A cache that has every chunk, and shelves that have none yet.
class Fetcher : public testing::Test {
 protected:
  Fetcher() {
    const auto shelf = make_shelf();
    const auto* library = samples_->library();
    for (std::uint64_t i = 0; i < manifest_->chunks.size(); ++i) {
      EXPECT_TRUE(shelf->put(i, samples_, library->chunk(i)));
    }
  }
  std::shared_ptr<data::ChunkShelf> make_shelf() const {
    return std::make_shared<data::ChunkShelf>(manifest_, cache_, data::ChunkShelf::Options{});
  }
  ChunkFetcher::Outlets outlets() {
    ChunkFetcher::Outlets outlets;
    outlets.send = [](const wire::Fetch&) { ADD_FAILURE() << "asked the pool for what it has"; };
    outlets.failed = [](const Error& error) { ADD_FAILURE() << describe(error); };
    outlets.foresee = [] { return std::nullopt; };
    return outlets;
  }

  TextSamples text_{64 << 10};
  data::DatasetPtr samples_ = text_.open();
  std::shared_ptr<const data::Manifest> manifest_ =
      std::make_shared<const data::Manifest>(samples_->library()->manifest());
  std::shared_ptr<data::ChunkCache> cache_ =
      std::make_shared<data::ChunkCache>(text_.folder() / "cache", 1 << 30);
};

// Asks over and over while the storing thread puts the chunk on the shelf, so that some of the
// questions meet that moment.
TEST_F(Fetcher, NobodyWaitsForAChunkThatCameWhileTheyAsked) {
  for (int round = 0; round < 50; ++round) {
    asio::io_context io;
    const auto work = asio::make_work_guard(io);
    ChunkFetcher fetcher(io, make_shelf(), outlets());
    fetcher.linked();
    fetcher.expect({0});
    int asked = 0;
    int answered = 0;
    for (bool here = false; !here; ++asked) {
      const int before = answered;
      fetcher.want({0}, [&](const ChunkFetcher::Hold& hold) {
        EXPECT_NE(hold, nullptr);
        ++answered;
      });
      here = answered > before;
    }
    while (answered < asked && io.run_one_for(10s) > 0) {
    }
    ASSERT_EQ(answered, asked) << "in round " << round;
  }
}

}  // namespace
}  // namespace wide::net
