#pragma once
// Others on this machine who compute blocks of the same lease. Its holder takes blocks from the
// left, they take them from the right, until they meet:
//
//   holder ▶ 0 1 2 3 4 5 │ 6 7 8 9 ◀ kin
//
// Nobody is relied on: a block that does not come is computed by the holder after all, to the same
// bits.

#include <optional>

#include "wide/base/buffer.h"
#include "wide/base/digest.h"
#include "wide/engine/sum_tree.h"

namespace wide::engine {

struct BlockValue {
  TreeValue value;
  Digest sha256;
  std::uint16_t helper = 0;  // the seat of who computed it; 0: the holder of its lease
};

class Kin {
 public:
  virtual ~Kin() = default;

  // Of the lease that they were called for. Blocks are named by their place in it.
  virtual std::optional<Block> take() = 0;  // the holder's next; none: all are taken
  // What one of the kin made of a block that the holder did not take: is it here? Waiting for it a
  // little, what is it?
  virtual bool has_come(Block place) const = 0;
  virtual std::optional<BlockValue> collect(Block place, BufferPool& buffers) = 0;
};

}  // namespace wide::engine
