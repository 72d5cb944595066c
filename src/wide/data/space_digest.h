#pragma once
// How the digest of a set of samples begins: its counts, shape and classes, little-endian.
//
//   train_count u64 | eval_count u64 | rank u32 | extent u32 × rank | class_count u32
//
// What follows is the samples and labels, as the kind of dataset has them.

#include "wide/base/digest.h"
#include "wide/base/sample_space.h"

namespace wide::data {

void hash_space(Sha256& hash, const SampleSpace& space);

}  // namespace wide::data
