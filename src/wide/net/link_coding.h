#pragma once
// How one link codes what it sends: always with the job's codec, or, where the job says "auto",
// with what promises to be fastest by what was seen of codecs and line.
//
//   fixed   every message of so many bytes or more
//   auto    codec::Choice: none at first; trials on real messages, now and then, on the crew's
//           threads; facts of the line from the kernel, while large messages leave
//
// Small messages always go as they are: their code would save less than the way to a coding thread
// and back costs. Used on the I/O thread alone.

#include <optional>
#include <string>

#include "wide/codec/choice.h"
#include "wide/engine/job.h"
#include "wide/net/coding_crew.h"
#include "wide/net/line_watch.h"

namespace wide::net {

// "from=none to=planes reason=…"
std::string described(const codec::Change& change);

class LinkCoding final {
 public:
  LinkCoding(CodingCrew& crew, engine::LosslessPlan plan,  // any but kNone
             std::size_t bytes_least);

  // Worth asking code(): most messages are not.
  bool is_large(const wire::Packet& packet) const {
    return wire::body_bytes(packet) >= bytes_least_;
  }
  // What to send the packet with, ready or in the making; null: as it is. `told` may be called for
  // each fragment of it, and for a trial.
  wire::SharedCode code(const wire::SharedPacket& packet, const CodingCrew::Told& told, Time now);

  // While a large packet is being sent: the next trial on it, if one is due and none is under way.
  void try_on(const CodingCrew::Told& told, Time now);

  // Each may change the codec.
  std::optional<codec::Change> learn(const codec::Trial& seen, Time now);
  std::optional<codec::Change> learn(const TcpReading& reading);

  bool wants_readings() const { return choice_.has_value(); }
  LineWatch& line() { return line_; }

 private:
  void grant(const std::optional<codec::TrialWish>& wish, const wire::SharedPacket& packet,
             const CodingCrew::Told& told);

  CodingCrew& crew_;
  std::size_t bytes_least_;
  std::optional<codec::Choice> choice_;  // "auto"
  std::weak_ptr<const wire::Packet> tried_;
  codec::Lossless fixed_ = codec::Lossless::kNone;
  LineWatch line_;
};

}  // namespace wide::net
