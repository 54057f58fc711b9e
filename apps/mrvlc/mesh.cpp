// `mrvlc mesh` on the command line.
#include "mrvlc/driver/mesh.h"

#include "commands.h"

namespace mrvlc::app {

void add_mesh(CLI::App& app, Context& context) {
  CLI::App* mesh =
      app.add_subcommand("mesh", "meshes of processing elements: machines, and proofs about an OUT for one");
  mesh->require_subcommand(1);
  mesh->add_subcommand("list", "every machine that is built in")->callback([&context] {
    context.finish("mrvlc", driver::mesh_list());
  });
  auto name = std::make_shared<std::string>(), out = std::make_shared<std::string>();
  CLI::App* show = mesh->add_subcommand("show", "a machine as JSON, with the source of every number");
  show->add_option("NAME", *name)->required();
  show->callback([name, &context] { context.finish("mrvlc", driver::mesh_show(*name)); });
  CLI::App* check =
      mesh->add_subcommand("check", "whether the program in OUT always ends, from its files alone");
  check->add_option("OUT", *out, "folder made by compile for a mesh")->required();
  check->callback([out, &context] {
    Diagnostics diagnostics;
    const auto text = driver::mesh_check(*out, diagnostics);
    context.finish(*out, text, diagnostics);
  });
}

}  // namespace mrvlc::app
