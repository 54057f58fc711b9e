// Options about model, targets and placement, made into CompileOptions with what is wrong; a model on stdin.
#include "compile_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "log.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file_writer.h"
#include "mrvlc/target/find.h"
#include "mrvlc/tensor/npy.h"

namespace mrvlc::app {
namespace {

// NAME=SHAPE for each text.
Status add_shapes(std::string_view option, std::string_view form, const std::vector<std::string>& texts,
                  std::map<std::string, onnx::GivenShape>& shapes) {
  for (const std::string& text : texts) {
    size_t eq = text.rfind('=');
    auto given = eq == std::string::npos || eq == 0
                     ? std::nullopt
                     : onnx::parse_given_shape(std::string_view(text).substr(eq + 1));
    if (!given) {
      return make_diag<DiagCode::MRV0004>(
          fmt::format("{} takes NAME={}, not '{}'", option, form, printable(text)));
    }
    std::string name = text.substr(0, eq);
    if (shapes.emplace(name, *given).second) continue;
    return make_diag<DiagCode::MRV0004>(fmt::format("{} is given twice for '{}'", option, printable(name)));
  }
  return {};
}

// SYMBOL=N, or SYMBOL=1..N.
Status add_dims(const std::vector<std::string>& texts, std::map<std::string, onnx::GivenShape>& dims) {
  MRVLC_TRY(add_shapes("--input-dim", "8", texts, dims));
  for (const auto& [symbol, given] : dims)
    if (given.shape.size() != 1 || given.length > 0)
      return make_diag<DiagCode::MRV0004>(
          fmt::format("--input-dim takes one number for '{}', not {}", printable(symbol), to_string(given)));
  return {};
}

Status add_bounds(const std::vector<std::string>& texts, std::map<std::string, Shape>& bounds) {
  std::map<std::string, onnx::GivenShape> given;
  MRVLC_TRY(add_shapes("--bound", "64x4", texts, given));
  for (const auto& [name, shape] : given) bounds.emplace(name, shape.shape);
  return {};
}

// NAME=VALUE, or NAME=FILE.npy.
Status add_bindings(const std::vector<std::string>& texts, std::map<std::string, onnx::BoundInput>& bound) {
  for (const std::string& text : texts) {
    const size_t eq = text.find('=');
    if (eq == std::string::npos || eq == 0 || eq + 1 == text.size())
      return make_diag<DiagCode::MRV0004>(
          fmt::format("--bind takes NAME=VALUE or NAME=FILE.npy, not '{}'", printable(text)));
    onnx::BoundInput value{text.substr(eq + 1), std::nullopt};
    if (value.text.ends_with(".npy")) {
      MRVLC_ASSIGN(value.tensor, read_npy(value.text));
    }
    if (!bound.emplace(text.substr(0, eq), std::move(value)).second)
      return make_diag<DiagCode::MRV0004>(
          fmt::format("--bind is given twice for '{}'", printable(text.substr(0, eq))));
  }
  return {};
}

// A kind for the whole accelerator, or NAME=HOW for values.
Status read_precisions(const std::vector<std::string>& texts, driver::CompileOptions& o) {
  for (const std::string& text : texts) {
    const size_t eq = text.rfind('=');
    if (eq == std::string::npos) {
      if (text != "fp16" && text != "int8" && text != "auto")
        return make_diag<DiagCode::MRV0004>(
            fmt::format("--precision takes fp16, int8, auto or NAME=HOW, not '{}'", printable(text)));
      o.precision = text;
      continue;
    }
    const auto precision = partition::parse_precision(std::string_view(text).substr(eq + 1));
    if (eq == 0 || !precision)
      return make_diag<DiagCode::MRV0004>(
          fmt::format("--precision takes NAME=fp16, NAME=pair, NAME=scale:K or NAME=pair:K with K from -{0} "
                      "to {0}, not '{1}'",
                      partition::kMostShift, printable(text)));
    o.precisions.emplace_back(text.substr(0, eq), *precision);
  }
  return {};
}

// make sets it for the commands of its recipes.
bool runs_below_make() {
  const char* level = std::getenv("MAKELEVEL");
  return level != nullptr && *level != '\0';
}

// OUT.d beside OUT, also when OUT ends in a slash.
std::string default_depfile(std::string out) {
  while (out.size() > 1 && out.back() == '/') out.pop_back();
  return out + ".d";
}

}  // namespace

CLI::Validator not_empty() {
  return {[](std::string& text) {
            return std::string(text.empty() ? "is empty; give it a value, or leave the option away" : "");
          },
          "", "not_empty"};
}

void add_model_options(CLI::App& cmd, CompileArguments& a) {
  cmd.add_option("MODEL", a.model, "the ONNX model; - for stdin")
      ->required()
      ->type_name("FILE")
      ->check(not_empty());
  add_import_options(cmd, a);
}

void add_import_options(CLI::App& cmd, CompileArguments& a) {
  cmd.add_option(
         "--input-shape", a.shapes,
         "NAME=1x3x224x224: shape of an input; 1..8x3 for a dimension known at run time only, 16*1..8x3 "
         "for a sequence of up to 16 tensors (repeatable)")
      ->type_name("NAME=DIMS")
      ->allow_extra_args(false);
  cmd.add_option(
         "--input-dim", a.input_dims,
         "SYMBOL=N: an open dimension, by its name in the model, in all inputs; 1..8 for one known at "
         "run time only (repeatable)")
      ->type_name("SYMBOL=N")
      ->allow_extra_args(false);
  cmd.add_option("--bind", a.bindings,
                 "an input becomes a constant: NAME=16000, NAME=1,2,3 or NAME=FILE.npy (repeatable)")
      ->type_name("NAME=VALUE|FILE.npy")
      ->allow_extra_args(false);
  cmd.add_option(
         "--bound", a.bounds,
         "NAME=64x4: the most that the dimensions of a value can be whose shape is known at run time only "
         "and that nothing bounds (repeatable)")
      ->type_name("NAME=DIMS")
      ->allow_extra_args(false);
  cmd.add_option("--max-sequence", a.max_sequence, "tensors in a sequence that nothing else bounds")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, int64_t{65536}).description(""))
      ->capture_default_str();
  cmd.add_option("--max-rounds", a.max_rounds,
                 "rounds of a Loop that data end: one that has not ended then is an error (no limit)")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, int64_t{INT32_MAX}).description(""));
  cmd.add_option("--batch", a.batch, "value of a symbolic leading dimension, 1 to 4096")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, int64_t{4096}).description(""));
  cmd.add_option("--external-data-dir", a.external, "a further folder that external tensor data may lie in")
      ->type_name("DIR");
}

