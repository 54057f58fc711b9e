// What is wrong with a command line, with the nearest name there is; help, man page, shell completion.
#include "usage.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <sstream>

#include "command_table.h"
#include "mrvlc/driver/option_table.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/nearest.h"

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

std::vector<std::string> names_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* sub :
       command.get_subcommands([](const CLI::App* s) { return !s->get_name().empty(); }))
    names.push_back(sub->get_name());
  return names;
}

std::string command_names(const CLI::App& command) {
  return CLI::detail::join(names_of(command), ", ");
}

// Every option that may stand behind the command: its own, those of its groups and of all commands above.
std::vector<std::string> option_names(const std::vector<const CLI::App*>& path) {
  std::vector<std::string> names;
  auto add = [&](const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
      for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    }
  };
  for (const CLI::App* app : path) {
    add(*app);
    for (const CLI::App* group :
         app->get_subcommands([](const CLI::App* s) { return s->get_name().empty(); }))
      add(*group);
  }
  return names;
}

std::string suggestion(const std::string& word, const std::vector<std::string>& names) {
  return did_you_mean(word, std::vector<std::string_view>(names.begin(), names.end()));
}

std::string unknown_option(const std::string& argument, const std::vector<const CLI::App*>& path) {
  const std::string name = argument.substr(0, argument.find('='));
  return "unknown option '" + printable(argument) + "'" + suggestion(name, option_names(path));
}

std::string no_command(const std::string& word, const CLI::App& command) {
  return "there is no command '" + printable(word) + "'" + suggestion(word, names_of(command)) +
         "; commands are " + command_names(command);
}

// "ir,disasm": the words.
std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) words.push_back(word);
  return words;
}

// What the parser says of a value, in our words: "--tiles: Value 3x not in range 1 to 8" and
// "--emit: disam not in {ir,disasm}".
std::string of_value(const std::string& said) {
  static const re2::RE2 range(R"((?s)([^ ]+): Value (.*) not in range (\S+) to (\S+))", re2::RE2::Latin1);
  static const re2::RE2 words(R"((?s)([^ ]+): (.*) not in \{([^}]*)\})", re2::RE2::Latin1);
  std::string option, value, low, high;
  if (re2::RE2::FullMatch(said, range, &option, &value, &low, &high)) {
    const bool bounded = high != std::to_string(INT64_MAX) && high != std::to_string(UINT64_MAX);
    return fmt::format("{}: '{}' is no number from {}{}", option, printable(value), low,
                       bounded ? " to " + high : "");
  }
  std::string choices;
  if (re2::RE2::FullMatch(said, words, &option, &value, &choices)) {
    const std::vector<std::string> known = listed(choices);
    return fmt::format("{}: '{}' is none of {}{}", option, printable(value), CLI::detail::join(known, ", "),
                       suggestion(value, known));
  }
  return said;
}

std::string explanation(const CLI::App& app, const CLI::App& command, const CLI::ParseError& error) {
  std::vector<std::string> extra = app.remaining(true);
  if (extra.empty()) extra = command.remaining();
  bool unknown = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (!extra.empty() && extra[0].starts_with("-") && extra[0].size() > 1) {
    return unknown_option(extra[0], command_path(app));
  }
  if (command.get_require_subcommand_min() > 0) {
    return extra.empty() ? "a command is required; commands are " + command_names(command)
                         : no_command(extra[0], command);
  }
  if (unknown && !extra.empty()) {
    const std::string &word = extra[0], &name = command.get_name();
    return "unexpected argument '" + printable(word) + "'" +
           (word.starts_with('@') ? "; there is no file '" + printable(word.substr(1)) + "' of options"
            : name == "compile"   ? "; one MODEL is compiled, 'mrvlc batch' takes several"
            : name == "run"       ? "; values are given as --input NAME=FILE.npy"
                                  : "");
  }
  return of_value(printable(error.what(), 1000));
}

}  // namespace

namespace {

// The command of these words, or what is wrong with them; `above` becomes the names in front of it.
Result<const CLI::App*> find_command(const CLI::App& app, const std::vector<std::string>& words,
                                     std::string& above) {
  const CLI::App* at = &app;
  for (const std::string& word : words) {
    const std::vector<std::string> names = names_of(*at);
    if (names.empty()) return make_diag<DiagCode::MRV0004>("'" + at->get_name() + "' has no commands");
    if (std::ranges::find(names, word) == names.end())
      return make_diag<DiagCode::MRV0004>(no_command(word, *at));
    above += (above.empty() ? "" : " ") + at->get_name();
    at = at->get_subcommand(word);
  }
  return at;
}

}  // namespace

void add_help(CLI::App& app, Context& context) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto man = std::make_shared<bool>(false);
  CLI::App* cmd = app.add_subcommand("help", "the options of a command: mrvlc help compile");
  cmd->add_option("COMMAND", *words, "the command, 'rules check' for one of several words")->type_name("");
  cmd->add_flag("--man", *man, "all commands as a man page, in troff");
  auto markdown = std::make_shared<bool>(false);
  cmd->add_flag("--markdown", *markdown,
                "the options of compile and its kin, as docs/command-line.md has them");
  cmd->callback([&app, words, man, markdown, &context] {
    if (*man) return context.finish("mrvlc", man_page(command_table(app)));
    if (*markdown) return context.finish("mrvlc", driver::options_markdown());
    std::string above, all;
    for (const std::string& given : *words) all += given + " ";  // "rules check" may come as one word
    const auto command = find_command(app, CLI::detail::split_up(all), above);
    if (!command.ok()) return context.fail("mrvlc help", command.error());
    // Of the whole program help() would go on to the command that was given, which is this one.
    if (*command != &app) return context.finish("mrvlc", (*command)->help(above));
    context.finish("mrvlc", app.get_formatter()->make_help(&app, "mrvlc", CLI::AppFormatMode::Normal));
  });
}

void add_completion(CLI::App& app, Context& context) {
  auto shell = std::make_shared<std::string>();
  CLI::App* cmd = app.add_subcommand("completion", "completion of commands and options for a shell");
  cmd->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->type_name("")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""));
  cmd->callback([&app, shell, &context] {
    const auto table = command_table(app);
    context.finish("mrvlc", *shell == "bash"  ? bash_completion(table)
                            : *shell == "zsh" ? zsh_completion(table)
                                              : fish_completion(table));
  });
}

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
