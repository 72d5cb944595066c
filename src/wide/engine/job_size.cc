#include "wide/engine/job_size.h"

namespace wide::engine {

namespace {

double affine(double from, double to) { return to * (from + 1); }
double conv(double from, double to) { return from * to * 9; }

double of_mlp(const Model& model) {
  double count = 0;
  for (std::size_t i = 1; i < model.layers.size(); ++i) {
    const bool hidden = i + 1 < model.layers.size();
    count += affine(model.layers[i - 1], model.layers[i]);
    if (hidden && model.batch_norm) count += 2.0 * model.layers[i];
  }
  return count;
}

double of_cnn(const Model& model, const SampleSpace& space) {
  const bool image = space.sample_shape.size() == 3;
  double count = 0;
  double from = image ? space.sample_shape[0] : 0;
  for (const double to : model.channels) {
    count += conv(from, to) + to + (model.batch_norm ? 2 * to : 0);
    from = to;
  }
  const auto halvings = model.channels.size();
  const double area = image && halvings < 32 ? double(space.sample_shape[1] >> halvings) *
                                                   double(space.sample_shape[2] >> halvings)
                                             : 0;
  return count + affine(from * area, model.hidden) + affine(model.hidden, space.output_count());
}

// Convolutions without bias, each with a batch-norm; shortcuts have no parameters.
double of_resnet(const Model& model, const SampleSpace& space) {
  const double blocks = (model.depth - 2) / 6;  // per stage
  const double width = model.width;
  const double from = space.sample_shape.size() == 3 ? space.sample_shape[0] : 0;
  double count = conv(from, width) + 2 * width;
  double before = width;
  for (const double here : {width, 2 * width, 4 * width}) {
    count += conv(before, here) + (2 * blocks - 1) * conv(here, here) + 2 * blocks * 2 * here;
    before = here;
  }
  return count + affine(4 * width, space.output_count());
}

// Per block: two norms, attention (width to 3 × width and back), and 4 × width in between.
double of_gpt(const Model& model) {
  const double width = model.width;
  const double block = 2 * 2 * width + affine(width, 3 * width) + affine(width, width) +
                       affine(width, 4 * width) + affine(4 * width, width);
  const double embeddings = (double(model.vocabulary) + model.context) * width;
  const double head = model.tied ? 0 : double(model.vocabulary) * width;
  return model.layer_count * block + embeddings + 2 * width + head;
}

}  // namespace

double parameter_count(const Model& model, const SampleSpace& space) {
  switch (model.kind) {
    case ModelKind::kMlp:
      return of_mlp(model);
    case ModelKind::kCnn:
      return of_cnn(model, space);
    case ModelKind::kResnet:
      return of_resnet(model, space);
    case ModelKind::kGpt:
      return of_gpt(model);
    case ModelKind::kTorchScript:
      break;
  }
  return 0;
}

}  // namespace wide::engine
