// The subcommands `mrvlc rules` and `mrvlc targets`.
#include "mrvlc/driver/rules_targets.h"

#include "commands.h"
#include "compile_options.h"
#include "mrvlc/support/file.h"

namespace mrvlc::app {

namespace {

// What the commands about rules take.
struct RulesArguments {
  std::vector<std::string> rules, models;
  std::vector<std::filesystem::path> target_dirs;
  std::string target = backends::kDefaultTarget, file;
  bool no_default_rules = false, write = false;

  Result<driver::CompileOptions> options() const {
    driver::CompileOptions o;
    o.rules.assign(rules.begin(), rules.end());
    o.default_rules = !no_default_rules;
    o.targets = {target};
    MRVLC_ASSIGN(o.target_dirs, target_search(target_dirs));
    return o;
  }
};
using Arguments = std::shared_ptr<RulesArguments>;

void add_rules_options(CLI::App& cmd, RulesArguments& a) {
  cmd.add_option("--rules", a.rules, "file of rules that is read as well (repeatable)")
      ->allow_extra_args(false);
  cmd.add_flag("--no-default-rules", a.no_default_rules, "without the built-in rules");
  cmd.add_option("--target", a.target, "whose rules, and whose numbers");
  cmd.add_option("--target-dir", a.target_dirs, "folder of target packages")->allow_extra_args(false);
}

// Calls run(options), or says why there are none.
template <class Run>
void with_options(const Arguments& a, Context& context, Run run) {
  auto options = a->options();
  if (!options.ok()) return context.fail("mrvlc", options.error());
  run(*std::move(options));
}

void report_check(const RulesArguments& a, const Diagnostics& diagnostics, Context& context) {
  MessageOptions messages = context.messages;
  messages.verbose = true;  // notes are what one checks for
  print_diagnostics(a.file, diagnostics, messages);
  context.exit_code = diagnostics.exit_code();
  if (context.exit_code == 0) context.finish(a.file, std::string("no errors\n"));
}

void report_trials(const std::string& file, const std::optional<std::string>& text,
                   const Diagnostics& diagnostics, Context& context) {
  print_diagnostics(file, diagnostics, context.messages);
  context.exit_code = diagnostics.exit_code();
  if (text && context.exit_code == 0) context.finish(file, *text);
}

void add_rules_queries(CLI::App& rules, Context& context) {
  auto listed = std::make_shared<RulesArguments>(), shown = std::make_shared<RulesArguments>(),
       checked = std::make_shared<RulesArguments>();
  CLI::App* list = rules.add_subcommand("list", "every rule, in the order in which they decide");
  add_rules_options(*list, *listed);
  list->callback([listed, &context] {
    with_options(listed, context,
                 [&](const auto& options) { context.finish("mrvlc", driver::rules_list(options)); });
  });
  CLI::App* show = rules.add_subcommand("show", "the text of one rule");
  show->add_option("NAME", shown->file)->required();
  add_rules_options(*show, *shown);
  show->callback([shown, &context] {
    with_options(shown, context, [&](const auto& options) {
      context.finish("mrvlc", driver::rules_show(options, shown->file));
    });
  });
  CLI::App* check = rules.add_subcommand("check", "check a rule file");
  check->add_option("FILE", checked->file)->required();
  add_rules_options(*check, *checked);
  check->callback([checked, &context] {
    with_options(checked, context, [&](const auto& options) {
      report_check(*checked, driver::rules_check(options, checked->file), context);
    });
  });
}

void add_rules_trials(CLI::App& rules, Context& context) {
  auto tried = std::make_shared<RulesArguments>(), covered = std::make_shared<RulesArguments>();
  CLI::App* attempt = rules.add_subcommand("try", "how far each rule of a file comes on a model");
  attempt->add_option("FILE", tried->file)->required();
  attempt->add_option("MODEL", tried->models)->required()->expected(1);
  add_rules_options(*attempt, *tried);
  attempt->callback([tried, &context] {
    with_options(tried, context, [&](driver::CompileOptions options) {
      options.rules.insert(options.rules.begin(), tried->file);
      options.model = tried->models.front();
      Diagnostics diagnostics;
      auto text = driver::rules_try(options, diagnostics);
      report_trials(tried->file, text, diagnostics, context);
    });
  });
  CLI::App* coverage = rules.add_subcommand("coverage", "how often the rules of a file match on models");
  coverage->add_option("FILE", covered->file)->required();
  coverage->add_option("MODEL", covered->models)->required();
  add_rules_options(*coverage, *covered);
  coverage->callback([covered, &context] {
    with_options(covered, context, [&](driver::CompileOptions options) {
      options.rules.insert(options.rules.begin(), covered->file);
      Diagnostics diagnostics;
      auto text =
          driver::rules_coverage(options, {covered->models.begin(), covered->models.end()}, diagnostics);
      report_trials(covered->file, text, diagnostics, context);
    });
  });
}

void add_rules_format(CLI::App& rules, Context& context) {
  auto a = std::make_shared<RulesArguments>();
  CLI::App* format = rules.add_subcommand("format", "a rule file with its lines and blanks in order");
  format->add_option("FILE", a->file)->required();
  format->add_flag("--write", a->write, "into the file, instead of standard output");
  format->callback([a, &context] {
    auto text = driver::rules_format(a->file);
    if (!text.ok() || !a->write) return context.finish(a->file, text);
    const Status written = write_file_atomic(a->file, *text);
    if (!written.ok()) context.fail(a->file, written.error());
  });
}

}  // namespace

void add_rules(CLI::App& app, Context& context) {
  CLI::App* rules =
      app.add_subcommand("rules", "placement rules: what is built in, checks and trials of your own");
  rules->require_subcommand(1);
  add_rules_queries(*rules, context);
  add_rules_trials(*rules, context);
  add_rules_format(*rules, context);
}

namespace {

struct TargetsArguments {
  std::string name, kind = "variant", base = backends::kDefaultTarget, in = ".";
  std::vector<std::filesystem::path> dirs;
  bool json = false;
  driver::PackageCompiler compiler;
};

// A subcommand that searches packages, as run(arguments, folders) says.
template <class Run>
CLI::App* add_targets_command(CLI::App& targets, Context& context, const char* name, const char* description,
                              const std::shared_ptr<TargetsArguments>& a, Run run) {
  CLI::App* cmd = targets.add_subcommand(name, description);
  cmd->add_option("--target-dir", a->dirs, "folder of target packages (repeatable; also $MRVLC_TARGET_PATH)")
      ->type_name("DIR")
      ->allow_extra_args(false);
  cmd->callback([a, run, &context] {
    auto search = target_search(a->dirs);
    if (!search.ok()) return context.fail("mrvlc", search.error());
    run(*a, *search);
  });
  return cmd;
}

void add_targets_new(CLI::App& targets, Context& context) {
  auto a = std::make_shared<TargetsArguments>();
  CLI::App* cmd = add_targets_command(
      targets, context, "new", "the folder of a new package, to be edited", a,
      [&context](const TargetsArguments& made, const auto& search) {
        const auto kind = made.kind == "call"     ? driver::NewTarget::Kind::Call
                          : made.kind == "plugin" ? driver::NewTarget::Kind::Plugin
                                                  : driver::NewTarget::Kind::Variant;
        context.finish("mrvlc", driver::targets_new({kind, made.name, made.base, made.in}, search));
      });
  cmd->add_option("NAME", a->name, "of the target, and of its folder")->required()->type_name("");
  cmd->add_option("--kind", a->kind,
                  "what it is: a variant has the code generator of another target and other numbers; call: a "
                  "library of C functions; plugin: an accelerator behind a shared library")
      ->check(CLI::IsMember({"variant", "call", "plugin"}).description(""))
      ->type_name("variant|call|plugin")
      ->capture_default_str();
  cmd->add_option("--extends", a->base, "the target it is a variant of")
      ->type_name("T")
      ->capture_default_str();
  cmd->add_option("-o,--out", a->in, "where the folder is made")->type_name("DIR")->capture_default_str();
}

}  // namespace

void add_targets(CLI::App& app, Context& context) {
  CLI::App* targets = app.add_subcommand(
      "targets", "machine descriptions: what is built in and in folders, checks of your own");
  targets->require_subcommand(1);
  auto listed = std::make_shared<TargetsArguments>();
  add_targets_command(*targets, context, "list", "every target there is", listed,
                      [&context](const TargetsArguments& a, const auto& search) {
                        context.finish("mrvlc", driver::targets_list(search, a.json));
                      })
      ->add_flag("--json", listed->json, "JSON instead of text");
  auto shown = std::make_shared<TargetsArguments>(), checked = std::make_shared<TargetsArguments>();
  CLI::App* show =
      add_targets_command(*targets, context, "show", "every number of a target, and where it is from", shown,
                          [&context](const TargetsArguments& a, const auto& search) {
                            context.finish("mrvlc", driver::targets_show(a.name, search, a.json));
                          });
  show->add_option("NAME", shown->name)->required();
  show->add_flag("--json", shown->json, "JSON instead of text");
  CLI::App* check = add_targets_command(*targets, context, "check", "check a target package", checked,
                                        [&context](const TargetsArguments& a, const auto& search) {
                                          Diagnostics warnings;
                                          const auto result =
                                              driver::targets_check(a.name, search, a.compiler, warnings);
                                          print_diagnostics(a.name, warnings, context.messages);
                                          context.finish(a.name, result);
                                        });
  check->add_option("DIR", checked->name, "folder that holds target.json")->required();
  check->add_option("--cc", checked->compiler.cc, "C compiler of a library's sources ($CC, or cc)");
  check->add_option("--cflags", checked->compiler.cflags, "its flags, behind all others ($CFLAGS)");
  add_targets_new(*targets, context);
}

}  // namespace mrvlc::app
