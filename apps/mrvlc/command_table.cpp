// CLI11's tree of commands walked into a table; options of groups are those of the command around them.
#include "command_table.h"

#include <algorithm>

#include "mrvlc/support/characters.h"
#include "mrvlc/target/find.h"

namespace mrvlc::app {
namespace {

bool is_command(const CLI::App* app) {
  return !app->get_name().empty();  // groups of options have no name
}

bool is_word(const std::string& text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-'; });
}

// "KIND:{ir,disasm}" of a check, "greedy|cost" of the argument's own name. Others know their words elsewhere.
std::vector<std::string> words_of(const CLI::Option& option) {
  const std::string name = option.get_name(), type = option.get_type_name();
  if (name == "--precision") return {"fp16", "int8", "auto"};
  if (name == "--on-device-error") return {"error", "retry", "cpu", "retry,cpu"};
  std::vector<std::string> words;
  if (name == "--target") {
    words = {"host"};
    for (const target::Package& package : target::packages({})) words.push_back(package.name);
    return words;
  }
  const size_t open = type.find('{'), close = type.rfind('}');
  if (open != std::string::npos && close != std::string::npos)
    words = CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
  else if (type.find('|') != std::string::npos)
    words = CLI::detail::split(type, '|');
  return std::ranges::all_of(words, is_word) ? words : std::vector<std::string>();
}

void add_options(const CLI::App& app, CommandEntry& entry) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      entry.operands.push_back(option->get_name(true));
      continue;
    }
    OptionEntry o;
    for (const std::string& name : option->get_snames()) o.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) o.names.push_back("--" + name);
    // A flag expects no item.
    if (option->get_items_expected_max() > 0)
      o.argument = option->get_type_name().empty() ? "TEXT" : option->get_type_name();
    if (!o.argument.empty()) o.values = words_of(*option);
    o.folder = o.argument == "DIR" || o.argument == "OUT";
    o.text = option->get_description();
    entry.options.push_back(std::move(o));
  }
  for (const CLI::App* group : app.get_subcommands([](const CLI::App* s) { return !is_command(s); }))
    add_options(*group, entry);
}

void add_command(const CLI::App& app, const std::string& above, std::vector<CommandEntry>& table) {
  CommandEntry entry;
  entry.path = above.empty() ? app.get_name() : above + " " + app.get_name();
  entry.text = app.get_description();
  add_options(app, entry);
  const auto commands = app.get_subcommands(is_command);
  for (const CLI::App* sub : commands) entry.commands.push_back(sub->get_name());
  const std::string path = entry.path;
  table.push_back(std::move(entry));
  for (const CLI::App* sub : commands) add_command(*sub, path, table);
}

}  // namespace

std::vector<CommandEntry> command_table(const CLI::App& app) {
  std::vector<CommandEntry> table;
  add_command(app, "", table);
  return table;
}

}  // namespace mrvlc::app
