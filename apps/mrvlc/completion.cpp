// Completion for shells, of the commands and options as the parser knows them.
#include <map>

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

// What stands behind an option: words, by the patterns of `case` that match command and option, as in
// "'mrvlc compile --emit'"; and the same of folders.
struct Values {
  std::map<std::string, std::string> patterns;  // by the words, joined
  std::string folders;
};

Values values_of(const std::vector<CommandEntry>& table) {
  Values values;
  for (const CommandEntry& c : table) {
    for (const OptionEntry& o : c.options) {
      if (o.values.empty() && !o.folder) continue;
      std::string& pattern = o.folder ? values.folders : values.patterns[CLI::detail::join(o.values, " ")];
      for (const std::string& name : o.names) {
        pattern += pattern.empty() ? "" : "|";
        // Those of the program itself may stand behind every command.
        pattern += &c == &table.front() ? "*" + shell_quoted(" " + name) : shell_quoted(c.path + " " + name);
      }
    }
  }
  return values;
}

// zsh takes what stands before a colon for the word.
std::string described(const std::string& word, const std::string& text) {
  return shell_quoted(word + ":" + text);
}

}  // namespace

std::string bash_completion(const std::vector<CommandEntry>& table) {
  std::string out =
      "# bash completion for mrvlc\n_mrvlc() {\n  local at=mrvlc commands='' options='' values='' i\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  if [ \"$word\" = = ]; then word=''; elif [ \"$before\" = = ]; then "
      "before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n    case \"$at ${COMP_WORDS[i]}\" in\n      " +
      command_paths(table) +
      ")\n        at=\"$at ${COMP_WORDS[i]}\" ;;\n    esac\n  done\n  case \"$at\" in\n";
  for (const CommandEntry& c : table)
    out += "    " + shell_quoted(c.path) + ") commands=" + shell_quoted(CLI::detail::join(c.commands, " ")) +
           " options=" + shell_quoted(joined_options(c)) + " ;;\n";
  out += "  esac\n  case \"$at $before\" in\n";
  const Values values = values_of(table);
  for (const auto& [words, pattern] : values.patterns)
    out += "    " + pattern + ") values=" + shell_quoted(words) + " ;;\n";
  if (!values.folders.empty())
    out += "    " + values.folders + ") mapfile -t COMPREPLY < <(compgen -d -- \"$word\"); return ;;\n";
  out +=
      "  esac\n  if [ -n \"$values\" ]; then mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$word\"); "
      "return; fi\n";
  return out + "  [ \"$at\" = mrvlc ] || options=\"$options " + joined_options(table.front()) +
         "\"\n  case \"$word\" in\n    -*) commands=$options ;;\n  esac\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"$word\")\n}\n"
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
  out +=
      "  esac\n  local before=${words[CURRENT-1]}\n  if [[ ${words[CURRENT]} == --*=* ]]; then\n"
      "    before=${words[CURRENT]%%=*}\n    compset -P '*='\n  fi\n  case \"$at $before\" in\n";
  const Values values = values_of(table);
  for (const auto& [words, pattern] : values.patterns)
    out += "    " + pattern + ") compadd -- " + words + "; return ;;\n";
  if (!values.folders.empty()) out += "    " + values.folders + ") _files -/; return ;;\n";
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
      if (!o.values.empty())
        out += " -x -a " + shell_quoted(CLI::detail::join(o.values, " "));
      else if (o.folder)
        out += " -x -a '(__fish_complete_directories)'";
      else if (!o.argument.empty())
        out += " -r";
      out += (" -d " + shell_quoted(o.text)) + "\n";
    }
  }
  return out;
}

}  // namespace mrvlc::app
