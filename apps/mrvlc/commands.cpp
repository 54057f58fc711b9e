#include "commands.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace mrvlc::app {
namespace {

using driver::CompileOptions;

// What the command line says before it is checked.
struct CompileArguments {
  std::string model, out, name, targets = "cn10ka", precision = "auto", depfile, timing, dump_ir, external;
  std::vector<std::string> shapes, rules, cpu, accel, borders, target_dirs, emit;
  uint32_t tiles = 8;
  int64_t batch = 1;
  unsigned jobs = 0;
  bool no_default_rules = false, fail_on_fallback = false, depfile_default = false, silicon_id = false;
};

void add_model_options(CLI::App& cmd, CompileArguments& a) {
  cmd.add_option("MODEL", a.model, "the ONNX model")->required();
  cmd.add_option("--input-shape", a.shapes, "NAME=1x3x224x224: shape of an input (repeatable)")->type_name("NAME=DIMS")->allow_extra_args(false);
  cmd.add_option("--batch", a.batch, "value of a symbolic leading dimension")->check(CLI::Range(int64_t{1}, int64_t{4096}));
  cmd.add_option("--external-data-dir", a.external, "a further folder that external tensor data may lie in");
}

void add_compile_options(CLI::App& cmd, CompileArguments& a) {
  add_model_options(cmd, a);
  cmd.add_option("--name", a.name, "C identifier that prefixes every symbol; from the file's stem by default");
  cmd.add_option("--target", a.targets, "target, or 'host' for the CPU alone")->type_name("T[,T2...]")->capture_default_str();
  cmd.add_option("--tiles", a.tiles, "tiles of the accelerator to use")->type_name("1|2|4|8")->capture_default_str();
  cmd.add_option("--precision", a.precision, "arithmetic of the accelerator")->check(CLI::IsMember({"fp16", "int8", "auto"}))->capture_default_str();
  cmd.add_option("--rules", a.rules, "file of placement rules (repeatable)")->type_name("FILE")->allow_extra_args(false);
  cmd.add_flag("--no-default-rules", a.no_default_rules, "only the rules of --rules");
  cmd.add_option("--cpu", a.cpu, "keep these nodes or operator types on the CPU (repeatable, * and ? allowed)")->type_name("PATTERN")->allow_extra_args(false);
  cmd.add_option("--accel", a.accel, "these must run on the accelerator (repeatable)")->type_name("PATTERN")->allow_extra_args(false);
  cmd.add_option("--border", a.borders, "start a new region in front of this node (repeatable)")->type_name("NODE")->allow_extra_args(false);
  cmd.add_option("--target-dir", a.target_dirs, "folder of target packages (repeatable; also $MRVLC_TARGET_PATH)")->type_name("DIR")->allow_extra_args(false);
  cmd.add_flag("--silicon-id", a.silicon_id, "write architecture 128 into the binaries instead of 256 (experimental): only for drivers that run our simulator");
}

Result<CompileOptions> checked(const CompileArguments& a) {
  CompileOptions o;
  o.model = a.model;
  o.out = a.out;
  o.name = a.name;
  o.targets = CLI::detail::split(a.targets, ',');
  o.tiles = a.tiles;
  o.precision = a.precision;
  o.batch = a.batch;
  o.external_data_dir = a.external;
  o.rules.assign(a.rules.begin(), a.rules.end());
  o.default_rules = !a.no_default_rules;
  o.cpu = a.cpu;
  o.accel = a.accel;
  o.borders = a.borders;
  o.fail_on_fallback = a.fail_on_fallback;
  o.silicon_id = a.silicon_id;
  o.target_dirs = target_search(a.target_dirs);
  o.emit = a.emit;
  o.depfile = a.depfile.empty() && a.depfile_default ? a.out + ".d" : a.depfile;
  o.timing = a.timing;
  o.dump_ir = a.dump_ir;
  o.jobs = a.jobs;
  for (const std::string& text : a.shapes) {
    size_t eq = text.rfind('=');
    if (eq == std::string::npos || eq == 0) return make_diag<DiagCode::MRV0004>("--input-shape takes NAME=1x3x224x224, not '" + printable(text) + "'");
    Shape shape;
    std::string_view rest = std::string_view(text).substr(eq + 1);
    while (!rest.empty()) {
      int64_t d = 0;
      auto [end, ec] = std::from_chars(rest.data(), rest.data() + rest.size(), d);
      bool more = end != rest.data() + rest.size();
      if (ec != std::errc() || d < 0 || (more && *end != 'x') || (more && end + 1 == rest.data() + rest.size())) {
        return make_diag<DiagCode::MRV0004>("--input-shape takes NAME=1x3x224x224, not '" + printable(text) + "'");
      }
      shape.push_back(d);
      rest.remove_prefix(static_cast<size_t>(end - rest.data()) + (more ? 1 : 0));
    }
    if (!o.input_shapes.emplace(text.substr(0, eq), shape).second) {
      return make_diag<DiagCode::MRV0004>("--input-shape is given twice for '" + printable(text.substr(0, eq)) + "'");
    }
  }
  return o;
}

}  // namespace

