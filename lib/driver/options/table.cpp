// The table of options, in the order of the help.
#include <array>

#include "options/forms.h"
#include "options/readers.h"

namespace mrvlc::driver {
namespace {

using G = OptionGroup;
using Takes = OptionReader::Takes;
namespace c = command;
namespace f = option;
namespace r = readers;
using O = CompileOptions;
using Import = onnx::ImportOptions;
using Settings = backends::Settings;
using Host = chost::Options;

constexpr std::string_view kPartitionBy[] = {"greedy", "cost"};
constexpr std::string_view kObjectives[] = {"speed", "accuracy"};
constexpr std::string_view kOnOverflow[] = {"report", "error", "cpu"};
constexpr std::string_view kDepfileForms[] = {"auto", "make", "plain"};
constexpr int64_t kMostBatch = 4096, kMostSequence = 65536, kMostTextBytes = int64_t{1} << 30;
constexpr uint32_t kMostRegions = 1u << 30;

// Words that `emits` asks for.
OptionReader emitted() {
  const std::vector<std::string> kinds = {"ir", "disasm", "nodes-json", "bare", "single", "sbom"};
  return {Takes::Any,
          [kinds](std::string_view option, std::span<const std::string> words, O& o) -> Status {
            for (const std::string& word : words) MRVLC_TRY(r::one_of(option, kinds, word));
            o.emit.assign(words.begin(), words.end());
            return {};
          },
          kinds, nullptr};
}

OptionReader probe(CompileOptions::Probe how) {
  return {Takes::Nothing,
          [how](std::string_view, std::span<const std::string>, O& o) -> Status {
            o.probe = how;
            return {};
          },
          {},
          nullptr};
}

OptionReader never_winograd() {
  return {Takes::Nothing,
          [](std::string_view, std::span<const std::string>, O& o) -> Status {
            o.host.winograd = chost::WinogradUse::Never;
            return {};
          },
          {},
          nullptr};
}

const std::vector<OptionRecord>& model_options() {
  static const auto sequence = member(&O::import, &Import::max_sequence);
  static const std::vector<OptionRecord> all = {
      {"--input-shape", G::Model, c::kAll, "NAME=DIMS",
       "NAME=1x3x224x224: shape of an input; 1..8x3 for a dimension known at run time only, 16*1..8x3 for a "
       "sequence of up to 16 tensors (repeatable)",
       r::form(Takes::Any, forms::input_shapes)},
      {"--input-dim", G::Model, c::kAll, "SYMBOL=N",
       "SYMBOL=N: an open dimension, by its name in the model, in all inputs; 1..8 for one known at run time "
       "only (repeatable)",
       r::form(Takes::Any, forms::input_dims)},
      {"--bind", G::Model, c::kAll, "NAME=VALUE|FILE.npy",
       "an input becomes a constant: NAME=16000, NAME=1,2,3 or NAME=FILE.npy (repeatable)",
       r::form(Takes::Any, forms::bindings)},
      {"--bound", G::Model, c::kAll, "NAME=DIMS",
       "NAME=64x4: the most that the dimensions of a value can be whose shape is known at run time only and "
       "that nothing bounds (repeatable)",
       r::form(Takes::Any, forms::bounds)},
      {"--max-sequence", G::Model, c::kAll, "N", "tensors in a sequence that nothing else bounds",
       r::shown(r::number(sequence, 1, kMostSequence), sequence)},
      {"--max-rounds", G::Model, c::kAll, "N",
       "rounds of a Loop that data end: one that has not ended then is an error (no limit)",
       r::number(member(&O::import, &Import::max_rounds), 1, INT32_MAX)},
      {"--batch", G::Model, c::kAll, "N", "value of a symbolic leading dimension, 1 to 4096",
       r::number(member(&O::import, &Import::batch), 1, kMostBatch)},
      {"--external-data-dir", G::Model, c::kAll, "DIR",
       "a further folder that external tensor data may lie in",
       r::text(member(&O::import, &Import::external_data_dir))},
  };
  return all;
}

const std::vector<OptionRecord>& output_options() {
  static const std::vector<OptionRecord> all = {
      {"--name", G::Output, c::kCompile | c::kVerify | c::kBundle, "NAME",
       "C identifier that prefixes every symbol; from the file's stem by default", r::text(member(&O::name)),
       f::kNotInManifest},
      {"-o,--output", G::Output, c::kCompile, "OUT", "folder to write; appears whole or not at all",
       r::text(member(&O::out)), f::kNotInManifest | f::kRequired},
      {"--force", G::Output, c::kCompile, "",
       "delete what no compile wrote in OUT, where it is kept or in the way otherwise",
       r::flag(member(&O::force)), f::kNotInManifest | f::kOnlyIfNamed},
      {"--emit", G::Output, c::kResults, "KIND",
       "further files: ir, disasm, nodes-json, bare: an example without operating system; single: the "
       "program as one .c, with the weights, and one .h; sbom: OUT as an SPDX document (repeatable)",
       emitted()},
  };
  return all;
}

const std::vector<OptionRecord>& target_options() {
  static const auto effort = member(&O::accelerator, &Settings::effort);
  static const auto default_targets = [](CompileOptions&) { return std::string(backends::kDefaultTarget); };
  static const std::vector<OptionRecord> all = {
      {"--target",
       G::Target,
       c::kCodes,
       "T[,T2...]",
       "target, or 'host' for the CPU alone",
       {Takes::One, forms::targets, {}, default_targets}},
      {"--chips", G::Target, c::kCompile, "N", "of a mesh: only its first N chips",
       r::number(member(&O::mesh_chips), 1, 65536)},
      {"--without", G::Target, c::kCompile, "PART",
       "of a mesh: chip:5, pe:3.17 or link:2-3, which do not work (repeatable)",
       r::texts(member(&O::mesh_without))},
      {"--target-opt", G::Target, c::kCodes, "TARGET.KEY=VALUE",
       "an option of one target: tiles, effort, machine, wb-pin, silicon-id, or what its package declares "
       "(repeatable)",
       r::texts(member(&O::target_options))},
      {"--tiles", G::Target, c::kCodes, "1|2|4|8", "tiles of the accelerator to use, by default all",
       r::number(member(&O::accelerator, &Settings::tiles), 1, 255), f::kNeedsRegions},
      {"--effort", G::Target, c::kCodes, "1|2",
       "1: compile fast; 2: try many more schedules for the accelerator",
       r::shown(r::number(effort, 1, 2), effort), f::kNeedsRegions},
      {"--machine", G::Target, c::kCodes, "WHICH",
       "which values of the machine's fields schedules are chosen for: default, conservative, or both: the "
       "least product of the cycles of the two (docs/timing.md)",
       r::choice(member(&O::accelerator, &Settings::column), target::kColumns),
       f::kNeedsRegions | f::kOnlyIfNamed},
      {"--wb-pin", G::Target, c::kCodes, "",
       "keep weights on chip from one inference to the next (they must fit)",
       r::flag(member(&O::accelerator, &Settings::pin_weights)), f::kNeedsRegions},
      {"--target-dir", G::Target, c::kCodes, "DIR",
       "folder of target packages (repeatable; also $MRVLC_TARGET_PATH)", r::texts(member(&O::target_dirs)),
       f::kOnlyIfNamed},
      {"--silicon-id", G::Target, c::kCodes, "",
       "write architecture 128 into the binaries, not 256 (experimental): for drivers that run our simulator",
       r::flag(member(&O::accelerator, &Settings::silicon_id)), f::kNeedsRegions},
  };
  return all;
}

const std::vector<OptionRecord>& placement_options() {
  static const std::vector<OptionRecord> all = {
      {"--rules", G::Placement, c::kCodes, "FILE", "file of placement rules (repeatable)",
       r::texts(member(&O::rules))},
      {"--no-default-rules", G::Placement, c::kCodes, "", "only the rules of --rules",
       r::flag(member(&O::default_rules), false)},
      {"--cpu", G::Placement, c::kCodes, "PATTERN",
       "keep these nodes or operator types on the CPU (repeatable, * and ? allowed)",
       r::texts(member(&O::cpu))},
      {"--accel", G::Placement, c::kCodes, "PATTERN", "these must run on the accelerator (repeatable)",
       r::texts(member(&O::accel))},
      {"--border", G::Placement, c::kCodes, "PATTERN",
       "start a new region in front of these nodes (repeatable)", r::texts(member(&O::borders))},
      {"--border-after", G::Placement, c::kCodes, "PATTERN", "end a region behind these nodes (repeatable)",
       r::texts(member(&O::borders_after))},
      {"--together", G::Placement, c::kCodes, "PATTERN",
       "these are one region, with nothing else (repeatable)", r::texts(member(&O::together))},
      {"--max-region-layers", G::Placement, c::kCodes, "N", "the most layers of a region",
       r::number(member(&O::max_region_layers), 1, kMostRegions)},
      {"--max-regions", G::Placement, c::kCodes, "N", "the most regions; what is beyond goes to the CPU",
       r::number(member(&O::max_regions), 0, kMostRegions)},
      {"--placement", G::Placement, c::kCodes, "FILE",
       "file of constraints, or a placement.json of an earlier compile", r::text(member(&O::placement))},
      {"--partition", G::Placement, c::kCodes, "greedy|cost",
       "greedy: the accelerator takes what the rules take; cost: what is expected to be fastest",
       r::choice(member(&O::partition_by), kPartitionBy)},
      {"--host-model", G::Placement, c::kCodes, "FILE", "file of what the host takes for an operator",
       r::text(member(&O::host_model))},
  };
  return all;
}

const std::vector<OptionRecord>& accuracy_options() {
  static const std::vector<OptionRecord> all = {
      {"--precision",
       G::Accuracy,
       c::kCodes,
       "KIND|NAME=HOW",
       "fp16 (default); int8, auto: integers in all layers, or where --accuracy allows and it is faster, by "
       "the samples of --data; or NAME=fp16|pair|scale:K|pair:K: how exactly values are kept (repeatable, * "
       "and ? "
       "allowed)",
       {Takes::Any, forms::precisions, {}, nullptr}},
      {"--data", G::Accuracy, c::kCompile, "DIR",
       "folder of samples, a folder each, or one .npy an input (docs/calibration.md): the expected error is "
       "that on them; integers of --precision int8 and auto are chosen by them",
       r::text(member(&O::data))},
      {"--calibration", G::Accuracy, c::kCodes, "FILE",
       "what values of the model are on your data, from 'mrvlc calibrate': overflows of fp16 are looked for "
       "there, and the probe's inputs are like the data's",
       r::text(member(&O::calibration)), f::kNeedsRegions},
      {"--input-range", G::Accuracy, c::kCodes, "NAME=LO:HI",
       "NAME=LO:HI: the range of an input for the probe, 0:1 by default (repeatable, * and ? allowed)",
       r::form(Takes::Any, forms::input_ranges), f::kNeedsRegions},
      {"--objective", G::Accuracy, c::kCodes, "WHAT",
       "speed: --accuracy for the fewest cycles; accuracy: the least error within --slowdown (speed)",
       r::choice(member(&O::objective), kObjectives)},
      {"--slowdown", G::Accuracy, c::kCodes, "F", "of --objective accuracy: times the cycles that may be (2)",
       r::number(member(&O::slowdown), 1, 1000)},
      {"--accuracy", G::Accuracy, c::kCodes, "E",
       "largest |a-b|/(1+|b|) of outputs against float32: layers leave fp16 until the probe measures no "
       "more; exit with code 5 when it never does",
       r::tolerance(member(&O::accuracy))},
      {"--frontier", G::Accuracy, c::kCompile, "",
       "print which choices of precision none beats in both time and error, as measured by compiling them; "
       "OUT has the table as frontier.json and frontier.html; with --data int8 is among them",
       r::flag(member(&O::frontier))},
      {"--pick",
       G::Accuracy,
       c::kCompile,
       "N",
       "compile row N of the table of --frontier",
       r::number(member(&O::pick), 1, 1000),
       0,
       {},
       "--frontier"},
      {"--probe", G::Accuracy, c::kResults, "",
       "compare fp16 with float32 on made inputs whatever that costs", probe(O::Probe::Always),
       f::kNeedsRegions, "--no-probe"},
      {"--no-probe", G::Accuracy, c::kResults, "", "do not compare at all", probe(O::Probe::Never), 0,
       "--probe"},
      {"--accuracy-warning", G::Accuracy, c::kResults, "E",
       "largest expected |a-b|/(1+|b|) that is no warning (0.01)",
       r::tolerance(member(&O::accuracy_warning))},
      {"--no-input-limits", G::Accuracy, c::kResults, "",
       "do not look how large inputs may be for the outputs to stay accurate; the program then checks no "
       "inputs",
       r::flag(member(&O::input_limits), false)},
  };
  return all;
}

const std::vector<OptionRecord>& host_code_options() {
  static const std::vector<OptionRecord> all = {
      {"--optimize", G::HostCode, c::kCodes, "FOR",
       "the host's C for speed, for size (one kernel for all convolutions, plain loops, functions of the C "
       "library), or balanced (one kernel of each kind)",
       r::choice(member(&O::host, &Host::optimize), chost::kOptimize)},
      {"--weights", G::HostCode, c::kCodes, "HOW",
       "how the host's constants come to the program: linked in by an assembler file, as an array in c, or "
       "as a blob that the program loads or maps",
       r::choice(member(&O::host, &Host::weights), chost::kWeightsAs)},
      {"--host-weights", G::HostCode, c::kCodes | c::kTune, "TYPE",
       "weights of the host's convolutions, matrix products and recurrent layers: fp16 rounds them and takes "
       "half the memory; what is computed stays fp32",
       r::choice(member(&O::host, &Host::host_weights), chost::kWeightTypes)},
      {"--threads", G::HostCode, c::kResults | c::kTune, "N",
       "parts of a loop at most that threads of the caller may run (1: none); each has scratch memory",
       r::number(member(&O::host, &Host::threads), 1, 256)},
      {"--exact", G::HostCode, c::kCodes | c::kTune, "",
       "convolutions on the host as sums in a fixed order, none by Winograd's algorithm, which is faster, "
       "rounds more and takes more memory",
       never_winograd()},
      {"--tuning", G::HostCode, c::kCodes, "FILE", "file of mrvlc tune: how layers on the host are computed",
       r::text(member(&O::tuning))},
      {"--arena-limit", G::HostCode, c::kResults | c::kTune, "SIZE",
       "exit with code 4 when the host's arena needs more bytes",
       r::size(member(&O::host, &Host::arena_limit))},
      {"--text-bytes", G::HostCode, c::kResults, "SIZE",
       "room for each text made at run time, on average (256)",
       r::size(member(&O::host, &Host::text_bytes), 1, kMostTextBytes)},
      {"--unchecked-indices", G::HostCode, c::kResults | c::kTune, "",
       "no check at run time of values that say where (indices, labels, lengths): one out of range is "
       "brought into its range or skipped, instead of NAME_ERROR_VALUE",
       r::flag(member(&O::host, &Host::check_indices), false)},
      {"--trace-values", G::HostCode, c::kCodes, "",
       "NAME_device has a hook that NAME_run calls with every value in memory: its name, type, shape and "
       "data; "
       "the example program then takes --dump DIR, which mrvlc compare reads",
       r::flag(member(&O::host, &Host::trace_values))},
      {"--state", G::HostCode, c::kCodes, "PAST=PRESENT|auto",
       "an input that is an output of the run before, in one memory of NAME_state; past_*=present_* for all "
       "of "
       "such names, auto: those whose names and shapes are alike (repeatable)",
       r::texts(member(&O::states))},
      {"--measure-size", G::HostCode, c::kResults, "CC",
       "a C compiler with its flags, e.g. 'arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -Os': bytes of code and "
       "stack frames for the report",
       r::text(member(&O::measure_size)), f::kOnlyIfNamed},
  };
  return all;
}

const std::vector<OptionRecord>& fault_options() {
  static const std::vector<OptionRecord> all = {
      {"--on-overflow", G::Faults, c::kResults, "report|error|cpu",
       "what NAME_run does when values leave fp16 on the device: report it in the error structure, return an "
       "error, or compute the region on the cpu (report)",
       r::choice(member(&O::host, &Host::on_overflow), kOnOverflow), f::kNeedsRegions},
      {"--on-device-error", G::Faults, c::kResults, "error|retry[:N]|cpu",
       "what NAME_run does when the device fails: return an error, run the region again (retry: once, "
       "retry:N: up to N times), compute it on the cpu, or 'retry,cpu' (error)",
       r::form(Takes::One, forms::device_error), f::kNeedsRegions},
  };
  return all;
}

const std::vector<OptionRecord>& gate_options() {
  static const std::vector<OptionRecord> all = {
      {"--fail-on-fallback", G::Gates, c::kResults, "", "exit with code 5 when anything runs on the CPU",
       r::flag(member(&O::fail_on_fallback))},
      {"--fail-on-accuracy", G::Gates, c::kResults, "",
       "exit with code 5 when the expected error is more than that, when a value overflows fp16, or when "
       "neither is known",
       r::flag(member(&O::fail_on_accuracy))},
      {"--max-cycles", G::Gates, c::kResults, "N",
       "exit with code 5 when the regions take more cycles together",
       r::number(member(&O::gates, &Gates::cycles), 0), f::kNeedsRegions},
      {"--max-ms", G::Gates, c::kResults, "MS",
       "exit with code 5 when a run is expected to take more milliseconds, borders and host included",
       r::number(member(&O::gates, &Gates::milliseconds), 0)},
      {"--max-arena", G::Gates, c::kResults, "SIZE",
       "exit with code 5 when the host's arena needs more bytes, e.g. 64K",
       r::size(member(&O::gates, &Gates::arena))},
      {"--max-weights", G::Gates, c::kResults, "SIZE",
       "exit with code 5 when weights of host and regions together take more bytes, e.g. 2MiB",
       r::size(member(&O::gates, &Gates::weights))},
      {"--min-mac-share", G::Gates, c::kResults, "SHARE",
       "exit with code 5 when less of the multiply-accumulates run on the accelerator, e.g. 90%",
       r::share(member(&O::gates, &Gates::mac_share))},
      {"--max-error", G::Gates, c::kResults, "E",
       "exit with code 5 when the expected |a-b|/(1+|b|) of an output is more, or is not known",
       r::tolerance(member(&O::gates, &Gates::error)), f::kNeedsRegions},
      {"--baseline", G::Gates, c::kCompile, "OUT",
       "OUT of an earlier compile: exit with code 5 when a number is worse by more than --tolerance "
       "(docs/reports.md)",
       r::text(member(&O::gates, &Gates::baseline))},
      {"--tolerance", G::Gates, c::kCompile, "SHARE",
       "of --baseline: the share by which numbers may be worse (0)",
       r::share(member(&O::gates, &Gates::tolerance)), 0, "", "--baseline"},
      {"--prove", G::Gates, c::kCompile | c::kBatch, "",
       "exit with code 5 when a binary does not compute the model, for all inputs; else certificate.json is "
       "written (docs/prove.md)",
       r::flag(member(&O::gates, &Gates::proved)), f::kNeedsRegions},
  };
  return all;
}

const std::vector<OptionRecord>& build_options() {
  static const auto depfile_form = member(&O::depfile, &Depfile::form);
  static const std::vector<OptionRecord> all = {
      {"--MD", G::Builds, c::kCompile, "", "write a Makefile dependency file OUT.d (spelled -MD as well)",
       r::flag(member(&O::depfile, &Depfile::beside_out)), f::kNotInManifest},
      {"--MF", G::Builds, c::kCompile, "FILE", "write the dependency file here (spelled -MF as well)",
       r::text(member(&O::depfile, &Depfile::file)), f::kNotInManifest},
      {"--MT", G::Builds, c::kCompile, "TARGET",
       "target of the dependency file, as it is to stand there; OUT/manifest.json by default (repeatable; "
       "spelled -MT as well)",
       r::texts(member(&O::depfile, &Depfile::targets)), f::kNotInManifest},
      {"--MQ", G::Builds, c::kCompile, "TARGET",
       "the same, quoted for make (repeatable; spelled -MQ as well)",
       r::texts(member(&O::depfile, &Depfile::quoted_targets)), f::kNotInManifest},
      {"--MP", G::Builds, c::kCompile, "",
       "add a target without prerequisites for each file but the model (spelled -MP as well)",
       r::flag(member(&O::depfile, &Depfile::phony)), f::kNotInManifest},
      {"--depfile-form", G::Builds, c::kCompile, "FORM",
       "of the dependency file: for make, with conditions about the environment and about files that may "
       "appear; plain, as Ninja reads it; auto: for make where make runs mrvlc",
       r::choice(depfile_form, kDepfileForms), f::kNotInManifest},
      {"-j", G::Builds, c::kCompile, "N",
       "threads, one for each core by default; the output never depends on it",
       r::number(member(&O::jobs), 0), f::kNotInManifest},
      {"--timing", G::Builds, c::kCompile, "FILE", "write time and memory of each phase to this JSON file",
       r::text(member(&O::timing)), f::kNotInManifest},
      {"--dump-ir", G::Builds, c::kCompile, "PASS", "print the IR after this pass to stdout",
       r::text(member(&O::dump_ir)), f::kNotInManifest},
      {"--dump-stage", G::Builds, c::kCompile, "STAGE",
       "print what this stage of the accelerator's back end made to stdout: primitives, tiling, residency or "
       "tile-program (repeatable)",
       r::texts(member(&O::accelerator, &Settings::stages)), f::kNotInManifest | f::kNeedsRegions},
  };
  return all;
}

}  // namespace

std::span<const OptionRecord> option_table() {
  static const std::vector<OptionRecord> table = [] {
    std::vector<OptionRecord> all;
    for (const auto* part :
         {&model_options(), &output_options(), &target_options(), &placement_options(), &accuracy_options(),
          &host_code_options(), &fault_options(), &gate_options(), &build_options()})
      all.insert(all.end(), part->begin(), part->end());
    return all;
  }();
  return table;
}

}  // namespace mrvlc::driver
