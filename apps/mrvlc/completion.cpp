// Completion for shells, of the commands and options as the parser knows them.
#include "command_table.h"
#include "mrvlc/support/shell.h"

namespace mrvlc::app {
namespace {

std::string joined_options(const CommandEntry& c) {
  std::string out;
  for (const OptionEntry& o : c.options) out += (out.empty() ? "" : " ") + CLI::detail::join(o.names, " ");
  return out;
}

// A pattern of `case` for every command but the program itself.
std::string command_paths(const std::vector<CommandEntry>& table) {
  std::string out;
  for (const CommandEntry& c : table)
    if (&c != &table.front()) out += (out.empty() ? "" : "|") + shell_quoted(c.path);
  return out;
}

// zsh takes what stands before a colon for the word.
std::string described(const std::string& word, const std::string& text) {
  return shell_quoted(word + ":" + text);
}

}  // namespace

std::string bash_completion(const std::vector<CommandEntry>& table) {
  std::string out =
      "# bash completion for mrvlc\n_mrvlc() {\n  local at=mrvlc commands='' options='' i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n    case \"$at ${COMP_WORDS[i]}\" in\n      " +
      command_paths(table) +
      ")\n        at=\"$at ${COMP_WORDS[i]}\" ;;\n    esac\n  done\n  case \"$at\" in\n";
  for (const CommandEntry& c : table)
    out += "    " + shell_quoted(c.path) + ") commands=" + shell_quoted(CLI::detail::join(c.commands, " ")) +
           " options=" + shell_quoted(joined_options(c)) + " ;;\n";
  return out + "  esac\n  [ \"$at\" = mrvlc ] || options=\"$options " + joined_options(table.front()) +
         "\"\n  case \"${COMP_WORDS[COMP_CWORD]}\" in\n    -*) commands=$options ;;\n  esac\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n}\n"
         "complete -o default -F _mrvlc mrvlc\n";
}

std::string zsh_completion(const std::vector<CommandEntry>& table) {
  std::string out =
      "#compdef mrvlc\n# zsh completion for mrvlc\n_mrvlc() {\n  local at=mrvlc i\n"
      "  local -a commands options\n  for ((i = 2; i < CURRENT; i++)); do\n"
      "    case \"$at ${words[i]}\" in\n      " +
      command_paths(table) + ") at=\"$at ${words[i]}\" ;;\n    esac\n  done\n  case \"$at\" in\n";
  for (const CommandEntry& c : table) {
    out += "    " + shell_quoted(c.path) + ")\n      commands=(";
    for (const CommandEntry& sub : table) {
      for (const std::string& name : c.commands)
        if (sub.path == c.path + " " + name) out += "\n        " + described(name, sub.text);
    }
    out += ")\n      options=(";
    for (const OptionEntry& o : c.options)
      for (const std::string& name : o.names) out += "\n        " + described(name, o.text);
    out += ") ;;\n";
  }
  return out +
         "  esac\n  if [[ ${words[CURRENT]} == -* ]]; then\n    _describe option options\n"
         "  elif (( ${#commands} )); then\n    _describe command commands\n  else\n    _files\n  fi\n}\n"
         "compdef _mrvlc mrvlc\n";
}

std::string fish_completion(const std::vector<CommandEntry>& table) {
  std::string out = "# fish completion for mrvlc\n";
  for (const CommandEntry& c : table) {
    std::string seen;  // the words of the path, but for the program's
    for (const std::string& word : CLI::detail::split(c.path, ' '))
      if (word != "mrvlc") seen += (seen.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + word);
    const bool top = &c == &table.front();
    const std::string condition = " -n " + shell_quoted(top ? "__fish_use_subcommand" : seen);
    for (const CommandEntry& sub : table)
      for (const std::string& name : c.commands)
        if (sub.path == c.path + " " + name)
          out += "complete -c mrvlc -f" + condition + " -a " + name + " -d " + shell_quoted(sub.text) + "\n";
    for (const OptionEntry& o : c.options) {
      out += "complete -c mrvlc" + (top ? "" : condition);
      for (const std::string& name : o.names)
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      out += (o.argument.empty() ? "" : " -r") + (" -d " + shell_quoted(o.text)) + "\n";
    }
  }
  return out;
}

}  // namespace mrvlc::app
