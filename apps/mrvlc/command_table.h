// Commands and options as data, for what is made of them: man page and completions.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace mrvlc::app {

struct OptionEntry {
  std::vector<std::string> names;   // "--output", "-o"; none of a positional
  std::string argument;             // "FILE"; empty of a flag
  std::vector<std::string> values;  // words that it takes, where they are known
  bool folder = false;              // it takes a folder
  std::string text;
};

struct CommandEntry {
  std::string path;  // "mrvlc rules check"
  std::string text;
  std::vector<std::string> commands;  // below it
  std::vector<OptionEntry> options;   // its own, --help included
  std::vector<std::string> operands;  // "MODEL"
};

// The program itself first, then its commands in their order, each in front of those below it.
std::vector<CommandEntry> command_table(const CLI::App& app);

std::string man_page(const std::vector<CommandEntry>& table);
std::string bash_completion(const std::vector<CommandEntry>& table);
std::string zsh_completion(const std::vector<CommandEntry>& table);
std::string fish_completion(const std::vector<CommandEntry>& table);

}  // namespace mrvlc::app
