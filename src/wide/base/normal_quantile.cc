#include "wide/base/normal_quantile.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "wide/base/check.h"

namespace wide {

namespace {
using Coefficients = std::array<double, 8>;  // lowest power first

// Wichura's tables: near the middle, in the tails, far out in the tails.
constexpr Coefficients kMiddleOver = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                                      1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                      4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                      3.3430575583588128105e+4, 2.5090809287301226727e+3};
constexpr Coefficients kMiddleUnder = {1.0,
                                       4.2313330701600911252e+1,
                                       6.8718700749205790830e+2,
                                       5.3941960214247511077e+3,
                                       2.1213794301586595867e+4,
                                       3.9307895800092710610e+4,
                                       2.8729085735721942674e+4,
                                       5.2264952788528545610e+3};
constexpr Coefficients kTailOver = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                    5.76949722146069140550e0,  3.64784832476320460504e0,
                                    1.27045825245236838258e0,  2.41780725177450611770e-1,
                                    2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr Coefficients kTailUnder = {1.0,
                                     2.05319162663775882187e0,
                                     1.67638483018380384940e0,
                                     6.89767334985100004550e-1,
                                     1.48103976427480074590e-1,
                                     1.51986665636164571966e-2,
                                     5.47593808499534494600e-4,
                                     1.05075007164441684324e-9};
constexpr Coefficients kFarOver = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                   1.78482653991729133580e0,  2.96560571828504891230e-1,
                                   2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                   2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr Coefficients kFarUnder = {1.0,
                                    5.99832206555887937690e-1,
                                    1.36929880922735805310e-1,
                                    1.48753612908506148525e-2,
                                    7.86869131145613259100e-4,
                                    1.84631831751005468180e-5,
                                    1.42151175831644588870e-7,
                                    2.04426310338993978564e-15};

double polynomial(const Coefficients& coefficients, double x) {
  double sum = coefficients[7];
  for (int power = 6; power >= 0; --power) {
    sum = sum * x + coefficients[static_cast<std::size_t>(power)];
  }
  return sum;
}

// 2 atanh(s) = 2 (s + s^3/3 + s^5/5 + …); with |s| <= 0.172 the 13th term is below 2^-60 of s.
double twice_atanh(double s) {
  const double square = s * s;
  double sum = 0;
  for (int odd = 25; odd >= 3; odd -= 2) sum = (sum + 1.0 / odd) * square;
  return 2 * (s + s * sum);
}
}  // namespace

double portable_log(double x) {
  constexpr std::uint64_t kMantissa = (std::uint64_t{1} << 52) - 1;
  constexpr double kLn2High = 0x1.62e42fee00000p-1;  // 32 bits: times an exponent is exact
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double mantissa = std::bit_cast<double>((bits & kMantissa) | 0x3ff0000000000000u);  // [1, 2)
  if (mantissa > 0x1.6a09e667f3bcdp+0) {  // sqrt(2): then half of it is nearer to 1
    mantissa *= 0.5;
    ++exponent;
  }
  const double rest = twice_atanh((mantissa - 1) / (mantissa + 1));
  return exponent * kLn2High + (rest + exponent * kLn2Low);
}

double normal_quantile(double probability) {
  WIDE_CHECK(probability > 0 && probability < 1);
  const double from_middle = probability - 0.5;
  if (std::fabs(from_middle) <= 0.425) {
    const double r = 0.180625 - from_middle * from_middle;
    return from_middle * polynomial(kMiddleOver, r) / polynomial(kMiddleUnder, r);
  }
  const double tail = from_middle < 0 ? probability : 1 - probability;
  const double r = std::sqrt(-portable_log(tail));
  const double x = r <= 5 ? polynomial(kTailOver, r - 1.6) / polynomial(kTailUnder, r - 1.6)
                          : polynomial(kFarOver, r - 5) / polynomial(kFarUnder, r - 5);
  return from_middle < 0 ? -x : x;
}

}  // namespace wide
