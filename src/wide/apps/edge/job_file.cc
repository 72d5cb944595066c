#include "wide/apps/edge/job_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace wide::apps {

engine::Job read_job_file(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream || std::filesystem::is_directory(file)) {
    const char* why = stream ? "it is a folder" : std::strerror(errno);
    throw Failure(Errc::kJobUnreadable, fmt::format("{}: {}", file, why));
  }
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  return value_or_throw(engine::parse_job(text, file));
}

}  // namespace wide::apps
