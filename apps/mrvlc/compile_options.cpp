#include "compile_options.h"

#include <charconv>
#include <cstdlib>

#include "mrvlc/support/diag/general.h"

namespace mrvlc::app {
namespace {

// "1x3x224x224"; empty text is a scalar's shape.
bool parse_dims(std::string_view text, Shape& shape) {
  while (!text.empty()) {
    int64_t d = 0;
    const char* last = text.data() + text.size();
    auto [end, ec] = std::from_chars(text.data(), last, d);
    if (ec != std::errc() || d < 0) return false;
    shape.push_back(d);
    if (end == last) return true;
    if (*end != 'x' || end + 1 == last) return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  }
  return true;
}

Status add_shapes(const std::vector<std::string>& texts, std::map<std::string, Shape>& shapes) {
  for (const std::string& text : texts) {
    size_t eq = text.rfind('=');
    Shape shape;
    if (eq == std::string::npos || eq == 0 || !parse_dims(std::string_view(text).substr(eq + 1), shape)) {
      return make_diag<DiagCode::MRV0004>("--input-shape takes NAME=1x3x224x224, not '" + printable(text) +
                                          "'");
    }
    std::string name = text.substr(0, eq);
    if (shapes.emplace(name, shape).second) continue;
    return make_diag<DiagCode::MRV0004>("--input-shape is given twice for '" + printable(name) + "'");
  }
  return {};
}

// OUT.d beside OUT, also when OUT ends in a slash.
std::string default_depfile(std::string out) {
  while (out.size() > 1 && out.back() == '/') out.pop_back();
  return out + ".d";
}

}  // namespace

CLI::Validator not_empty() {
  return {[](std::string& text) { return std::string(text.empty() ? "is empty" : ""); }, "", "not_empty"};
}

void add_model_options(CLI::App& cmd, CompileArguments& a) {
  cmd.add_option("MODEL", a.model, "the ONNX model")->required()->type_name("FILE")->check(not_empty());
  cmd.add_option("--input-shape", a.shapes, "NAME=1x3x224x224: shape of an input (repeatable)")
      ->type_name("NAME=DIMS")
      ->allow_extra_args(false);
  cmd.add_option("--batch", a.batch, "value of a symbolic leading dimension, 1 to 4096")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, int64_t{4096}).description(""));
  cmd.add_option("--external-data-dir", a.external, "a further folder that external tensor data may lie in")
      ->type_name("DIR");
}

void add_compile_options(CLI::App& cmd, CompileArguments& a) {
  add_model_options(cmd, a);
  cmd.add_option("--name", a.name, "C identifier that prefixes every symbol; from the file's stem by default")
      ->type_name("NAME")
      ->check(not_empty());
  cmd.add_option("--target", a.targets, "target, or 'host' for the CPU alone")
      ->type_name("T[,T2...]")
      ->check(not_empty())
      ->capture_default_str();
  cmd.add_option("--tiles", a.tiles, "tiles of the accelerator to use")
      ->type_name("1|2|4|8")
      ->capture_default_str();
  cmd.add_option("--effort", a.effort, "1: compile fast; 2: try many more schedules for the accelerator")
      ->check(CLI::Range(1u, 2u).description(""))
      ->type_name("1|2")
      ->capture_default_str();
  cmd.add_flag("--wb-pin", a.pin_weights,
               "keep weights on chip from one inference to the next (they must fit)");
  cmd.add_option("--precision", a.precision, "arithmetic of the accelerator")
      ->check(CLI::IsMember({"fp16", "int8", "auto"}))
      ->type_name("KIND")
      ->capture_default_str();
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
  cmd.add_option("--border", a.borders, "start a new region in front of this node (repeatable)")
      ->type_name("NODE")
      ->allow_extra_args(false);
  cmd.add_option("--target-dir", a.target_dirs,
                 "folder of target packages (repeatable; also $MRVLC_TARGET_PATH)")
      ->type_name("DIR")
      ->allow_extra_args(false);
  cmd.add_flag(
      "--silicon-id", a.silicon_id,
      "write architecture 128 into the binaries, not 256 (experimental): for drivers that run our simulator");
}

Result<driver::CompileOptions> checked(const CompileArguments& a) {
  driver::CompileOptions o;
  o.model = a.model;
  o.out = a.out;
  o.name = a.name;
  o.targets = CLI::detail::split(a.targets, ',');
  o.tiles = a.tiles;
  o.effort = a.effort;
  o.pin_weights = a.pin_weights;
  o.precision = a.precision;
  o.batch = a.batch;
  o.external_data_dir = a.external;
  o.rules.assign(a.rules.begin(), a.rules.end());
  o.default_rules = !a.no_default_rules;
  o.cpu = a.cpu;
  o.accel = a.accel;
  o.borders = a.borders;
  o.fail_on_fallback = a.fail_on_fallback;
  o.arena_limit = a.arena_limit;
  o.silicon_id = a.silicon_id;
  MRVLC_ASSIGN(o.target_dirs, target_search(a.target_dirs));
  o.emit = a.emit;
  o.depfile = a.depfile.empty() && a.depfile_default ? default_depfile(a.out) : a.depfile;
  o.timing = a.timing;
  o.dump_ir = a.dump_ir;
  o.jobs = a.jobs;
  MRVLC_TRY(add_shapes(a.shapes, o.input_shapes));
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
  const char* path = std::getenv("MRVLC_TARGET_PATH");
  if (path == nullptr) return all;
  for (const std::string& dir : CLI::detail::split(path, ':')) {
    if (!dir.empty()) all.emplace_back(dir);
  }
  return all;
}

}  // namespace mrvlc::app
