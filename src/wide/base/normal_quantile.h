#pragma once
// The normal distribution's inverse, from additions, multiplications, divisions and square roots
// alone: those round the same way everywhere, while libm's logarithm differs between versions.

namespace wide {

// x such that a normal variable lies below it with this probability, which is strictly between
// 0 and 1. Relative error about 1e-15 (Wichura 1988, Algorithm AS 241, PPND16).
double normal_quantile(double probability);

// The natural logarithm of a positive, normal number; within 2 units in the last place.
double portable_log(double x);

}  // namespace wide
