#pragma once
// Job files to start from: every key that a kind of model and of samples has, with its default or a
// sane first value, and a few words on each. Keys that few people need stand behind a '#'.

#include <string>
#include <string_view>

#include "wide/engine/job.h"

namespace wide::apps {

// What `wide new` takes for granted where no kind of samples is named.
engine::SampleKind usual_samples(engine::ModelKind model);

// "cnn", "text": the words of job files. Failure (kUsage) with the nearest word for any other.
engine::ModelKind model_kind(std::string_view word);
engine::SampleKind sample_kind(std::string_view word);
std::string_view word_of(engine::SampleKind samples);

// The text of a job file that will be called `file`; it parses. Failure (kUsage) naming what would
// go with the model where these samples do not.
std::string job_template(engine::ModelKind model, engine::SampleKind samples,
                         std::string_view file);

}  // namespace wide::apps
