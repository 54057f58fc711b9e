// Options of compile, run, profile, explain, map, inspect, disasm and ops, and what each calls and prints.
#include "commands.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <span>

#include "compile_options.h"
#include "mrvlc/driver/last_compile.h"
#include "mrvlc/support/codes.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/printable.h"

namespace mrvlc::app {

void Context::fail(const std::string& file, const Diag& diag) {
  print_error(file, diag, messages);
  exit_code = static_cast<int>(diag.exit_class());
}

void Context::finish(const std::string& file, const Result<std::string>& result) {
  if (!result.ok()) return fail(file, result.error());
  print(*result);
  check_stdout(file);
}

void Context::finish(const std::string& file, const Result<std::string>& result,
                     const Diagnostics& diagnostics) {
  finish(file, result);
  print_diagnostics(file, diagnostics, messages);
  if (exit_code == 0) exit_code = diagnostics.exit_code();
}

void Context::print(const std::string& text) {
  // Names in it come from models and files: none may steer the terminal.
  const std::string shown = printable_lines(text);
  // check_stdout() tells by errno why a write failed; what earlier calls left in it is no answer.
  errno = 0;
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) == shown.size()) errno = 0;
}

void Context::write(const std::string& file, const std::string& text) {
  const Status written = write_file_atomic(file, text);
  if (!written.ok()) fail(file, written.error());
}

void Context::check_stdout(const std::string& file) {
  // A full disk or a closed pipe must not look like success. Who closes a pipe has seen enough, `head` say:
  // that ends other programs without a word, with the code of SIGPIPE.
  constexpr int kClosedPipe = 128 + SIGPIPE;
  bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return;
  if (errno == EPIPE) {
    exit_code = kClosedPipe;
    return;
  }
  fail(file, make_diag<DiagCode::MRV0002>("stdout", errno == 0 ? "short write" : std::strerror(errno)));
}

bool Context::shows_progress() const {
  return ::isatty(STDERR_FILENO) != 0 && messages.format == "text" && !messages.quiet;
}

void add_compile(CLI::App& app, Context& context) {
  auto a = std::make_shared<CompileArguments>();
  CLI::App* cmd = app.add_subcommand("compile", "compile a model to a binary, a host stub and an ID map");
  add_model_and_options(*cmd, driver::command::kCompile, *a);
  add_compile_examples(*cmd);
  cmd->callback([a, cmd, &context] {
    auto options = checked(*cmd, *a, context.messages);
    if (!options.ok()) return context.fail("mrvlc", options.error());
    Diagnostics diagnostics;
    options->sources = context.sources;
    // The compiler: another one may write another OUT.
    std::error_code ec;
    auto self = std::filesystem::read_symlink("/proc/self/exe", ec);
    if (std::filesystem::exists(self, ec)) options->sources.files.push_back(std::move(self));
    if (context.shows_progress()) options->quantize_progress = show_progress;
    std::vector<std::string> summary;
    bool ok = driver::compile_last(
        *options, diagnostics, [&](const std::string& text) { context.print(text); }, &summary);
    print_diagnostics(a->model, diagnostics, context.messages);
    context.exit_code = ok ? 0 : diagnostics.exit_code();
    errno = 0;
    if ((!options->dump_ir.empty() || !options->accelerator.stages.empty() || options->frontier) && ok)
      context.check_stdout(a->model);
    if (context.exit_code == 0) print_progress(a->model, summary, context.messages);
  });
}

void add_made_sets(CLI::App& cmd, std::vector<std::string>& sets, std::vector<uint32_t>& seeds) {
  cmd.add_option("--sets", sets,
                 "inputs when there is no --data: uniform, normal, large, tiny, zeros, negative, constant, "
                 "mask-open, "
                 "mask-shut, mask-mixed, lowest, highest, or all; by default as many as a budget allows "
                 "(docs/verify.md)")
      ->delimiter(',')
      ->type_name("SET,...")
      ->allow_extra_args(false);
  cmd.add_option("--seed", seeds, "of these inputs: of normal ones all, of others the first (1,2,3)")
      ->delimiter(',')
      ->type_name("N,...")
      ->allow_extra_args(false);
}