std::vector<std::filesystem::path> target_search(const std::vector<std::string>& dirs) {
  std::vector<std::filesystem::path> all(dirs.begin(), dirs.end());
  const char* path = std::getenv("MRVLC_TARGET_PATH");
  if (path == nullptr) return all;
  for (const std::string& dir : CLI::detail::split(path, ':')) {
    if (!dir.empty()) all.emplace_back(dir);
  }
  return all;
}

void Context::fail(const std::string& file, const Diag& diag) {
  print_error(file, diag, messages);
  exit_code = static_cast<int>(diag.exit_class());
}

void Context::finish(const std::string& file, const Result<std::string>& result) {
  if (!result.ok()) return fail(file, result.error());
  size_t written = std::fwrite(result->data(), 1, result->size(), stdout);
  // A full disk or a closed pipe must not look like success.
  if (written != result->size() || std::fflush(stdout) != 0) {
    fail(file, make_diag<DiagCode::MRV0002>("stdout", "short write"));
  }
}

void add_compile(CLI::App& app, Context& context) {
  auto a = std::make_shared<CompileArguments>();
  CLI::App* cmd = app.add_subcommand("compile", "compile a model to a binary, a host stub and an ID map");
  add_compile_options(*cmd, *a);
  cmd->add_option("-o,--output", a->out, "folder to write; appears whole or not at all")->required();
  cmd->add_flag("--fail-on-fallback", a->fail_on_fallback, "exit with code 5 when anything runs on the CPU");
  cmd->add_option("--emit", a->emit, "further files: ir, disasm (repeatable)")->check(CLI::IsMember({"ir", "disasm"}))->allow_extra_args(false);
  cmd->add_flag("--MD", a->depfile_default, "write a Makefile dependency file OUT.d (also -MD)");
  cmd->add_option("--MF", a->depfile, "write the dependency file here (also -MF)");
  cmd->add_option("-j", a->jobs, "threads; the output does not depend on it");
  cmd->add_option("--timing", a->timing, "write the seconds of each phase to this JSON file");
  cmd->add_option("--dump-ir", a->dump_ir, "print the IR after this pass to stdout")->type_name("PASS");
  cmd->callback([a, &context] {
    auto options = checked(*a);
    if (!options.ok()) return context.fail("mrvlc", options.error());
    Diagnostics diagnostics;
    bool ok = driver::compile(*options, diagnostics, [](const std::string& text) { std::fputs(text.c_str(), stdout); });
    print_diagnostics(a->model, diagnostics, context.messages);
    context.exit_code = ok ? 0 : diagnostics.exit_code();
    if (!ok || context.messages.quiet) return;
    std::fprintf(stderr, "wrote %s\n", a->out.c_str());
  });
}

void add_run(CLI::App& app, Context& context) {
  auto o = std::make_shared<driver::RunOptions>();
  auto inputs = std::make_shared<std::vector<std::string>>();
  CLI::App* cmd = app.add_subcommand("run", "build the host stub and run it against the simulator");
  cmd->add_option("OUT", o->out, "folder made by compile")->required();
  cmd->add_option("--input", *inputs, "NAME=FILE.npy (repeatable)")->type_name("NAME=FILE")->allow_extra_args(false);
  cmd->add_option("--output-dir", o->output_dir, "folder for <output>.npy")->required();
  cmd->add_flag("--repeat-axis0", o->repeat_axis0, "run once for each slice of the inputs' leading dimension, stack the outputs");
  cmd->add_option("--bench", o->bench, "time this many runs")->check(CLI::Range(1, 1000000));
  cmd->add_option("--cc", o->cc, "C compiler ($CC, or cc)");
  cmd->add_option("--cflags", o->cflags, "its flags (-O2)");
  cmd->callback([o, inputs, &context] {
    for (const std::string& text : *inputs) {
      size_t eq = text.rfind('=');
      if (eq == std::string::npos || eq == 0) {
        return context.fail("mrvlc", make_diag<DiagCode::MRV0004>("--input takes NAME=FILE.npy, not '" + printable(text) + "'"));
      }
      o->inputs.emplace_back(text.substr(0, eq), text.substr(eq + 1));
    }
    context.finish(o->out.string(), driver::run(*o));
  });
}

