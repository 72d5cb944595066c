#include "wide/base/error_catalog.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace wide {
namespace {

// Without a default, so that the compiler points here when a code is added.
bool is_code(Errc code) {
  switch (code) {
    case Errc::kUsage:
    case Errc::kJobUnreadable:
    case Errc::kJobSyntax:
    case Errc::kUnknownKey:
    case Errc::kWrongType:
    case Errc::kOutOfRange:
    case Errc::kModelMisfit:
    case Errc::kNotYet:
    case Errc::kSamplesMissing:
    case Errc::kSamplesCorrupt:
    case Errc::kSamplesDiffer:
    case Errc::kTooFewSamples:
    case Errc::kSamplesChanged:
    case Errc::kLabelOutOfRange:
    case Errc::kTokenOutOfRange:
    case Errc::kNotShipped:
    case Errc::kModelMissing:
    case Errc::kModelDiffers:
    case Errc::kModelUnfit:
    case Errc::kPoolUnreachable:
    case Errc::kPortInUse:
    case Errc::kBadAddress:
    case Errc::kBadFrame:
    case Errc::kUnexpectedMessage:
    case Errc::kPeerSilent:
    case Errc::kOtherJob:
    case Errc::kLinkLost:
    case Errc::kBadResult:
    case Errc::kBadCoding:
    case Errc::kNeedsInsecure:
    case Errc::kOtherClass:
    case Errc::kPoolFull:
    case Errc::kOtherProtocol:
    case Errc::kOtherFileVersion:
    case Errc::kDiverged:
    case Errc::kComputeFailed:
    case Errc::kReplicaDrift:
    case Errc::kNodesEnded:
    case Errc::kSlowBlas:
    case Errc::kNodeProgramMissing:
    case Errc::kMachine:
    case Errc::kCannotWrite:
    case Errc::kRunMissing:
    case Errc::kTensorFileCorrupt:
    case Errc::kDiskFull:
    case Errc::kSyncFailed:
    case Errc::kLogDamaged:
    case Errc::kCheckpointDamaged:
    case Errc::kCannotRead:
    case Errc::kRunInUse:
    case Errc::kRunOver:
    case Errc::kRunDiffers:
    case Errc::kInterrupted:
    case Errc::kBug:
      return true;
  }
  return false;
}

TEST(ErrorCatalog, HasEveryCodeOnceAndNoOther) {
  std::size_t code_count = 0;
  for (int number = 0; number < 1000; ++number) {
    const auto code = static_cast<Errc>(number);
    EXPECT_EQ(catalog_entry(code).code, is_code(code) ? code : Errc::kBug) << number;
    code_count += is_code(code) ? 1 : 0;
  }

  EXPECT_EQ(error_catalog().size(), code_count);
}

TEST(ErrorCatalog, IsSortedByCode) {
  EXPECT_TRUE(std::ranges::is_sorted(error_catalog(), {}, &CatalogEntry::code));
}

TEST(ErrorCatalog, TitlesAreShortAndAdviceIsSentences) {
  for (const CatalogEntry& entry : error_catalog()) {
    EXPECT_FALSE(entry.title.empty());
    EXPECT_LE(entry.title.size(), 40u) << entry.title;
    EXPECT_GE(entry.advice.size(), 60u) << entry.title;
    EXPECT_EQ(entry.advice.back(), '.') << entry.title;
  }
}

TEST(ErrorCatalog, ExitCodesFollowTheContract) {
  const auto exit_of = [](Errc code) { return static_cast<int>(catalog_entry(code).exit_code); };
  EXPECT_EQ(exit_of(Errc::kUsage), 2);
  EXPECT_EQ(exit_of(Errc::kUnknownKey), 2);
  EXPECT_EQ(exit_of(Errc::kSamplesMissing), 7);
  EXPECT_EQ(exit_of(Errc::kSamplesCorrupt), 7);
  EXPECT_EQ(exit_of(Errc::kPoolUnreachable), 3);
  EXPECT_EQ(exit_of(Errc::kPortInUse), 7);
  EXPECT_EQ(exit_of(Errc::kNeedsInsecure), 4);
  EXPECT_EQ(exit_of(Errc::kOtherProtocol), 5);
  EXPECT_EQ(exit_of(Errc::kDiverged), 6);
  EXPECT_EQ(exit_of(Errc::kSlowBlas), 7);
  EXPECT_EQ(exit_of(Errc::kInterrupted), 130);
  EXPECT_EQ(exit_of(Errc::kBug), 1);
}

TEST(Describe, NamesCodeTitleAndDetail) {
  EXPECT_EQ(describe({Errc::kBadFrame, "checksum differs"}), "W304 bad frame: checksum differs");
  EXPECT_EQ(describe({Errc::kPortInUse, ""}), "W302 port in use");
}

TEST(ValueOrThrow, ThrowsTheErrorAsAFailure) {
  const Result<int> no = fail(Errc::kBadFrame, "why");
  try {
    value_or_throw(no);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, Errc::kBadFrame);
    EXPECT_STREQ(failure.what(), "W304 bad frame: why");
  }
  EXPECT_EQ(value_or_throw(Result<int>(3)), 3);
}

}  // namespace
}  // namespace wide
