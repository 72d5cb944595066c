#pragma once
// Errors come in three kinds (docs/decisions/0006-errors.md):
//   "no" is an answer          return Result<T>
//   cannot go on               throw Failure, caught at a session's edge or in main
//   a bug                      WIDE_CHECK aborts
//
// Every error has a code that `wide help W104` explains; the catalogue is error_catalog.h.

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace wide {

// The hundreds say where: 1 job and usage, 2 samples, 3 network, 4 rights, 5 versions,
// 6 training, 7 this machine, 8 run folder, 9 bugs. Numbers are never reused.
enum class Errc : std::uint16_t {
  kUsage = 100,
  kJobUnreadable = 101,
  kJobSyntax = 102,
  kUnknownKey = 103,
  kWrongType = 104,
  kOutOfRange = 105,
  kModelMisfit = 106,
  kNotYet = 107,
  kSamplesMissing = 201,
  kSamplesCorrupt = 202,
  kSamplesDiffer = 203,
  kTooFewSamples = 204,
  kSamplesChanged = 205,
  kLabelOutOfRange = 206,
  kTokenOutOfRange = 207,
  kNotShipped = 208,
  kModelMissing = 211,
  kModelDiffers = 212,
  kModelUnfit = 213,
  kPoolUnreachable = 301,
  kPortInUse = 302,
  kBadAddress = 303,
  kBadFrame = 304,
  kUnexpectedMessage = 305,
  kPeerSilent = 306,
  kOtherJob = 307,
  kLinkLost = 308,
  kBadResult = 309,
  kBadCoding = 310,
  kNeedsInsecure = 401,
  kOtherClass = 402,
  kPoolFull = 403,
  kOtherProtocol = 501,
  kOtherFileVersion = 502,
  kDiverged = 601,
  kComputeFailed = 602,
  kReplicaDrift = 603,
  kNodesEnded = 604,
  kSlowBlas = 701,
  kNodeProgramMissing = 702,
  kMachine = 703,
  kCannotWrite = 801,
  kRunMissing = 802,
  kTensorFileCorrupt = 803,
  kDiskFull = 804,
  kSyncFailed = 805,
  kLogDamaged = 806,
  kCheckpointDamaged = 807,
  kCannotRead = 808,
  kRunInUse = 809,
  kRunOver = 810,
  kRunDiffers = 811,
  kInterrupted = 900,
  kBug = 901,
};

// `detail` names the peer, file or field: "job.toml:7: unknown key 'btach' (did you mean
// 'batch'?)".
struct Error {
  Errc code = Errc::kBug;
  std::string detail;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Errc code, std::string detail) {
  return tl::unexpected<Error>(Error{code, std::move(detail)});
}

// "W304 bad frame: from 10.0.0.7:4123, checksum differs"
std::string describe(const Error& error);

// Thrown where the code at hand cannot go on; carries the same Error.
class Failure final : public std::exception {
 public:
  explicit Failure(Error error) : error_(std::move(error)), text_(describe(error_)) {}
  Failure(Errc code, std::string detail) : Failure(Error{code, std::move(detail)}) {}

  const char* what() const noexcept override { return text_.c_str(); }
  const Error& error() const { return error_; }

 private:
  Error error_;
  std::string text_;
};

// The value, or its error thrown: for main and for the edges of a session.
template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw Failure(std::move(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace wide
