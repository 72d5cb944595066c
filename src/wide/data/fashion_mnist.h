#pragma once
// Fashion-MNIST (Xiao et al., 2017): grey images of clothes in ten classes, in four idx files.

#include <array>
#include <cstdint>
#include <string_view>

namespace wide::data {

inline constexpr std::string_view kDebianFashionFolder = "/usr/share/datasets/fashion-mnist";

// In the order of the parts of a manifest.
inline constexpr std::array<std::string_view, 4> kFashionNames = {
    "train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte"};
inline constexpr std::uint32_t kFashionClassCount = 10;

// Mean and standard deviation of the training images' pixels, as everyone rounds them.
inline constexpr double kFashionMean = 0.2860;
inline constexpr double kFashionDeviation = 0.3530;

}  // namespace wide::data