void add_program_options(CLI::App& cmd, driver::RunOptions& o) {
  o.timeout = 3600;
  cmd.add_option("--timeout", o.timeout,
                 "what the program, and ONNX Runtime, may take for one set of inputs, in seconds (3600; also "
                 "10m, 12h)")
      ->type_name("SECONDS")
      ->transform(duration_check());
  cmd.add_option("--cc", o.cc, "C compiler; of --on: for the other machine ($CC or cc)");
  cmd.add_option("--cflags", o.cflags, "its flags, behind all others (-O2)");
}

void add_remote_options(CLI::App& cmd, driver::RunOptions& o) {
  CLI::Option* on = cmd.add_option("--on", o.on,
                                   "another machine, by ssh: --cc compiles here for it, or its cc there "
                                   "(docs/remote.md)")
                        ->type_name("ssh://[USER@]HOST[:PORT]")
                        ->check(not_empty());
  cmd.add_option("--ssh-config", o.ssh_config, "of --on: file of options for ssh (its -F)")
      ->type_name("FILE")
      ->needs(on);
  o.said = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); };
  cmd.add_option("--device-lib", o.device_lib,
                 "of --on: library for that machine that is linked in the place of libmrvl_simdev.so")
      ->type_name("FILE")
      ->needs(on);
}

