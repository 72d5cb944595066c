#include <gtest/gtest.h>

#include "wide/engine/job.h"

namespace wide::engine {
namespace {

// What every file must have, behind what a test is about, so that lines stay what they are.
std::string completed(std::string_view text) {
  std::string whole(text);
  for (const std::string_view section : {"model", "data"}) {
    const bool there = whole.find(section) != std::string::npos;
    if (!there) whole += "\n[" + std::string(section) + "]\n";
  }
  return whole;
}

Job parsed(std::string_view text) {
  auto job = parse_job(completed(text), "job.toml");
  EXPECT_TRUE(job) << (job ? "" : job.error().detail);
  return job ? *job : Job{};
}

// The complaint about a text, "W103 job.toml:2: …".
std::string complaint(std::string_view text) {
  const auto job = parse_job(completed(text), "job.toml");
  if (job) return "no complaint";
  return "W" + std::to_string(static_cast<int>(job.error().code)) + " " + job.error().detail;
}

TEST(ParseJob, ReadsTheContractsExample) {
  const auto job = parsed(R"(
[job]
name = "fashion"
seed = 7
[model]
kind = "mlp"
layers = [784, 256, 10]
dropout = 0.25
[data]
kind = "fashion-mnist"
path = "/srv/images"
ship = "local"
[train]
batch = 64
units_per_step = 12
block_units = 2
epochs = 2
loss = "mse"
optimizer = "sgd"
lr = 1
momentum = 0.9
nesterov = true
schedule = "step"
decay_every_steps = 100
warmup_steps = 5
clip_norm = 0.5
exact = "bits"
numerics = "portable"
[eval]
every = 50
[strategy]
kind = "sync"
delay = 0
[codec]
gradient = "none"
update = "none"
lossless = "none"
[net]
buffer_bytes = 65536
)");

  EXPECT_EQ(job.name, "fashion");
  EXPECT_EQ(job.seed, 7u);
  EXPECT_EQ(job.model.layers, (std::vector<std::uint32_t>{784, 256, 10}));
  EXPECT_EQ(job.model.dropout, 0.25f);
  EXPECT_EQ(job.samples.path, "/srv/images");
  EXPECT_EQ(job.samples.ship, Ship::kLocal);
  EXPECT_EQ(job.train.batch, 64u);
  EXPECT_EQ(job.train.epochs, 2.0);
  EXPECT_EQ(job.train.loss, Loss::kMse);
  EXPECT_EQ(job.train.lr, 1.0);
  EXPECT_TRUE(job.train.nesterov);
  EXPECT_EQ(job.train.decay_every_steps, 100u);
  EXPECT_EQ(job.train.weight_decay, 0.0);  // sgd has none unless asked
  EXPECT_EQ(job.train.exact, Exact::kBits);
  EXPECT_EQ(job.train.numerics, Numerics::kPortable);
  EXPECT_EQ(job.eval.every, 50u);
  EXPECT_EQ(job.codec.lossless, LosslessPlan::kNone);
  EXPECT_EQ(job.net.buffer_bytes, 65536u);
}

TEST(ParseJob, FillsInDefaults) {
  const auto job = parsed("");

  EXPECT_EQ(job.train.epochs, 1.0);
  EXPECT_EQ(job.train.steps, 0u);
  EXPECT_EQ(job.train.weight_decay, 0.01);
  Job expected;
  expected.train.epochs = 1;
  EXPECT_EQ(job, expected);
}

TEST(ParseJob, ReadsBetasAndSyntheticSamples) {
  const auto job = parsed(
      "[model]\nkind = 'mlp'\nlayers = [4, 3]\n"
      "[data]\nkind = 'synthetic'\nsamples = 500\nfeatures = 4\nclasses = 3\n"
      "[train]\nbetas = [0.8, 0.99]\neps = 1e-6\nseconds = 1.5\n");

  EXPECT_EQ(job.samples.count, 500u);
  EXPECT_EQ(job.samples.features, 4u);
  EXPECT_EQ(job.samples.classes, 3u);
  EXPECT_EQ(job.train.beta1, 0.8);
  EXPECT_EQ(job.train.beta2, 0.99);
  EXPECT_EQ(job.train.seconds, 1.5);
  EXPECT_EQ(job.train.epochs, 0.0);
}

struct Bad {
  std::string_view text;
  std::string_view complaint;
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.text; }

class BadJob : public testing::TestWithParam<Bad> {};

TEST_P(BadJob, IsRefusedWithLineAndReason) {
  EXPECT_EQ(complaint(GetParam().text).substr(0, GetParam().complaint.size()),
            GetParam().complaint);
}

INSTANTIATE_TEST_SUITE_P(
    UnknownKeys, BadJob,
    testing::Values(
        Bad{"[train]\nbtach = 3\n",
            "W103 job.toml:2: unknown key 'btach' in [train] (did you mean 'batch'?)"},
        Bad{"\n\n[trian]\nbatch = 3\n",
            "W103 job.toml:3: unknown section [trian] (did you mean [train]?)"},
        Bad{"batch = 3\n", "W103 job.toml:1: unknown key 'batch' outside any section"},
        Bad{"[train]\nzzz = 1\n[job]\nyyy = 1\n", "W103 job.toml:2: unknown key 'zzz' in [train]"},
        Bad{"[model]\nkind = 'cnn'\nlayers = [3]\n",
            "W103 job.toml:3: key 'layers' in [model] does not go with a cnn"},
        Bad{"[data]\nsamples = 10\n",
            "W103 job.toml:2: key 'samples' in [data] does not go with fashion-mnist"},
        Bad{"[train]\nmomentum = 0.9\n",
            "W103 job.toml:2: key 'momentum' in [train] does not go with adamw"},
        Bad{"[train]\ndecay_rate = 0.9\n",
            "W103 job.toml:2: key 'decay_rate' in [train] does not go with schedule = "
            "\"constant\""},
        Bad{"[train.batch]\nx = 1\n", "W104 job.toml:1: [train] batch must be a whole number"}));

INSTANTIATE_TEST_SUITE_P(
    WrongTypes, BadJob,
    testing::Values(
        Bad{"[train]\nbatch = 'x'\n",
            "W104 job.toml:2: [train] batch must be a whole number, not a string"},
        Bad{"[train]\nbatch = 3.0\n",
            "W104 job.toml:2: [train] batch must be a whole number, not a number with a fraction"},
        Bad{"[train]\nlr = true\n",
            "W104 job.toml:2: [train] lr must be a number, not true or false"},
        Bad{"[model]\nkind = 'mlp'\nlayers = 3\n",
            "W104 job.toml:3: [model] layers must be a list, not a whole number"},
        Bad{"[model]\nkind = 'mlp'\nlayers = [3, 'x']\n",
            "W104 job.toml:3: [model] layers must be a whole number, not a string"},
        Bad{"[model]\nkind = 3\n", "W104 job.toml:2: [model] kind must be a string"},
        Bad{"[[train]]\nbatch = 3\n", "W104 job.toml:1: [train] must be a section, not a list"},
        Bad{"train = 3\n", "W104 job.toml:1: [train] must be a section, not a whole number"},
        Bad{"[train]\nbetas = [0.9]\n", "W104 job.toml:2: [train] betas must be two numbers"},
        Bad{"[job]\nname = 2000-01-01\n",
            "W104 job.toml:2: [job] name must be a string, not a date or time"}));

INSTANTIATE_TEST_SUITE_P(
    OutOfRange, BadJob,
    testing::Values(
        Bad{"[train]\nlr = nan\n", "W105 job.toml:2: [train] lr must be a finite number"},
        Bad{"[train]\nlr = inf\n", "W105 job.toml:2: [train] lr must be a finite number"},
        Bad{"[train]\nlr = -0.1\n", "W105 job.toml:2: [train] lr must be a finite number"},
        Bad{"[train]\nlr = 1e300\n", "W105 job.toml:2: [train] lr must be a finite number"},
        Bad{"[train]\nunits_per_step = 0\n", "W105 job.toml:2: [train] units_per_step"},
        Bad{"[train]\nbatch = 0\n", "W105 job.toml:2: [train] batch must be 1 to"},
        Bad{"[train]\nbatch = -1\n", "W105 job.toml:2: [train] batch must be at least 0"},
        Bad{"[train]\nbatch = 4294967296\n", "W105 job.toml:2: [train] batch"},
        Bad{"[train]\nblock_units = 0\n", "W105 job.toml:2: [train] block_units"},
        Bad{"[train]\nblock_units = 11\n", "W105 job.toml:2: [train] block_units"},
        Bad{"[train]\nepochs = 0\n", "W105 job.toml:2: [train] epochs must be above 0"},
        Bad{"[train]\nepochs = -1\n", "W105 job.toml:2: [train] epochs must be above 0"},
        Bad{"[train]\nseconds = nan\n", "W105 job.toml:2: [train] seconds must be above 0"},
        Bad{"[train]\nepochs = 1\nsteps = 3\n", "W105 job.toml:3: [train] needs one of epochs"},
        Bad{"[train]\nbetas = [0.9, 1.0]\n", "W105 job.toml:2: [train] betas"},
        Bad{"[train]\neps = 0\n", "W105 job.toml:2: [train] eps"},
        Bad{"[train]\nweight_decay = -1\n", "W105 job.toml:2: [train] weight_decay"},
        Bad{"[train]\nclip_norm = inf\n", "W105 job.toml:2: [train] clip_norm"},
        Bad{"[train]\noptimizer = 'sgd'\nmomentum = 1\n", "W105 job.toml:3: [train] momentum"},
        Bad{"[train]\noptimizer = 'sgd'\nnesterov = true\n", "W105 job.toml:3: [train] nesterov"},
        Bad{"[train]\nschedule = 'step'\n", "W105 job.toml:1: [train] decay_every_steps"},
        Bad{"[train]\noptimizer = 'adm'\n",
            "W105 job.toml:2: [train] optimizer must be one of sgd, adam, adamw, not 'adm' (did "
            "you mean 'adam'?)"}));

INSTANTIATE_TEST_SUITE_P(
    OutOfRangeElsewhere, BadJob,
    testing::Values(
        Bad{"[model]\ndropout = 1\n", "W105 job.toml:2: [model] dropout"},
        Bad{"[model]\ndropout = -0.1\n", "W105 job.toml:2: [model] dropout"},
        Bad{"[model]\nkind = 'mlp'\n", "W105 job.toml:1: [model] an mlp needs layers"},
        Bad{"[model]\nkind = 'mlp'\nlayers = [5]\n", "W105 job.toml:3: [model] an mlp needs"},
        Bad{"[model]\nkind = 'mlp'\nlayers = [5, 0, 5]\n", "W105 job.toml:3: [model] layers"},
        Bad{"[model]\nkind = 'mlp'\nlayers = [65536, 65536]\n", "W105 job.toml:3: [model] an mlp"},
        Bad{"[model]\nkind = 'mlp'\nlayers = [4294967295, 4294967295, 9]\n",
            "W105 job.toml:3: [model] an mlp of this size has more than 2^31 parameters"},
        Bad{"[model]\nchannels = []\n", "W105 job.toml:2: [model] channels must be 1 to 64"},
        Bad{"[model]\nhidden = 0\n", "W105 job.toml:2: [model] hidden"},
        Bad{"[model]\nkind = 'mlp'\nlayers = [5, 4, 3]\nbatch_norm = true\n[train]\nbatch = 1\n",
            "W105 job.toml:4: [model] batch_norm"},
        Bad{"[data]\nkind = 'synthetic'\nsamples = 0\n[model]\nkind = 'mlp'\nlayers = [3, 2]\n",
            "W105 job.toml:3: [data] samples"},
        Bad{"[job]\nname = ''\n", "W105 job.toml:2: [job] name"},
        Bad{"[job]\nname = \"a\\u001bb\"\n", "W105 job.toml:2: [job] name has a control"},
        Bad{"[job]\nseed = -1\n", "W105 job.toml:2: [job] seed"},
        Bad{"[strategy]\ndelay = 17\n",
            "W105 job.toml:2: [strategy] delay must be at most 16, not 17"},
        Bad{"[eval]\nbatch = 0\n", "W105 job.toml:2: [eval] batch"}));

INSTANTIATE_TEST_SUITE_P(
    NotYet, BadJob,
    testing::Values(
        Bad{"[strategy]\nkind = 'local'\nevery = 4\n",
            "W107 job.toml:2: [strategy] kind = \"local\" is not there yet; this version has sync"},
        Bad{"[strategy]\nkind = 'async'\n", "W107 job.toml:2: [strategy] kind = \"async\""}));

INSTANTIATE_TEST_SUITE_P(
    Codec, BadJob,
    testing::Values(Bad{"[codec]\ngradient = 'powersgd'\n", "W105 job.toml:2: [codec] gradient"},
                    Bad{"[codec]\nlossless = 'gzip'\n", "W105 job.toml:2: [codec] lossless"},
                    Bad{"[codec]\nbudget = 0.1\n", "W103 job.toml:2: unknown key 'budget'"},
                    Bad{"[codec]\nupdate = 'auto'\nbudget = 0\n",
                        "W105 job.toml:3: [codec] budget"},
                    Bad{"[train]\nexact = 'bits'\n[codec]\nupdate = 'auto'\n",
                        "W105 job.toml:4: [codec] \"auto\" is not for exact"}));

INSTANTIATE_TEST_SUITE_P(Syntax, BadJob,
                         testing::Values(Bad{"[train]\nbatch = \n", "W102 job.toml:2:"},
                                         Bad{"[train\n", "W102 job.toml:1:"},
                                         Bad{"[\ntrain]\n", "W102 job.toml: no TOML"},
                                         Bad{"[train]\nbatch = 6é\n", "W102 job.toml:2:"},
                                         Bad{"[job]\nname = 'a'\nname = 'b'\n", "W102 job.toml:3:"},
                                         Bad{"[job]\nname = \"\xff\"\n", "W102 job.toml:2:"}));

TEST(ParseJob, TrainsNothingThatNobodyNamed) {
  const auto complaint_of = [](std::string_view text) {
    return parse_job(text, "job.toml").error().detail;
  };

  EXPECT_EQ(complaint_of("").substr(0, 64),
            "job.toml: there is no [model] section and no [data] section: a j");
  EXPECT_NE(complaint_of("").find("`wide new cnn`"), std::string::npos);
  EXPECT_EQ(complaint_of("[model]\n[train]\nlr = 1\n").substr(0, 41),
            "job.toml: there is no [data] section: a j");
  EXPECT_EQ(complaint_of("data.kind = 'text'\n").substr(0, 30), "job.toml:1: [data] needs a fil");
  EXPECT_EQ(complaint_of("data = {}\n").substr(0, 42),
            "job.toml: there is no [model] section: a j");
  EXPECT_EQ(complaint_of("[modle]\n[data]\n"),
            "job.toml:1: unknown section [modle] (did you mean [model]?)");
}

TEST(ParseJob, RefusesLongTexts) {
  const std::string text(kJobTextBytesMax + 1, '\n');

  EXPECT_EQ(complaint(text).substr(0, 14), "W102 job.toml:");
}

TEST(ParseJob, RefusesManyLayers) {
  std::string layers = "1";
  for (int i = 0; i < 64; ++i) layers += ", 1";

  EXPECT_EQ(complaint("[model]\nkind = 'mlp'\nlayers = [" + layers + "]\n"),
            "W105 job.toml:3: [model] layers must be at most 64 sizes, not 65");
}

}  // namespace
}  // namespace wide::engine
