// `mrvlc prove` on the command line.
#include "mrvlc/driver/prove.h"

#include "commands.h"
#include "compile_options.h"

namespace mrvlc::app {

void add_prove(CLI::App& app, Context& context) {
  auto o = std::make_shared<driver::ProveOptions>();
  auto dirs = std::make_shared<std::vector<std::filesystem::path>>();
  CLI::App* cmd =
      app.add_subcommand("prove", "whether the binaries of a compile compute its model, for all inputs");
  cmd->add_option("OUT", o->out, "folder made by compile")->required()->type_name("");
  cmd->add_option("MODEL", o->model,
                  "its ONNX file; by default looked for in OUT, beside it and in the current folder")
      ->type_name("");
  cmd->add_option("--model", o->model, "the same as MODEL")->type_name("FILE")->check(not_empty());
  CLI::Option* output =
      cmd->add_option("-o,--output", o->certificate, "the certificate, OUT/certificate.json by default")
          ->type_name("FILE")
          ->check(not_empty());
  cmd->add_option("--check", o->check, "prove again what this certificate says, and compare")
      ->type_name("CERTIFICATE")
      ->check(not_empty())
      ->excludes(output);
  cmd->add_option("--seed", o->seed,
                  "text that prime and keys follow from, instead of the hashes of model and OUT")
      ->type_name("TEXT");
  cmd->add_flag("--json", o->json, "the certificate instead of text");
  cmd->add_option("--target-dir", *dirs, "folder of target packages (repeatable)")
      ->type_name("DIR")
      ->allow_extra_args(false);
  cmd->callback([o, dirs, &context] {
    auto search = target_search(*dirs);
    if (!search.ok()) return context.fail("mrvlc", search.error());
    o->target_dirs = *search;
    Diagnostics diagnostics;
    const auto text = driver::prove(*o, diagnostics);
    context.finish(o->out.string(), text, diagnostics);
  });
}

}  // namespace mrvlc::app
