// `mrvlc diff` on the command line.
#include "commands.h"
#include "compile_options.h"

namespace mrvlc::app {

void add_diff(CLI::App& app, Context& context) {
  auto o = std::make_shared<driver::DiffOptions>();
  auto file = std::make_shared<std::string>();
  auto dirs = std::make_shared<std::vector<std::filesystem::path>>();
  CLI::App* cmd = app.add_subcommand("diff", "what differs between two compiles, and why");
  cmd->add_option("OUT_A", o->a, "folder made by compile, the earlier one")->required()->type_name("");
  cmd->add_option("OUT_B", o->b, "folder made by compile, the later one")->required()->type_name("");
  CLI::Option* json = cmd->add_flag("--json", o->json, "JSON instead of text");
  cmd->add_flag("--html", o->html, "a page instead of text")->excludes(json);
  cmd->add_option("-o,--output", *file, "file to write instead of stdout")
      ->type_name("FILE")
      ->check(not_empty());
  cmd->add_option("--tolerance", o->tolerance,
                  "exit with code 5 when a number of OUT_B is worse by more than this share, e.g. 2%")
      ->type_name("SHARE")
      ->transform(share_check());
  cmd->add_option("--target-dir", *dirs, "folder of target packages (repeatable)")
      ->type_name("DIR")
      ->allow_extra_args(false);
  cmd->callback([o, dirs, file, &context] {
    auto search = target_search(*dirs);
    if (!search.ok()) return context.fail("mrvlc", search.error());
    o->target_dirs = *search;
    Diagnostics diagnostics;
    const auto text = driver::diff(*o, diagnostics);
    if (text.ok() && !file->empty())
      context.write(*file, *text);
    else
      context.finish(o->b.string(), text);
    print_diagnostics(o->b.string(), diagnostics, context.messages);
    if (context.exit_code == 0) context.exit_code = diagnostics.exit_code();
  });
}

}  // namespace mrvlc::app
