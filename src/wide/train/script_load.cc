// From a file to a module: read once, hash what was read, parse those very bytes.

#include <c10/util/Exception.h>
#include <caffe2/serialize/read_adapter_interface.h>
#include <fmt/format.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>
#include <utility>

#include "wide/train/compute_thread.h"
#include "wide/train/script_module.h"

namespace wide::train {

namespace {

// The most that parameters can fill, and as much again.
constexpr std::uint64_t kFileBytesMax = 2 * sizeof(float) * engine::kParametersMax;

using Bytes = std::vector<char>;

// Lets libtorch read from memory.
class BytesAdapter final : public caffe2::serialize::ReadAdapterInterface {
 public:
  explicit BytesAdapter(Bytes bytes) : bytes_(std::move(bytes)) {}

  std::size_t size() const override { return bytes_.size(); }
  std::size_t read(std::uint64_t position, void* out, std::size_t count,
                   const char* /*what*/) const override {
    if (position >= bytes_.size()) return 0;
    const auto present = std::min<std::uint64_t>(count, bytes_.size() - position);
    std::memcpy(out, bytes_.data() + position, present);
    return present;
  }

 private:
  Bytes bytes_;
};

Result<Bytes> read_bytes(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    return fail(Errc::kModelMissing, fmt::format("{}: no such file", file.string()));
  }
  const auto size = std::filesystem::file_size(file, error);
  std::ifstream stream(file, std::ios::binary);
  if (error || !stream) {
    return fail(Errc::kModelMissing, fmt::format("{}: cannot be read", file.string()));
  }
  if (size > kFileBytesMax) {
    return fail(Errc::kModelUnfit,
                fmt::format("{}: larger than {} bytes", file.string(), kFileBytesMax));
  }
  Bytes bytes(size);
  stream.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  return bytes;
}

// libtorch's messages go on for pages; the first line says it.
std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

Result<torch::jit::Module> parse(Bytes bytes) {
  try {
    prepare_compute_thread();
    return torch::jit::load(std::make_shared<BytesAdapter>(std::move(bytes)), c10::kCPU);
  } catch (const c10::Error& error) {
    return fail(Errc::kModelUnfit,
                "not a TorchScript file: " + first_line(error.what_without_backtrace()));
  } catch (const std::exception& error) {
    return fail(Errc::kModelUnfit, "not a TorchScript file: " + first_line(error.what()));
  }
}

}  // namespace

Result<LoadedScript> load_script(const std::filesystem::path& file, const Digest& expected) {
  auto bytes = read_bytes(file);
  if (!bytes) return fail(bytes.error().code, bytes.error().detail);
  const auto digest = sha256(std::as_bytes(std::span(*bytes)));
  if (!expected.is_zero() && digest != expected) {
    return fail(Errc::kModelDiffers, fmt::format("{}: its hash is {}, the job's {}", file.string(),
                                                 digest.short_hex(), expected.short_hex()));
  }
  auto module = parse(std::move(*bytes));
  if (!module) return fail(module.error().code, file.string() + ": " + module.error().detail);
  auto script = ScriptModule::examined(std::move(*module));
  if (!script) return fail(script.error().code, file.string() + ": " + script.error().detail);
  return LoadedScript{digest, std::move(*script)};
}

}  // namespace wide::train
