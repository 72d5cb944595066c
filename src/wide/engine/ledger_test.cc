#include "wide/engine/ledger.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace wide::engine {
namespace {

CommitRecord example_commit() {
  CommitRecord record;
  record.step = 12;
  record.chain_before = 7;
  record.chain_after = 8;
  record.scalars = {0.1f, 0.5f, 0.05f, 0.9f, 0.99f};
  record.loss = 2.25;
  record.seconds = 61.5;
  record.contributors = {{NodeId{3}, "n3", sha256("class"), 2, 1, 4.5},
                         {NodeId{9}, "", sha256("other"), 1, 1, 0.5}};
  record.rows = {{0, NodeId{3}, sha256("a")}, {1, NodeId{9}, sha256("b")}};
  return record;
}

Result<LedgerRecord> decoded(const LedgerRecord& record) {
  return decode_record(record_type(record), encode_body(record), nullptr, bulk_of(record).size());
}

TEST(LedgerRecord, CommitsComeBackAsTheyWere) {
  const CommitRecord record = example_commit();

  const auto back = decoded(record);

  ASSERT_TRUE(back) << describe(back.error());
  EXPECT_EQ(encode_body(*back), encode_body(record));
  const auto& commit = std::get<CommitRecord>(*back);
  EXPECT_EQ(commit.step, 12u);
  EXPECT_EQ(commit.contributors[0].name, "n3");
  EXPECT_EQ(commit.contributors[1].loss_sum, 0.5);
  EXPECT_EQ(commit.rows[1].node, NodeId{9});
  EXPECT_EQ(commit.rows[1].sha256, sha256("b"));
  EXPECT_EQ(commit.scalars.decay_factor, 0.99f);
}

TEST(LedgerRecord, UpdatesLieInTheBulk) {
  BufferPool buffers;
  CommitRecord record = example_commit();
  record.update = take_floats(buffers, 3);
  std::ranges::copy(std::vector{1.0f, -2.0f, 3.5f}, record.update.values.begin());
  const auto bulk = bulk_of(record);
  auto copy = buffers.take(bulk.size());
  std::ranges::copy(bulk, copy->begin());

  const auto back = decode_record(record_type(record), encode_body(record), copy, bulk.size());

  ASSERT_TRUE(back);
  const auto& update = std::get<CommitRecord>(*back).update;
  EXPECT_TRUE(std::ranges::equal(update.values, record.update.values));
}

TEST(LedgerRecord, OtherKindsComeBackAsTheyWere) {
  GenesisRecord genesis{sha256("job"), sha256("samples"), {}, sha256("weights"), 10, 2, "0.1.0"};
  EvalRecord eval{40, 0.5, 0.875, std::nullopt};
  const StopRecord stop{77, 30.25};

  const auto genesis_back = decoded(genesis);
  const auto eval_back = decoded(eval);
  const auto stop_back = decoded(stop);

  ASSERT_TRUE(genesis_back && eval_back && stop_back);
  EXPECT_EQ(std::get<GenesisRecord>(*genesis_back).genesis_sha256, sha256("weights"));
  EXPECT_EQ(std::get<GenesisRecord>(*genesis_back).program_version, "0.1.0");
  EXPECT_EQ(std::get<EvalRecord>(*eval_back).accuracy, 0.875);
  EXPECT_EQ(std::get<EvalRecord>(*eval_back).perplexity, std::nullopt);
  EXPECT_EQ(std::get<StopRecord>(*stop_back).seconds, 30.25);
}

TEST(LedgerRecord, RefusesWhatIsShortLongOrUnknown) {
  const LedgerRecord record = example_commit();
  const auto body = encode_body(record);
  for (std::size_t length = 0; length < body.size(); ++length) {
    EXPECT_FALSE(decode_record(2, std::span(body).first(length), nullptr, 0)) << length;
  }
  auto longer = body;
  longer.push_back(std::byte{0});

  EXPECT_FALSE(decode_record(2, longer, nullptr, 0));
  EXPECT_FALSE(decode_record(9, body, nullptr, 0));
  EXPECT_FALSE(decode_record(2, body, nullptr, 5)) << "no whole floats";
}

RC_GTEST_PROP(LedgerRecordProperty, NoBytesMakeTheDecoderBelieveACount, ()) {
  auto body = encode_body(example_commit());
  const auto at = *rc::gen::inRange<std::size_t>(0, body.size());
  body[at] = static_cast<std::byte>(*rc::gen::inRange(0, 256));

  const auto back = decode_record(2, body, nullptr, 0);

  // Whatever decodes is encoded to the same bytes again.
  if (back) RC_ASSERT(encode_body(*back) == body);
}

TEST(CoversEveryBlock, WantsEachOnceInOrderWithAHash) {
  CommitRecord record = example_commit();
  EXPECT_TRUE(covers_every_block(record, 2));
  EXPECT_FALSE(covers_every_block(record, 3));

  std::swap(record.rows[0], record.rows[1]);
  EXPECT_FALSE(covers_every_block(record, 2));
  record.rows[0] = record.rows[1] = {0, NodeId{1}, sha256("a")};
  EXPECT_FALSE(covers_every_block(record, 2));
  record = example_commit();
  record.rows[1].sha256 = {};
  EXPECT_FALSE(covers_every_block(record, 2));
}

}  // namespace
}  // namespace wide::engine
