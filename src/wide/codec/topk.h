#pragma once
// topk: the few largest values as they are, with their places; zeros elsewhere.
//
//   flag u32 | values f32 × kept | places (elias_fano.h)
//
// flag is 0; where a value is not finite it is the bits of a NaN, all else is 0, and all decodes to
// NaN. Values lie in the order of their places; those of equal magnitude are taken lower place
// first.
//
//   with feedback   the `kept` largest magnitudes
//   unbiased        the kept/2 largest (rounded down), and as many more as make up `kept` drawn
//                   from the rest, all equally likely, each multiplied by rest ÷ drawn. At least
//                   one is drawn, or the rest could never be seen. A product beyond the largest
//                   float becomes that
//
// Nothing of `values` or `coded` is copied; two bits per value are needed for a while.

#include <cstddef>
#include <span>
#include <vector>

#include "wide/codec/lossy.h"

namespace wide::codec {

std::size_t topk_bytes(std::size_t count);

void encode_topk_unbiased(std::span<const float> values, const Rounding& rounding,
                          std::span<std::byte> coded);
// `values` holds values + residual and becomes the residual.
void encode_topk_with_feedback(std::span<float> values, std::span<std::byte> coded);

// False: not what an encoder writes. Adding touches no float but those at the places.
bool decode_topk(std::span<const std::byte> coded, std::span<float> out, bool add);

// The plain version, by sorting: what decode() makes of the code. Null: with feedback.
std::vector<float> topk_reference(std::span<const float> values, const Rounding* rounding);

}  // namespace wide::codec
