#pragma once
// float32 words in two planes. A word's exponent goes into one, its sign and fraction into the
// other:
//
//   word    sign 1 | exponent 8 | fraction 23, turned left by one bit: exponent | fraction | sign
//
//   runs | table | zero_count u32 | fractions | tail | exponent stream | states 8 × u64
//
//   runs        which words are coded below: all but long runs of +0.0. Nothing where naming these
//               would not make the code shorter (kept_runs.h)
//   table       which exponents occur and how often (exponent_table.h)
//   zero_count  how many of those are exactly +0.0: they have a symbol among the exponents and
//               no fraction. Only where the table has such a symbol
//   fractions   3 bytes a word: fraction and sign, as they are
//   tail        the last raw_bytes mod 4 bytes, as they are
//   stream      the exponents, entropy-coded; neither stream nor states where all are the same
//
// The fractions of trained numbers are noise that no codec shortens, so no time is spent on them;
// the exponents have 2 to 4 bits of surprise each, whatever stands before them.
//
// The exponents are coded by asymmetric numeral systems (J. Duda, "Asymmetric numeral systems",
// arXiv:1311.2540), in the range form, with frequencies out of 4096. Eight states take turns, word
// i of those that are coded belonging to state i mod 8, so that eight chains of multiplications
// run side by side. A state lies in [2^31, 2^63) and pulls in 32 bits, where it must, after every
// second of its symbols: two symbols take 24 bits at most, which leaves a state of at least 2^7.
// The last group of 16 words is filled up with the most frequent symbol. The states stand at the
// end, so that a decoder may read a little past the stream before it looks whether it was allowed
// to.
//
// Pure, any thread, no allocation. Raw sizes up to kBlockBytesMax (lossless.h).

#include <cstddef>
#include <span>

namespace wide::codec {

// How many bytes were written to the front of `out`; 0: it does not fit, or would not.
std::size_t encode_planes(std::span<const std::byte> raw, std::span<std::byte> out);

// False where `coded` is not the code of out.size() bytes; `out` then holds anything.
bool decode_planes(std::span<const std::byte> coded, std::span<std::byte> out);

// The same bytes by plain loops: one word at a time, divisions written as divisions.
std::size_t encode_planes_reference(std::span<const std::byte> raw, std::span<std::byte> out);
bool decode_planes_reference(std::span<const std::byte> coded, std::span<std::byte> out);

}  // namespace wide::codec
