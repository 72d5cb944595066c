#pragma once
// Gradients from libtorch: the factory of one node's slots. No torch types here, so that whoever
// wires a node together compiles fast.
//
//   built-in     weights ──views──▶ leaves ─▶ forward ─▶ summed loss ─▶ backward ─▶ out
//   TorchScript  weights ──copied once per version──▶ the module's own tensors ─▶ … the same
//
// A unit's gradient is a pure function of (weights, job, step, unit): every slot runs on one
// compute thread, dropout draws from a stream keyed by (seed, step, unit, layer), and batch-norm
// buffers start from the weights' own for every unit. Bits are the same on every slot, in every
// process and for every alignment of the arrays, as long as libraries() is the same.
//
// A TorchScript model draws from libtorch's one generator per process, which is seeded from (seed,
// step, unit) before every unit: such a model may have one slot per process; make_computer() throws
// Failure(kModelUnfit) when asked for a second while the first lives.
//
// The loss of a unit is the sum over its samples; a sample with several targets counts their mean,
// so that a text's loss is in nats per token.

#include <filesystem>
#include <memory>

#include "wide/data/dataset.h"
#include "wide/engine/genesis.h"
#include "wide/engine/job.h"
#include "wide/engine/unit_computer.h"

namespace wide::train {

// `layout` must be the genesis' for this job and these samples; `model_file` is for TorchScript
// alone: make_computer() reads it, under job.model.sha256 (kModelDiffers where it has another hash
// or the job names none). Computers may outlive the factory. They throw Failure(kComputeFailed)
// where libtorch refuses (out of memory, mostly), kModelUnfit where a TorchScript model's answer
// does not fit the targets.
std::unique_ptr<engine::ComputerFactory> make_torch_factory(
    const engine::Job& job, const engine::Layout& layout, data::DatasetPtr samples,
    const std::filesystem::path& model_file = {});

}  // namespace wide::train
