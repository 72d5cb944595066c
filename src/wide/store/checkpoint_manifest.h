#pragma once
// The manifest of a checkpoint, as a value and as its two lines of text:
//
//   {"format":1,"job_id":"…","step":120,"chain":"0123456789abcdef","state_hash":"…",
//    "log":{"sequence":121,"previous":"…","segment":0,"offset":40960},
//    "weights":{"file":"SHA256.safetensors","bytes":1234,"sha256":"…"},"optimizer":null,"memory":null,"past":{…}}
//   SHA-256 of the line above, without its end
//
// Pure functions on text, but for read_manifest.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wide/store/checkpoint.h"

namespace wide::store {

inline constexpr std::string_view kCheckpointFolder = "checkpoints";
inline constexpr std::uint64_t kManifestBytesMax = 8u << 20;

// A file is named by what is in it.
struct FileFacts {
  Digest sha256;
  std::uint64_t size_bytes = 0;

  std::string name() const;  // "checkpoints/SHA256.safetensors"
  friend bool operator==(const FileFacts&, const FileFacts&) = default;
};

struct Manifest {
  CheckpointFacts facts;
  FileFacts weights;
  std::optional<FileFacts> optimizer;
  std::optional<FileFacts> memory;
};

// kCannotWrite: what the pool remembers is too much.
Result<std::string> format_manifest(const Manifest& manifest);

// kCheckpointDamaged, kOtherFileVersion: `source`, and what is wrong.
Result<Manifest> parse_manifest(std::string_view text, std::string_view source);

std::string manifest_name(Step step);                         // "checkpoints/000000000120.manifest"
std::optional<Step> step_of_manifest(std::string_view name);  // of a name in the folder
bool is_checkpoint_file(std::string_view name);               // one that FileFacts would give

// kCheckpointDamaged where it cannot be read, too: another generation may do.
Result<Manifest> read_manifest(Disk& disk, Step step);

}  // namespace wide::store
