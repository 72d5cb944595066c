#pragma once
// Gradients from libtorch: the factory of one node's slots. No torch types here, so that whoever
// wires a node together compiles fast.
//
//   weights (flat) ──views──▶ leaves ─▶ forward ─▶ summed loss ─▶ backward ──in place──▶ out (flat)
//
// A unit's gradient is a pure function of (weights, job, step, unit): every slot runs on one
// compute thread, dropout draws from a stream keyed by (seed, step, unit, layer), and batch-norm
// buffers start from the weights' own for every unit. Bits are the same on every slot, in every
// process and for every alignment of the arrays, as long as libraries() is the same.

#include <memory>

#include "wide/data/dataset.h"
#include "wide/engine/job.h"
#include "wide/engine/layout.h"
#include "wide/engine/unit_computer.h"

namespace wide::train {

// `layout` must be make_layout's for this job and these samples. Computers may outlive the factory.
// They throw Failure(kComputeFailed) where libtorch refuses (out of memory, mostly).
std::unique_ptr<engine::ComputerFactory> make_torch_factory(const engine::Job& job,
                                                            const engine::Layout& layout,
                                                            data::DatasetPtr samples);

}  // namespace wide::train