namespace {

void add_region_options(CLI::App& cmd, CompileArguments& a) {
  cmd.add_option("--border", a.borders, "start a new region in front of these nodes (repeatable)")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  cmd.add_option("--border-after", a.borders_after, "end a region behind these nodes (repeatable)")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  cmd.add_option("--together", a.together, "these are one region, with nothing else (repeatable)")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  cmd.add_option("--max-region-layers", a.max_region_layers, "the most layers of a region")
      ->type_name("N")
      ->check(CLI::Range(1u, 1u << 30).description(""));
  cmd.add_option("--max-regions", a.max_regions, "the most regions; what is beyond goes to the CPU")
      ->type_name("N")
      ->check(CLI::Range(0u, 1u << 30).description(""));
  cmd.add_option("--placement", a.placement, "file of constraints, or a placement.json of an earlier compile")
      ->type_name("FILE")
      ->check(not_empty());
}

}  // namespace

void add_compile_options(CLI::App& cmd, CompileArguments& a) {
  add_model_options(cmd, a);
  cmd.add_option("--name", a.name, "C identifier that prefixes every symbol; from the file's stem by default")
      ->type_name("NAME")
      ->check(not_empty());
  add_code_options(cmd, a);
}

void add_code_options(CLI::App& cmd, CompileArguments& a) {
  cmd.add_option("--target", a.targets, "target, or 'host' for the CPU alone")
      ->type_name("T[,T2...]")
      ->check(not_empty())
      ->capture_default_str();
  cmd.add_option("--target-opt", a.target_options,
                 "an option of one target: tiles, effort, wb-pin or silicon-id (repeatable)")
      ->type_name("TARGET.KEY=VALUE")
      ->allow_extra_args(false);
  cmd.add_option("--tiles", a.tiles, "tiles of the accelerator to use, by default all")
      ->check(CLI::Range(1u, 255u).description(""))
      ->type_name("1|2|4|8");
  cmd.add_option("--effort", a.effort, "1: compile fast; 2: try many more schedules for the accelerator")
      ->check(CLI::Range(1u, 2u).description(""))
      ->type_name("1|2")
      ->capture_default_str();
  cmd.add_flag("--wb-pin", a.pin_weights,
               "keep weights on chip from one inference to the next (they must fit)");
  cmd.add_option("--precision", a.precision,
                 "fp16; int8, auto: integers in all layers, or where --accuracy allows and it is faster, by "
                 "the samples of "
                 "--data; or NAME=fp16|pair|scale:K|pair:K: how exactly "
                 "values are kept (repeatable, * and ? allowed)")
      ->type_name("KIND|NAME=HOW")
      ->allow_extra_args(false);
  cmd.add_option("--rules", a.rules, "file of placement rules (repeatable)")
      ->type_name("FILE")
      ->allow_extra_args(false);
  cmd.add_flag("--no-default-rules", a.no_default_rules, "only the rules of --rules");
  cmd.add_option("--cpu", a.cpu,
                 "keep these nodes or operator types on the CPU (repeatable, * and ? allowed)")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  cmd.add_option("--accel", a.accel, "these must run on the accelerator (repeatable)")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  add_region_options(cmd, a);
  cmd.add_option("--partition", a.partition,
                 "greedy: the accelerator takes what the rules take; cost: what is expected to be fastest")
      ->type_name("greedy|cost")
      ->check(CLI::IsMember({"greedy", "cost"}).description(""))
      ->capture_default_str();
  cmd.add_option("--host-model", a.host_model, "file of what the host takes for an operator")
      ->type_name("FILE")
      ->check(not_empty());
  cmd.add_option("--tuning", a.tuning, "file of mrvlc tune: how layers on the host are computed")
      ->type_name("FILE")
      ->check(not_empty());
  cmd.add_option("--target-dir", a.target_dirs,
                 "folder of target packages (repeatable; also $MRVLC_TARGET_PATH)")
      ->type_name("DIR")
      ->allow_extra_args(false);
  cmd.add_flag(
      "--silicon-id", a.silicon_id,
      "write architecture 128 into the binaries, not 256 (experimental): for drivers that run our simulator");
}

