#include "wide/base/error_catalog.h"

#include <algorithm>
#include <array>

namespace wide {

namespace {
using enum ExitCode;

// In the order of the codes, which the search below relies on.
constexpr auto kCatalog = std::to_array<CatalogEntry>({
    {Errc::kUsage, kUsage, "wrong usage",
     "The command line names an unknown command or option, or lacks an argument. "
     "`wide COMMAND --help` shows what the command takes, with examples at the end."},
    {Errc::kJobUnreadable, kUsage, "job file cannot be read",
     "The job file is missing, is not a plain file, or may not be read by this user. "
     "Check the path; the folder examples has commented job files to start from."},
    {Errc::kJobSyntax, kUsage, "job file is not valid TOML",
     "The file could not be parsed at the place named. "
     "Look for a missing quote, bracket or comma on that line or the one before."},
    {Errc::kUnknownKey, kUsage, "unknown key in the job",
     "The job has a key or table that means nothing, most often a typo; nothing was ignored. "
     "Use the name suggested, or remove the line."},
    {Errc::kWrongType, kUsage, "wrong type in the job",
     "A value is of another type than its key takes: text for a number, one number for a list. "
     "The message names the line, the type found and the type wanted."},
    {Errc::kOutOfRange, kUsage, "value out of range",
     "A value has the right type but cannot be used, such as a learning rate that is not a "
     "number or zero units per step. Choose one within the range in the message."},
    {Errc::kModelMisfit, kUsage, "model does not fit",
     "The model's shape and the samples, loss or labels do not go together. "
     "Compare the first and last layer with the sample's size and the number of classes."},
    {Errc::kNotYet, kUsage, "not supported yet",
     "The choice is a valid one that this version of wide cannot carry out. "
     "Take another value for the key named, or a newer wide."},
    {Errc::kSamplesMissing, kPreflight, "samples are missing",
     "The files that the job's [data] names are not on this machine. "
     "Install the package or give the folder that the message names; `wide join --data DIR` "
     "tells a node where its copy lies."},
    {Errc::kSamplesCorrupt, kPreflight, "samples are damaged",
     "A file of samples is truncated, contradicts its own header, or is of a type that is not "
     "read. "
     "Write it as the message says, or fetch it again; a cached copy may simply be removed."},
    {Errc::kSamplesDiffer, kPreflight, "samples differ from the job's",
     "This machine's samples have another hash than the ones the pool trains on, so gradients "
     "would be of something else. Copy the pool's files here, or correct --data."},
    {Errc::kTooFewSamples, kPreflight, "too few samples",
     "A batch or a step is larger than the whole set of samples. "
     "Make batch, units_per_step or the context smaller, or add samples."},
    {Errc::kSamplesChanged, kFailure, "samples changed during the run",
     "A file of samples was written or replaced while a job was training on it, so the run would "
     "no longer be a function of the job. Put the file back and start again; to train on the new "
     "file, start a new run."},
    {Errc::kLabelOutOfRange, kPreflight, "label out of range",
     "A label is below 0 or not below the number of classes. "
     "Correct the file of labels, or [data] classes."},
    {Errc::kTokenOutOfRange, kPreflight, "token beyond the vocabulary",
     "The file of tokens has one that the model has no embedding for. "
     "Make [model] vocabulary larger than the largest token, or tokenise anew."},
    {Errc::kNotShipped, kPreflight, "samples are not sent",
     "The job says ship = \"local\", so every node must have the samples, and this one has not. "
     "Give their folder with --data DIR, or set ship = \"auto\" in the job."},
    {Errc::kModelMissing, kPreflight, "model file is missing",
     "The job trains a TorchScript file, which never travels: every machine must have its own "
     "copy. "
     "Say where it lies: [model] file in the job of who opens the pool, wide join URL --model FILE "
     "for "
     "the others."},
    {Errc::kModelDiffers, kPreflight, "model file differs from the job's",
     "This TorchScript file has another hash than the one that the job trains. It was not opened. "
     "Copy the file from whoever opened the pool."},
    {Errc::kModelUnfit, kPreflight, "model file cannot be trained",
     "The file is no TorchScript module that takes one tensor of samples and returns one tensor, "
     "or "
     "its answer does not fit the samples' targets. Export it with "
     "torch.jit.script(model).save(FILE) "
     "and try `wide-node describe FILE`."},
    {Errc::kPoolUnreachable, kUnreachable, "pool unreachable",
     "Nothing answered at the pool's address within the time for a first contact. "
     "Check that `wide pool` runs, that host and port are those of its join line, and that no "
     "firewall lies between; `wide doctor URL` tests the way."},
    {Errc::kPortInUse, kPreflight, "port in use",
     "Another program listens on this address and port, perhaps an earlier pool. "
     "Stop it or choose another port with --listen HOST:PORT; port 0 takes any free one."},
    {Errc::kBadAddress, kUsage, "address not understood",
     "An address must read HOST:PORT or wide://HOST:PORT, and the host must have an address. "
     "Copy the join line as the pool prints it."},
    {Errc::kBadFrame, kFailure, "bad frame",
     "The other side sent bytes that are not a valid wide frame: damaged on the way, too long, "
     "or from some other program. The link was closed and nothing of the frame was used; if it "
     "happens again, check what else uses the port and that both sides run one version."},
    {Errc::kUnexpectedMessage, kFailure, "unexpected message",
     "A well-formed message came at a moment when it means nothing, such as a result before a "
     "hello. The link was closed; make sure that both sides run the same version of wide."},
    {Errc::kPeerSilent, kUnreachable, "other side fell silent",
     "Nothing was received for several heartbeats, so the link was taken for dead. "
     "Its leases went to others. Check that machine and the network to it."},
    {Errc::kOtherJob, kFailure, "another job",
     "The node is bound to a job that is not the one this pool trains. "
     "Join the pool of that job, or start the node anew so that it takes the job it is given."},
    {Errc::kLinkLost, kUnreachable, "link lost",
     "The connection was closed or reset by the other side or by the network. "
     "A joined node keeps trying to come back, and the pool gives its leases to others."},
    {Errc::kBadResult, kFailure, "bad result",
     "A node's result does not fit its lease: another shape, step or block. "
     "It was not counted and the work was leased again. If one node does this often, its "
     "program or machine is at fault."},
    {Errc::kBadCoding, kFailure, "coding that cannot be",
     "Compressed bytes do not decode to what they must: another size, or codes that no encoder "
     "writes. The link is closed. If one peer does this often, its program or machine is at "
     "fault."},
    {Errc::kNeedsInsecure, kNotAllowed, "would be open to the network",
     "Links are not encrypted yet, and anyone who can reach the port could join. "
     "Listen on loopback, or accept this for a network you trust by adding --insecure."},
    {Errc::kOtherClass, kNotAllowed, "another numerics class",
     "The job demands exact = \"bits\", and this machine's libraries give gradients with other "
     "bits than the machine that began the run. Use the same library versions, set numerics = "
     "\"portable\", or train with exact = \"ledger\"."},
    {Errc::kPoolFull, kNotAllowed, "pool is full",
     "The pool has as many links as it may have. "
     "Wait until a node leaves, or give the existing nodes more slots."},
    {Errc::kOtherProtocol, kVersions, "another protocol version",
     "The other side speaks another version of the wire protocol. "
     "Install the same version of wide on both machines; `wide --version` shows it."},
    {Errc::kOtherFileVersion, kVersions, "another file version",
     "The file was written by a version of wide whose format this one does not read. "
     "Use the version that wrote it, or a newer one."},
    {Errc::kDiverged, kTraining, "training diverged",
     "A gradient or loss became infinite or not a number, and a second computation agreed. "
     "At step 0 look for such values in the samples or in the model file; later, lower the "
     "learning "
     "rate, add warmup_steps or set clip_norm."},
    {Errc::kComputeFailed, kTraining, "computing failed",
     "The compute library reported an error for a unit. The message carries its words; memory "
     "running out is the usual cause: use a smaller batch or fewer slots."},
    {Errc::kReplicaDrift, kTraining, "replica differs",
     "A node's weights are not the ones that the pool's updates lead to. The node is sent a "
     "snapshot and goes on; if it drifts again, suspect its memory or its program."},
    {Errc::kNodesEnded, kTraining, "local nodes ended",
     "The nodes that were started on this machine ended before the run was over. "
     "What made them end is in their own message, above; correct that and start again."},
    {Errc::kSlowBlas, kPreflight, "slow BLAS",
     "libtorch found only the reference BLAS, which is 10 to 30 times slower. "
     "Install OpenBLAS: apt install libopenblas0-openmp."},
    {Errc::kNodeProgramMissing, kPreflight, "wide-node not found",
     "Computing is done by the program wide-node, which must lie beside wide or on the PATH. "
     "Build it (make build) or install the whole package."},
    {Errc::kMachine, kPreflight, "this machine cannot do it",
     "The system refused something that wide needs: memory, threads, open files or a system "
     "call. The message carries the system's words; `wide doctor` checks the rest."},
    {Errc::kCannotWrite, kFailure, "cannot write",
     "A file or folder could not be written: something is there already, the disk is full, it is "
     "read-only, or the device failed. The message says which; choose another place with --out, or "
     "make room."},
    {Errc::kRunMissing, kFailure, "no run there",
     "The folder does not hold a run, or lacks a part that is needed. "
     "Give the folder that --out named when the run was made."},
    {Errc::kTensorFileCorrupt, kFailure, "tensor file damaged",
     "A safetensors file is truncated, or its header does not fit its contents. "
     "Nothing was loaded; export it again from the run folder."},
    {Errc::kDiskFull, kFailure, "disk full",
     "There is no room left on the disk, or in this user's share of it. Nothing that was committed "
     "is lost: make room, and a pool that waits goes on by itself; one that ended goes on with "
     "--resume."},
    {Errc::kSyncFailed, kFailure, "disk failed to sync",
     "The system could not bring written bytes to the disk, and may have dropped them, so the "
     "program ended rather than promise what it cannot keep. Look at the system's log for the "
     "device's errors, then go on with --resume: what was committed is checked again."},
    {Errc::kLogDamaged, kFailure, "ledger log damaged",
     "A record of the ledger log does not have the bytes that were once on the disk, at the file "
     "and offset named. This is no crash's torn tail, so nothing was cut. Put the file back from a "
     "copy, and look after the disk."},
    {Errc::kCheckpointDamaged, kFailure, "checkpoint damaged",
     "A checkpoint's manifest or one of its files does not have the bytes that were written. An "
     "older one is used where there is one; if that is not enough, put the file back from a copy."},
    {Errc::kCannotRead, kFailure, "cannot read",
     "A file or folder is there but could not be read: no right to, not a plain file, shorter than "
     "it should be, or the device failed. The message carries the system's words."},
    {Errc::kRunInUse, kFailure, "run folder in use",
     "Another process has this run folder open, and two of them would overwrite each other. "
     "Stop that process, or choose another folder with --out."},
    {Errc::kRunOver, kFailure, "run is over",
     "The run in this folder has finished, so there is nothing to resume. "
     "`wide export` takes its weights; to train on, start a new run with another --out."},
    {Errc::kRunDiffers, kFailure, "run contradicts itself",
     "The run folder's parts do not fit each other or the job: what was recorded and what follows "
     "from the records differ. The message says where. Check that the folder is a whole copy and "
     "that the job, samples and model are those of the run."},
    {Errc::kInterrupted, kInterrupted, "interrupted",
     "The program was asked to stop (Ctrl-C or a signal) and did so. "
     "What was committed before is kept."},
    {Errc::kBug, kFailure, "a bug in wide",
     "Wide broke one of its own promises and stopped rather than go on wrongly. "
     "Please report it with the message and the command that led to it."},
});
}  // namespace

std::span<const CatalogEntry> error_catalog() { return kCatalog; }

const CatalogEntry& catalog_entry(Errc code) {
  const auto found = std::ranges::lower_bound(kCatalog, code, {}, &CatalogEntry::code);
  return found != kCatalog.end() && found->code == code ? *found : kCatalog.back();
}

}  // namespace wide
