#pragma once
// Unpacks gzip. What it unpacks to is bounded before it is believed, every checksum is compared,
// and nothing but whole gzip members may be in the input.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "wide/base/error.h"

namespace wide::data {

// A few kilobytes of gzip can ask for gigabytes; no set of samples we read is larger than this.
inline constexpr std::uint64_t kUnpackedBytesMax = std::uint64_t{4} << 30;

// Takes the next unpacked bytes; an error ends the unpacking and is passed on.
using ByteSink = std::function<Result<void>(std::span<const std::byte>)>;

// Count of unpacked bytes. kSamplesCorrupt: `source`, and what is wrong with it. The sink may have
// been given bytes before damage was found; it never gets more than `unpacked_bytes_max`.
Result<std::uint64_t> gunzip(std::span<const std::byte> packed, std::string_view source,
                             std::uint64_t unpacked_bytes_max, const ByteSink& sink);

// Written aside, synced, renamed: `to` is whole or untouched. kCannotWrite where it cannot be.
Result<void> gunzip_file(const std::filesystem::path& from, const std::filesystem::path& to,
                         std::uint64_t unpacked_bytes_max = kUnpackedBytesMax);

}  // namespace wide::data