namespace {

void add_measuring_options(CLI::App& cmd, driver::ProfileOptions& o) {
  cmd.add_flag("--measure", o.measure, "run the program on this machine, and measure its steps")
      ->excludes("--on");
  cmd.add_option("--html", o.html, "write report.html with the measured times in it")
      ->type_name("FILE")
      ->check(not_empty());
  cmd.add_option("--bench", o.run.bench, "runs to measure (20)")
      ->check(CLI::Range(1, 1000000).description(""));
  cmd.add_option("--cc", o.run.cc, "C compiler; of --on: for the other machine ($CC or cc)");
  cmd.add_option("--cflags", o.run.cflags, "its flags (-O2)");
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  auto o = std::make_shared<driver::RunOptions>();
  auto inputs = std::make_shared<std::vector<std::string>>();
  auto dirs = std::make_shared<std::vector<std::filesystem::path>>();
  CLI::App* cmd = app.add_subcommand("run", "build the host stub and run it against the simulator");
  cmd->add_option("OUT", o->out, "folder made by compile")->required()->type_name("");
  cmd->add_option("--input", *inputs, "NAME=FILE: .npy, .json or .pb, see docs/values.md (repeatable)")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  cmd->add_option(
         "--output-dir", o->output_dir,
         "folder for <output>.npy; .json for strings, sequences and optionals; without it outputs are "
         "printed, of large ones the range")
      ->type_name("DIR")
      ->check(not_empty());
  cmd->add_option("--dump", o->dump,
                  "of an OUT that was compiled with --trace-values: folder for every value in memory, as "
                  "mrvlc compare reads it")
      ->type_name("DIR")
      ->check(not_empty());
  cmd->add_flag("--repeat-axis0", o->repeat_axis0,
                "run once for each slice of the inputs' leading dimension, stack the outputs");
  cmd->add_option("--bench", o->bench, "time this many runs")->check(CLI::Range(1, 1000000).description(""));
  cmd->add_option("-j", o->jobs,
                  "threads of the simulator, one for each processor by default; outputs do not depend on it")
      ->type_name("N");
  cmd->add_option("--ranks", o->ranks,
                  "of a mesh: processes that its elements are shared out to, in one here (1)")
      ->check(CLI::Range(1, 65536).description(""))
      ->type_name("N");
  cmd->add_option("--order", o->order,
                  "of a mesh: seed of a random order in which messages come (as they are sent)")
      ->type_name("SEED");
  cmd->add_option("--cc", o->cc, "C compiler ($CC, or cc)");
  cmd->add_option("--cflags", o->cflags, "its flags (-O2)");
  add_remote_options(*cmd, *o);
  cmd->add_option("--target-dir", *dirs, "folder of target packages (repeatable)")
      ->type_name("DIR")
      ->allow_extra_args(false);
  cmd->callback([o, inputs, dirs, &context] {
    for (const std::string& text : *inputs) {
      size_t eq = text.find('=');
      if (eq == std::string::npos || eq == 0 || eq + 1 == text.size()) {
        return context.fail("mrvlc", make_diag<DiagCode::MRV0004>("--input takes NAME=FILE.npy, not '" +
                                                                  printable(text) + "'"));
      }
    }
    o->bindings = *inputs;
    auto search = target_search(*dirs);
    if (!search.ok()) return context.fail("mrvlc", search.error());
    o->target_dirs = *search;
    context.finish(o->out.string(), driver::run(*o));
  });
}

void add_profile(CLI::App& app, Context& context) {
  auto o = std::make_shared<driver::ProfileOptions>();
  auto dirs = std::make_shared<std::vector<std::filesystem::path>>();
  auto by = std::make_shared<std::string>();
  CLI::App* cmd = app.add_subcommand("profile", "cycles, bytes and utilisation by ONNX operator");
  cmd->add_option("OUT", o->out, "folder made by compile")->required()->type_name("");
  cmd->add_flag("--json", o->json, "JSON instead of text");
  cmd->add_option("--trace", o->trace, "write a trace that Perfetto opens");
  cmd->add_option("--by", *by, "what is summed up: layer, or module (of the exported program, docs/idmap.md)")
      ->check(CLI::IsMember({"layer", "module"}))
      ->type_name("WHAT");
  cmd->add_option("--depth", o->depth, "with --by module: parts of a module's name, e.g. 1 for layer1")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  add_remote_options(*cmd, o->run);
  add_measuring_options(*cmd, *o);
  cmd->add_option(
         "--what-if", o->what_if,
         "the same binary on a machine with other numbers, e.g. ddr_bytes=16,queue_depth=16; conservative: "
         "with all of the conservative column")
      ->type_name("FIELD=VALUE,...")
      ->check(not_empty())
      ->excludes("--by")
      ->excludes("--measure")
      ->excludes("--on");
  cmd->add_option("--target-dir", *dirs, "folder of target packages")->allow_extra_args(false);
  cmd->callback([cmd, o, dirs, by, &context] {
    o->by_module = *by == "module";
    if (o->depth != 0 && !o->by_module)
      return context.fail("mrvlc", make_diag<DiagCode::MRV0004>("--depth is for --by module"));
    for (const char* option : {"--html", "--bench", "--cc", "--cflags"})
      if (cmd->count(option) > 0 && !o->measure && o->run.on.empty())
        return context.fail("mrvlc", make_diag<DiagCode::MRV0004>(
                                         fmt::format("{} is for what is measured: give --measure (on this "
                                                     "machine), or --on ssh://HOST",
                                                     option)));
    auto search = target_search(*dirs);
    if (!search.ok()) return context.fail("mrvlc", search.error());
    o->target_dirs = o->run.target_dirs = *search;
    context.finish(o->out.string(), driver::profile(*o));
  });
}

namespace {

struct ExplainArguments {
  std::string out, node;
  bool codes = false, markdown = false, json = false;
};

void explain(const ExplainArguments& a, Context& context) {
  if (a.codes) return context.finish("mrvlc", a.markdown ? codes_markdown() : codes_list());
  if (a.out.empty())
    return context.fail("mrvlc explain",
                        make_diag<DiagCode::MRV0004>("OUT, or a code such as MRV0131, is required"));
  if (!as_code(a.out).empty() && a.node.empty())
    return context.finish("mrvlc explain", driver::explain_code(a.out, a.json));
  context.finish(a.out,
                 driver::explain(a.out, a.node.empty() ? std::nullopt : std::optional(a.node), a.json));
}

void add_explain(CLI::App& app, Context& context) {
  auto a = std::make_shared<ExplainArguments>();
  CLI::App* cmd = app.add_subcommand(
      "explain", "where each ONNX node runs, and why not elsewhere; or what a code as MRV0131 means");
  cmd->add_option("OUT", a->out, "folder made by compile, or the code of a message")->type_name("");
  cmd->add_option("--node", a->node, "one node, by name, output or id: with every rule tried");
  cmd->add_flag("--json", a->json, "JSON instead of text");
  CLI::Option* codes = cmd->add_flag("--codes", a->codes, "list every code of a message");
  cmd->add_flag("--markdown", a->markdown, "of --codes: all pages, as docs/codes.md has them")->needs(codes);
  cmd->callback([a, &context] { explain(*a, context); });
}

void add_map(CLI::App& app, Context& context) {
  auto outs = std::make_shared<std::vector<std::string>>();
  auto q = std::make_shared<driver::MapQuery>();
  auto merge = std::make_shared<bool>(false);
  CLI::App* cmd = app.add_subcommand("map", "follow the ID map in both directions");
  cmd->add_option("OUT", *outs, "folder made by compile; with --merge any number")->required()->type_name("");
  auto* group = cmd->add_option_group("query");
  group->add_option("--node", q->node, "an ONNX node's name, output or id");
  group->add_option("--expr", q->expression, "an expression id");
  group->add_option("--instruction", q->instruction, "REGION:N or REGION:SECTION:N");
  group->add_option("--line", q->line, "FILE:N");
  group->add_option("--symbol", q->symbol, "a C function of the stub");
  group->add_option("--layer", q->layer, "REGION:N");
  group->add_option("--region", q->region, "a region");
  group->add_flag("--merge", *merge, "the maps of several folders as one JSON document");
  group->require_option(1);
  cmd->add_flag("--json", q->json, "the part of idmap.json");
  cmd->callback([outs, q, merge, &context] {
    if (*merge) return context.finish("mrvlc", driver::merge_maps({outs->begin(), outs->end()}));
    if (outs->size() > 1)
      return context.fail("mrvlc",
                          make_diag<DiagCode::MRV0004>("map takes one folder; --merge takes several"));
    context.finish(outs->front(), driver::map(outs->front(), *q));
  });
}

void add_inspect(CLI::App& app, Context& context) {
  auto a = std::make_shared<CompileArguments>();
  CLI::App* cmd = app.add_subcommand("inspect",
                                     "graph, shapes, operators, parameters, MACs; of a folder the operators "
                                     "of its models, and which are missing");
  add_model_and_options(*cmd, driver::command::kOthers, *a);
  auto json = std::make_shared<bool>(false);
  cmd->add_flag("--json", *json, "JSON instead of text");
  cmd->callback([a, cmd, json, &context] {
    std::error_code none;
    if (std::filesystem::is_directory(a->model, none))
      return context.finish(a->model, driver::inspect_folder(a->model, *json));
    auto options = checked(*cmd, *a, context.messages);
    if (!options.ok()) return context.fail("mrvlc", options.error());
    Diagnostics diagnostics;
    auto text = driver::inspect(*options, diagnostics, *json);
    print_diagnostics(a->model, diagnostics, context.messages);
    if (text) context.finish(a->model, *text);
    if (diagnostics.has_errors()) context.exit_code = diagnostics.exit_code();
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
  auto header = std::make_shared<bool>(false);
  disasm->add_flag("--header", *header, "the metadata alone, checked; of any binary of this format");
  disasm->callback([file, header, &context] {
    if (!*header) return context.finish(*file, driver::disasm(*file));
    Diagnostics diagnostics;
    const auto text = driver::disasm_header(*file, diagnostics);
    if (text) context.finish(*file, *text);
    print_diagnostics(*file, diagnostics, context.messages);
    context.exit_code = diagnostics.exit_code();
  });
  auto json = std::make_shared<bool>(false);
  auto markdown = std::make_shared<bool>(false);
  CLI::App* ops = app.add_subcommand("ops", "the operator table");
  auto* json_flag = ops->add_flag("--json", *json, "as JSON");
  ops->add_flag("--markdown", *markdown, "as a Markdown table")->excludes(json_flag);
  ops->callback([json, markdown, &context] {
    auto format = *json       ? driver::OpsFormat::AsJson
                  : *markdown ? driver::OpsFormat::AsMarkdown
                              : driver::OpsFormat::AsText;
    context.finish("mrvlc", driver::ops_table(format));
  });
}

}  // namespace mrvlc::app
