#pragma once
// Messages ⇄ bodies. A body is a head (the fields) and, for some kinds, a bulk: raw floats of
// results, updates and snapshots, raw bytes of samples. A bulk is sent from where it lies, be that
// a buffer or a mapped file, and read where it arrived.
//
// Pure functions on bytes. A decoder allocates nothing from a length it has not checked against
// the bytes at hand and against the limits that the job gave.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wide/base/error.h"
#include "wide/wire/frame.h"
#include "wide/wire/message_head.h"
#include "wide/wire/messages.h"

namespace wide::wire {

inline constexpr std::size_t kTextBytesMax = 1024;  // a name or a reason; longer ones are cut

inline constexpr std::size_t kCodecCount = 8;  // of values; 0 leaves them as they are

// How large each kind may be. Set from the job, never from the peer.
struct Limits {
  std::uint64_t value_count = 0;  // floats in a result or an update: exactly so many
  // In bytes, by codec; 0: not one that the job may use.
  std::array<std::uint64_t, kCodecCount> block_bytes{};
  std::array<std::uint64_t, kCodecCount> update_bytes{};
  std::uint64_t state_count = 0;      // floats in a snapshot: exactly so many
  std::uint32_t block_count_max = 0;  // blocks in a lease
  std::uint32_t eval_unit_max = 0;    // units in an evaluation lease
  std::uint32_t text_bytes_max = kTextBytesMax;
  std::uint32_t job_bytes_max = 0;     // a job's canonical text
  bool stranger = true;                // no valid hello yet: nothing over kStrangerBytes
  std::uint32_t status_bytes_max = 0;  // a status report
  std::uint64_t manifest_bytes_max = 0;
  std::uint32_t fetch_count_max = 0;   // chunks asked for at once
  std::uint32_t kept_count_max = 0;    // results from before a break
  std::uint64_t chunk_bytes_max = 0;   // from the manifest
  std::uint64_t sample_bytes_max = 0;  // samples that come with a lease

  static Limits for_stranger() { return {}; }
  // What a caller may be told before it knows the job.
  static Limits for_caller() {
    Limits limits;
    limits.job_bytes_max = 256u << 10;
    limits.status_bytes_max = 4u << 20;
    limits.manifest_bytes_max = 64u << 20;
    limits.stranger = false;
    return limits;
  }

  // The longest body of a whole message of this kind, fragments together.
  std::size_t body_bytes_max(Kind kind) const;
};

// The checksum of each fragment's body. Nearly all packets have one, and ask for no memory for it.
class FragmentSums final {
 public:
  void push_back(std::uint64_t sum) {
    if (count_++ == 0) {
      first_ = sum;
    } else {
      later_.push_back(sum);
    }
  }
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  std::uint64_t operator[](std::size_t i) const { return i == 0 ? first_ : later_[i - 1]; }

 private:
  std::size_t count_ = 0;
  std::uint64_t first_ = 0;
  std::vector<std::uint64_t> later_;
};

// A message ready to be sent: head and bulk are gathered by one write, never joined in memory.
// Shared by every link it goes to; made by encode().
struct Packet {
  Kind kind = Kind::kHeartbeat;
  MessageHead head;  // padded to 8 bytes
  Bytes bulk;        // empty where a message has none; its end is padded with zeros
  std::size_t bulk_bytes = 0;
  FragmentSums fragment_xxh3;
};

std::size_t body_bytes(const Packet& packet);  // padding included
std::size_t wire_bytes(const Packet& packet);  // the same and the headers

// Appends the bytes [begin, end) of a packet's body, where they lie: of head, bulk and padding.
using Segments = std::vector<std::span<const std::byte>>;
void add_body(const Packet& packet, std::size_t begin, std::size_t end, Segments& segments);

Kind kind_of(const Message& message);
bool has_bulk(Kind kind);

Packet encode(Message&& message);
inline Packet encode(const Message& message) { return encode(Message(message)); }

// `body` lies at the start of `owner`, which a bulk inside the message keeps alive; kinds without a
// bulk need no owner, and their body may lie anywhere. There is one encoding of each message: what
// decodes would be encoded to the same bytes.
Result<Message> decode(Kind kind, std::span<const std::byte> body, const BufferPtr& owner,
                       const Limits& limits);

}  // namespace wide::wire
