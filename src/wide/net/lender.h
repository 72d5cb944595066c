#pragma once
// The pool's lending desk: samples for nodes that lack them, sent from where they lie in the mapped
// files.
//
//   manifest, samples of a lease   at once, in order with the other messages of their link
//   chunks                         in turns: a link gets one, then the next link; only a few links
//                                  at a time; and while anybody trains they may take a twelfth of
//                                  the I/O thread's time at most, so that a crowd of newcomers
//                                  hardly slows those who work
//
// Decides and makes packets; PoolServer sends them and says when they are gone. No clock of its
// own.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "wide/base/clock.h"
#include "wide/base/ids.h"
#include "wide/data/dataset.h"
#include "wide/data/library.h"
#include "wide/engine/pool/effects.h"
#include "wide/engine/sample_order.h"

namespace wide::net {

class Lender final {
 public:
  // Null, or a dataset without a library: there is nothing to lend, and nobody may ask.
  Lender(data::DatasetPtr samples, const engine::Job& job);

  wire::SharedPacket manifest();  // made once
  wire::SharedPacket samples(const engine::SendSamples& wanted) const;
  wire::SharedPacket chunk(std::uint64_t chunk) const;

  // Chunks, in turns.
  struct Turn {
    LinkId link;
    std::uint64_t chunk = 0;
  };
  void ask(LinkId link, std::uint64_t chunk);
  void forget(LinkId link);
  // Whose turn it is now, if anyone's. It must be followed by sent(), at once or when the kernel
  // has taken all of it.
  std::optional<Turn> next(Time now, bool training);
  void sent(LinkId link, Duration spent, Time now, bool training);
  // When next() may have an answer though nothing else happens; nothing: not until then.
  std::optional<Time> due(Time now) const;

 private:
  std::size_t served_count(Time now) const;

  data::DatasetPtr samples_;
  std::optional<engine::SampleOrder> order_;
  wire::SharedPacket manifest_;

  std::deque<LinkId> turns_;  // links that wait for a chunk, each once
  std::map<LinkId, std::deque<std::uint64_t>> asked_;
  std::map<LinkId, Time> served_;  // since when the kernel has not taken all of a link's chunk
  Time rests_until_{};
};

}  // namespace wide::net