void add_verify(CLI::App& app, Context& context) {
  auto a = std::make_shared<CompileArguments>();
  auto data = std::make_shared<std::vector<std::string>>();
  auto tolerance = std::make_shared<double>(-1);
  auto seed = std::make_shared<uint32_t>(1);
  CLI::App* cmd = app.add_subcommand("verify", "compile, run and compare with expected outputs");
  add_compile_options(*cmd, *a);
  cmd->add_option("--data", *data, "folder of input_K.pb/output_K.pb, or .npy (repeatable); without it the reference interpreter is asked")->allow_extra_args(false);
  cmd->add_option("--tolerance", *tolerance, "largest |a-b|/(1+|b|); 2e-2, or 1e-4 on the host")->check(CLI::NonNegativeNumber);
  cmd->add_option("--seed", *seed, "of the inputs when there is no --data");
  cmd->callback([=, &context] {
    auto options = checked(*a);
    if (!options.ok()) return context.fail("mrvlc", options.error());
    driver::VerifyOptions v;
    v.compile = *options;
    v.data.assign(data->begin(), data->end());
    if (*tolerance >= 0) v.tolerance = *tolerance;
    v.seed = *seed;
    Diagnostics diagnostics;
    auto comparisons = driver::verify(v, diagnostics);
    std::string text;
    for (const auto& c : comparisons) {
      text += fmt::format("{} {}: {:.3g} (limit {:.3g}) {}\n", c.set, printable(c.output), c.error, c.tolerance,
                          c.error <= c.tolerance ? "ok" : "DIFFERS");
    }
    context.finish(a->model, text);
    print_diagnostics(a->model, diagnostics, context.messages);
    if (context.exit_code == 0) context.exit_code = diagnostics.exit_code();
  });
}

void add_profile(CLI::App& app, Context& context) {
  auto o = std::make_shared<driver::ProfileOptions>();
  auto dirs = std::make_shared<std::vector<std::string>>();
  CLI::App* cmd = app.add_subcommand("profile", "cycles, bytes and utilisation by ONNX operator");
  cmd->add_option("OUT", o->out, "folder made by compile")->required();
  cmd->add_flag("--json", o->json, "JSON instead of text");
  cmd->add_option("--trace", o->trace, "write a trace that Perfetto opens");
  cmd->add_option("--target-dir", *dirs, "folder of target packages")->allow_extra_args(false);
  cmd->callback([o, dirs, &context] {
    o->target_dirs = target_search(*dirs);
    context.finish(o->out.string(), driver::profile(*o));
  });
}

namespace {

void add_explain(CLI::App& app, Context& context) {
  auto out = std::make_shared<std::string>();
  auto node = std::make_shared<std::string>();
  CLI::App* cmd = app.add_subcommand("explain", "where each ONNX node runs, and why not elsewhere");
  cmd->add_option("OUT", *out, "folder made by compile")->required();
  cmd->add_option("--node", *node, "one node, by name, output or id: with every rule tried");
  cmd->callback([out, node, &context] {
    context.finish(*out, driver::explain(*out, node->empty() ? std::nullopt : std::optional<std::string>(*node)));
  });
}

void add_map(CLI::App& app, Context& context) {
  auto out = std::make_shared<std::string>();
  auto q = std::make_shared<driver::MapQuery>();
  CLI::App* cmd = app.add_subcommand("map", "follow the ID map in both directions");
  cmd->add_option("OUT", *out, "folder made by compile")->required();
  auto* group = cmd->add_option_group("query");
  group->add_option("--node", q->node, "an ONNX node's name, output or id");
  group->add_option("--expr", q->expression, "an expression id");
  group->add_option("--instruction", q->instruction, "REGION:N or REGION:SECTION:N");
  group->add_option("--line", q->line, "FILE:N");
  group->require_option(1);
  cmd->callback([out, q, &context] { context.finish(*out, driver::map(*out, *q)); });
}

void add_inspect(CLI::App& app, Context& context) {
  auto a = std::make_shared<CompileArguments>();
  CLI::App* cmd = app.add_subcommand("inspect", "graph, shapes, operators, parameters, MACs");
  add_model_options(*cmd, *a);
  cmd->callback([a, &context] {
    auto options = checked(*a);
    if (!options.ok()) return context.fail("mrvlc", options.error());
    Diagnostics diagnostics;
    auto text = driver::inspect(*options, diagnostics);
    print_diagnostics(a->model, diagnostics, context.messages);
    if (text) return context.finish(a->model, *text);
    context.exit_code = diagnostics.exit_code();
  });
}

}  // namespace

void add_queries(CLI::App& app, Context& context) {
  add_explain(app, context);
  add_map(app, context);
  add_inspect(app, context);
  auto file = std::make_shared<std::string>();
  CLI::App* disasm = app.add_subcommand("disasm", "readable instructions of a model binary");
  disasm->add_option("FILE", *file, "NAME.regionK.mrvl")->required();
  disasm->callback([file, &context] { context.finish(*file, driver::disasm(*file)); });
  auto json = std::make_shared<bool>(false);
  auto markdown = std::make_shared<bool>(false);
  CLI::App* ops = app.add_subcommand("ops", "the operator table");
  auto* json_flag = ops->add_flag("--json", *json, "as JSON");
  ops->add_flag("--markdown", *markdown, "as a Markdown table")->excludes(json_flag);
  ops->callback([json, markdown, &context] {
    auto format = *json ? driver::OpsFormat::Json : *markdown ? driver::OpsFormat::Markdown : driver::OpsFormat::Text;
    context.finish("mrvlc", driver::ops_table(format));
  });
}

}  // namespace mrvlc::app
