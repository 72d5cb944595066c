#pragma once
// Blocks on their way up, coded by the job's plan. A leaf of the sum tree is decode(encode(block)):
// the same bits whether a node adds leaves up itself or sends them as they are coded.
//
//   a coded block = | gradient, coded, a multiple of four bytes | buffers, as they are |

#include <cstdint>
#include <span>

#include "wide/base/buffer.h"
#include "wide/codec/lossy.h"
#include "wide/engine/job.h"
#include "wide/engine/layout.h"
#include "wide/engine/sum_tree.h"

namespace wide::engine {

// 0 for those that cannot code a block.
std::uint64_t block_bytes(codec::Lossy codec, const Layout& layout);

// Puts decode(encode(value)) in the value's place, and its code into `coded` (of block_bytes()).
void code_block(codec::Lossy codec, const Layout& layout, const codec::Rounding& rounding,
                std::span<float> value, std::span<std::byte> coded);

// The sum over `count` coded blocks that are a subtree, through the tree. kBadCoding.
Result<Floats> sum_of_blocks(codec::Lossy codec, const Layout& layout,
                             std::span<const std::byte> coded, Block count, BufferPool& buffers);

}  // namespace wide::engine
