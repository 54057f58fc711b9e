#include "usage.h"

#include <sstream>

#include "mrvlc/support/diag/general.h"

namespace mrvlc::app {
namespace {

// The command that was being read, "mrvlc rules show", in its parts.
std::vector<const CLI::App*> command_path(const CLI::App& app) {
  std::vector<const CLI::App*> path = {&app};
  for (;;) {
    const CLI::App* next = nullptr;
    for (const CLI::App* sub : path.back()->get_subcommands()) {
      if (!sub->get_name().empty()) next = sub;  // groups of options have no name
    }
    if (next == nullptr) return path;
    path.push_back(next);
  }
}

std::string command_names(const CLI::App& command) {
  std::string names;
  for (const CLI::App* sub :
       command.get_subcommands([](const CLI::App* s) { return !s->get_name().empty(); })) {
    names += (names.empty() ? "" : ", ") + sub->get_name();
  }
  return names;
}

std::string explanation(const CLI::App& app, const CLI::App& command, const CLI::ParseError& error) {
  std::vector<std::string> extra = app.remaining(true);
  if (extra.empty()) extra = command.remaining();
  bool unknown = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (!extra.empty() && extra[0].starts_with("-") && extra[0].size() > 1) {
    return "unknown option '" + printable(extra[0]) + "'";
  }
  if (command.get_require_subcommand_min() > 0) {
    return (extra.empty() ? "a command is required" : "there is no command '" + printable(extra[0]) + "'") +
           "; commands are " + command_names(command);
  }
  if (unknown && !extra.empty()) return "unexpected argument '" + printable(extra[0]) + "'";
  return printable(error.what(), 1000);
}

}  // namespace

void report(const CLI::App& app, const CLI::ParseError& error, Context& context) {
  if (error.get_exit_code() == 0) {
    std::ostringstream out, err;
    app.exit(error, out, err);
    return context.finish("mrvlc", out.str());
  }
  std::string name;
  auto path = command_path(app);
  for (const CLI::App* part : path) name += (name.empty() ? "" : " ") + part->get_name();
  context.fail(name, make_diag<DiagCode::MRV0004>(explanation(app, *path.back(), error) + "; see '" + name +
                                                  " --help'"));
}

}  // namespace mrvlc::app
