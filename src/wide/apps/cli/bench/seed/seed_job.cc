#include "wide/apps/cli/bench/seed/seed_job.h"

#include <fmt/format.h>

#include "wide/apps/cli/bench/whole_run.h"
#include "wide/base/error.h"
#include "wide/store/atomic_file.h"

namespace wide::apps::bench {

namespace {

constexpr std::string_view kTiny = R"([model]
kind = "mlp"
layers = [10, 20, 10]
[data]
kind = "synthetic"
samples = 1024
features = 10
classes = 10
)";

constexpr std::string_view kClothes = R"([model]
kind = "cnn"
channels = [32, 64]
hidden = 64
[data]
kind = "fashion-mnist"
)";

}  // namespace

std::string SeedJob::text() const {
  const bool clothes = kind == Kind::kClothes;
  return fmt::format(
      "[job]\nname = \"seed\"\n{}[train]\nbatch = {}\nunits_per_step = {}\nseconds = 30\n"
      "optimizer = \"adam\"\nlr = {}\nexact = \"bits\"\n[strategy]\ndelay = {}\n{}",
      clothes ? kClothes : kTiny, clothes ? 64 : batch, clothes ? 8 : 10, clothes ? 0.001 : 0.01,
      delay, more);
}

nlohmann::json run_seed(const SeedJob& job, const std::vector<std::string>& flags,
                        const Environment& environment, const std::string& log) {
  const ScratchFolder folder(environment);
  const std::string file = folder / "job.toml";
  value_or_throw(store::write_atomically(file, job.text()));
  return train(file, folder / "run", flags, environment, log);
}

}  // namespace wide::apps::bench