namespace {

// The model of stdin as a file, since models are read where they lie.
Result<std::filesystem::path> model_of_stdin(CompileArguments& a) {
  if (::isatty(STDIN_FILENO) != 0)
    return make_diag<DiagCode::MRV0004>(
        "MODEL is '-', and stdin is a terminal; e.g. 'mrvlc inspect - <model.onnx'");
  MRVLC_ASSIGN(TemporaryDir folder, TemporaryDir::create());
  a.from_stdin = std::make_shared<TemporaryDir>(std::move(folder));
  std::filesystem::path file = a.from_stdin->path() / "model.onnx";
  MRVLC_ASSIGN(FileWriter writer, FileWriter::create(file));
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return make_diag<DiagCode::MRV0003>("stdin", std::strerror(errno));
    if (n == 0) break;
    MRVLC_TRY(writer.append({buffer.data(), static_cast<size_t>(n)}));
  }
  MRVLC_TRY(writer.commit());
  return file;
}

}  // namespace

std::vector<std::pair<std::string, std::vector<std::string>>> typed_options(
    const CLI::App& cmd, std::span<const std::string_view> left_out) {
  std::vector<std::pair<std::string, std::vector<std::string>>> out;
  for (const CLI::Option* option : cmd.get_options()) {
    if (option->count() == 0 || option->get_positional()) continue;
    if (std::ranges::find(left_out, option->get_name()) == left_out.end())
      out.emplace_back(option->get_name(), option->results());
  }
  return out;
}

namespace {

void read_placement(const CompileArguments& a, driver::CompileOptions& o) {
  o.cpu = a.cpu;
  o.accel = a.accel;
  o.borders = a.borders;
  o.borders_after = a.borders_after;
  o.together = a.together;
  o.max_region_layers = a.max_region_layers;
  o.max_regions = a.max_regions;
  o.placement = a.placement;
}

// The member of an enumeration whose word, of those that the option takes, was given.
template <class Enum, size_t N>
Enum named(const std::string_view (&words)[N], const std::string& word) {
  return static_cast<Enum>(std::ranges::find(words, word) - words);
}

void read_host_code(const CompileArguments& a, driver::CompileOptions& o) {
  o.host_model = a.host_model;
  o.tuning = a.tuning;
  o.arena_limit = a.arena_limit;
  o.text_bytes = a.text_bytes;
  o.measure_size = a.measure_size;
  o.exact = a.exact;
  o.unchecked_indices = a.unchecked_indices;
  o.optimize = named<chost::Optimize>(chost::kOptimize, a.optimize);
  o.threads = a.threads;
  o.weights = named<chost::WeightsAs>(chost::kWeightsAs, a.weights);
  o.host_weights = named<chost::WeightType>(chost::kWeightTypes, a.host_weights);
}

// What decides neither what is written into OUT nor whether it is.
constexpr auto kNotRecorded = std::to_array<std::string_view>(
    {"--help", "--output", "--name", "--force", "-j", "--timing", "--MD", "--MF", "--MT", "--MQ", "--MP",
     "--depfile-form", "--dump-ir", "--dump-stage"});

bool is_path(const CLI::Option& option) {
  const std::string& type = option.get_type_name();
  return type == "FILE" || type == "DIR" || type == "OUT";
}

void note_typed(const CLI::App& cmd, driver::CompileOptions& o) {
  using Typed = driver::CompileOptions::Typed;
  for (const CLI::Option* option : cmd.get_options()) {
    if (option->count() == 0) continue;
    const std::string name = option->get_name();
    o.given.insert(name);
    if (option->get_positional() || option->get_lnames().empty() ||
        std::ranges::find(kNotRecorded, name) != kNotRecorded.end())
      continue;
    const bool flag = option->get_items_expected_max() == 0;
    o.typed.push_back({option->get_lnames()[0],
                       flag               ? Typed::Kind::Flag
                       : is_path(*option) ? Typed::Kind::Path
                                          : Typed::Kind::Text,
                       option->get_expected_max() > 1, option->results()});
  }
}

}  // namespace

