// The subcommands `mrvlc rules` and `mrvlc targets`.
#include "mrvlc/driver/rules_targets.h"

#include "commands.h"
#include "compile_options.h"

namespace mrvlc::app {

void add_rules(CLI::App& app, Context& context) {
  CLI::App* rules = app.add_subcommand("rules", "placement rules: what is built in, checks of your own");
  rules->require_subcommand(1);
  rules->add_subcommand("list", "every built-in rule")->callback([&context] {
    context.finish("mrvlc", driver::rules_list());
  });
  auto name = std::make_shared<std::string>();
  CLI::App* show = rules->add_subcommand("show", "the text of one rule");
  show->add_option("NAME", *name)->required();
  show->callback([name, &context] { context.finish("mrvlc", driver::rules_show(*name)); });
  auto file = std::make_shared<std::string>();
  CLI::App* check = rules->add_subcommand("check", "check a rule file");
  check->add_option("FILE", *file)->required();
  check->callback([file, &context] {
    Diagnostics diagnostics = driver::rules_check(*file);
    print_diagnostics(*file, diagnostics, context.messages);
    context.exit_code = diagnostics.exit_code();
    if (context.exit_code == 0) context.finish(*file, std::string("no errors\n"));
  });
}

void add_targets(CLI::App& app, Context& context) {
  CLI::App* targets =
      app.add_subcommand("targets", "machine descriptions: what is built in, checks of your own");
  targets->require_subcommand(1);
  targets->add_subcommand("list", "every built-in target")->callback([&context] {
    context.finish("mrvlc", driver::targets_list());
  });
  auto name = std::make_shared<std::string>();
  auto dirs = std::make_shared<std::vector<std::string>>();
  CLI::App* show = targets->add_subcommand("show", "every number of a target, and where it is from");
  show->add_option("NAME", *name)->required();
  show->add_option("--target-dir", *dirs, "folder of target packages")->allow_extra_args(false);
  show->callback([name, dirs, &context] {
    auto search = target_search(*dirs);
    if (!search.ok()) return context.fail("mrvlc", search.error());
    context.finish("mrvlc", driver::targets_show(*name, *search));
  });
  auto dir = std::make_shared<std::string>();
  CLI::App* check = targets->add_subcommand("check", "check a target package");
  check->add_option("DIR", *dir, "folder that holds target.json")->required();
  check->callback([dir, &context] { context.finish(*dir, driver::targets_check(*dir)); });
}

}  // namespace mrvlc::app