Result<driver::CompileOptions> checked(const CLI::App& cmd, CompileArguments& a,
                                       const MessageOptions& messages) {
  driver::CompileOptions o;
  MRVLC_ASSIGN(o.log, make_log(messages));
  note_typed(cmd, o);
  o.model = a.model;
  if (a.model == "-") {
    MRVLC_ASSIGN(o.model, model_of_stdin(a));
    o.from_stdin = true;
  }
  o.out = a.out;
  o.name = a.name;
  o.force = a.force;
  o.targets = CLI::detail::split(a.targets, ',');
  o.tiles = a.tiles;
  o.target_options = a.target_options;
  o.effort = a.effort;
  o.pin_weights = a.pin_weights;
  MRVLC_TRY(read_precisions(a.precision, o));
  o.data = a.data;
  o.batch = a.batch;
  o.external_data_dir = a.external;
  o.rules.assign(a.rules.begin(), a.rules.end());
  o.default_rules = !a.no_default_rules;
  read_placement(a, o);
  o.fail_on_fallback = a.fail_on_fallback;
  o.gates = a.gates;
  o.partition_by = a.partition == "cost" ? driver::CompileOptions::PartitionBy::Cost
                                         : driver::CompileOptions::PartitionBy::Greedy;
  read_host_code(a, o);
  o.silicon_id = a.silicon_id;
  MRVLC_ASSIGN(o.target_dirs, target_search(a.target_dirs));
  o.emit = a.emit;
  o.depfile = a.depfile.empty() && a.depfile_default ? default_depfile(a.out) : a.depfile;
  o.depfile_targets = a.depfile_targets;
  o.depfile_quoted_targets = a.depfile_quoted_targets;
  o.depfile_phony = a.depfile_phony;
  o.depfile_conditions = a.depfile_form == "make" || (a.depfile_form == "auto" && runs_below_make());
  bool described = o.depfile_phony || !o.depfile_targets.empty() || !o.depfile_quoted_targets.empty();
  if (described && o.depfile.empty())
    return make_diag<DiagCode::MRV0004>(
        "-MT, -MQ and -MP are about the dependency file, which -MD or -MF asks for");
  o.timing = a.timing;
  o.dump_ir = a.dump_ir;
  o.dump_stages = a.dump_stages;
  o.jobs = a.jobs;
  MRVLC_TRY(add_shapes("--input-shape", "1x3x224x224", a.shapes, o.input_shapes));
  MRVLC_TRY(add_dims(a.input_dims, o.input_dims));
  MRVLC_TRY(add_bindings(a.bindings, o.bound_inputs));
  MRVLC_TRY(add_bounds(a.bounds, o.bounds));
  o.max_sequence = a.max_sequence;
  o.max_rounds = a.max_rounds;
  MRVLC_TRY(read_accuracy_options(a, o));
  MRVLC_TRY(read_fault_options(a, o));
  return o;
}

Result<std::vector<std::filesystem::path>> target_search(const std::vector<std::string>& dirs) {
  std::vector<std::filesystem::path> all;
  for (const std::string& dir : dirs) {
    std::error_code ec;
    if (!std::filesystem::is_directory(dir, ec)) {
      return make_diag<DiagCode::MRV0001>(printable(dir, 4096), "--target-dir takes a folder");
    }
    all.emplace_back(dir);
  }
  for (auto& dir : target::path_of_environment()) all.push_back(std::move(dir));
  return all;
}

}  // namespace mrvlc::app
