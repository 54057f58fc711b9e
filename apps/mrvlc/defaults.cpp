// Options that were not typed: of the environment and of the project file.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include "arguments.h"
#include "command_table.h"
#include "mrvlc/driver/option_table.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/nearest.h"
#include "mrvlc/support/strict_json.h"

namespace mrvlc::app {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kProjectFile = "mrvlc.json";
constexpr const char* kForAll = "options";
constexpr uint64_t kMaxBytes = 1u << 20;
// Of what they are asked before any default, or what they say is no default.
constexpr std::array<std::string_view, 5> kNever = {"--help", "--version", "--project", "--output",
                                                    "--log-level"};

// Options of no table that run a program, load one, reach another machine or write elsewhere
// (driver::option::kOnlyIfNamed).
constexpr std::array<std::string_view, 6> kOnlyIfNamed = {"--cc", "--cflags",     "--device-lib",
                                                          "--on", "--ssh-config", "--cache"};

bool only_if_named(const std::string& option) {
  const driver::OptionRecord* record = driver::find_option(option);
  if (record != nullptr) return (record->facts & driver::option::kOnlyIfNamed) != 0;
  return std::ranges::find(kOnlyIfNamed, option) != kOnlyIfNamed.end();
}

// The command that the words name, as in "mrvlc rules check".
const CLI::App* command_of(const CLI::App& app, const std::vector<std::string>& words, std::string& path) {
  const CLI::App* at = &app;
  for (const std::string& word : words) {
    const auto below = at->get_subcommands([&](const CLI::App* s) { return s->get_name() == word; });
    if (below.empty()) continue;
    at = below[0];
    path += (path.empty() ? "" : " ") + word;
  }
  return at == &app ? nullptr : at;
}

void add_options(const CLI::App& app, std::vector<const CLI::Option*>& out) {
  for (const CLI::Option* option : app.get_options())
    if (!option->get_positional() && !option->get_lnames().empty()) out.push_back(option);
  for (const CLI::App* group : app.get_subcommands([](const CLI::App* s) { return s->get_name().empty(); }))
    add_options(*group, out);
}

bool is_typed(const CLI::Option& option, const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [&](const std::string& word) {
    for (const std::string& name : option.get_lnames())
      if (word == "--" + name || word.starts_with("--" + name + "=")) return true;
    for (const std::string& name : option.get_snames())
      if (!word.starts_with("--") && word.starts_with("-" + name)) return true;
    return false;
  });
}

bool is_flag(const CLI::Option& option) {
  return option.get_items_expected_max() == 0;
}

std::string variable_of(const CLI::Option& option) {
  std::string name = "MRVLC_";
  for (const char c : option.get_lnames()[0])
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

class Defaults {
 public:
  Defaults(const CLI::App& app, std::vector<std::string>& words, driver::OptionSources& sources)
      : app_(app), words_(words), sources_(sources), typed_(words) {
    command_ = command_of(app, words, path_);
    if (command_ != nullptr) add_options(*command_, options_);
  }

  Status add() {
    if (command_ == nullptr) return {};
    for (const CLI::Option* option : options_) {
      if (is_kept(*option)) continue;
      sources_.variables.push_back(variable_of(*option));
      const char* value = std::getenv(variable_of(*option).c_str());
      if (value == nullptr || *value == '\0') continue;
      MRVLC_TRY(add_text(*option, "$" + variable_of(*option), value));
    }
    return add_project();
  }

 private:
  bool is_kept(const CLI::Option& option) const {
    return std::ranges::find(kNever, option.get_name()) != kNever.end() || is_typed(option, typed_) ||
           std::ranges::find(said_, &option) != said_.end();
  }

  static std::string word(const CLI::Option& option, const std::string& value) {
    return "--" + option.get_lnames()[0] + (is_flag(option) ? "" : "=" + value);
  }

  Status add_text(const CLI::Option& option, const std::string& from, const std::string& value) {
    said_.push_back(&option);
    const bool off = value == "0" || value == "false" || value == "no";
    if (is_flag(option) && !off && value != "1" && value != "true" && value != "yes")
      return make_diag<DiagCode::MRV0004>(from + " is 1 or 0, not '" + printable(value) + "'");
    if (!is_flag(option) || !off) words_.push_back(word(option, value));
    return {};
  }

  // The file of --project, or mrvlc.json where there is one.
  Status add_project() {
    std::string file = kProjectFile;
    bool& named = named_;
    for (size_t i = 0; i < words_.size(); ++i) {
      if (words_[i] == "--project" && i + 1 < words_.size()) file = words_[i + 1], named = true;
      if (words_[i].starts_with("--project=")) file = words_[i].substr(10), named = true;
    }
    std::error_code ec;
    if (file.empty()) return {};
    if (!named && !std::filesystem::exists(file, ec)) {
      sources_.absent.emplace_back(file);
      return {};
    }
    MRVLC_ASSIGN(const std::string text, read_file(file, kMaxBytes));
    sources_.files.emplace_back(file);
    std::string twice;
    const Json json = parse_strict<Json>(text, twice);
    if (!twice.empty()) return make_diag<DiagCode::MRV0003>(file, "it has '" + printable(twice) + "' twice");
    if (!json.is_object())
      return make_diag<DiagCode::MRV0003>(
          file, "it is no JSON object; it should be as {\"compile\": {\"tiles\": 4}}");
    MRVLC_TRY(check_sections(file, json));
    if (json.contains(path_)) MRVLC_TRY(add_section(file, path_, json.at(path_), true));
    if (json.contains(kForAll)) MRVLC_TRY(add_section(file, kForAll, json.at(kForAll), false));
    return {};
  }

  Status check_sections(const std::string& file, const Json& json) const {
    std::vector<std::string> paths = {kForAll};
    for (const CommandEntry& c : command_table(app_))
      if (c.path != "mrvlc") paths.push_back(c.path.substr(sizeof "mrvlc"));
    const std::vector<std::string_view> known(paths.begin(), paths.end());
    for (const auto& [section, members] : json.items()) {
      if (std::ranges::find(known, section) == known.end())
        return make_diag<DiagCode::MRV0003>(
            file,
            fmt::format("there is no command '{}'{}", printable(section), did_you_mean(section, known)));
      if (!members.is_object())
        return make_diag<DiagCode::MRV0003>(file, fmt::format("'{}' is no object of options", section));
    }
    return {};
  }

  Status add_section(const std::string& file, const std::string& section, const Json& members, bool strict) {
    for (const auto& [key, value] : members.items()) {
      const auto found = std::ranges::find_if(options_, [&, name = key](const CLI::Option* o) {
        return std::ranges::find(o->get_lnames(), name) != o->get_lnames().end();
      });
      if (found == options_.end()) {
        if (!strict) continue;
        return make_diag<DiagCode::MRV0003>(
            file, fmt::format("'{}' has no option '{}'{}", section, printable(key), suggestion(key)));
      }
      if (is_kept(**found)) continue;
      if (!named_ && only_if_named((*found)->get_name()))
        return make_diag<DiagCode::MRV0003>(
            file, fmt::format("'{}.{}' names a program, a library, a host or a folder: it is read only with "
                              "--project {} (docs/security.md)",
                              section, printable(key), file));
      MRVLC_TRY(add_values(file, section + "." + key, **found, value));
    }
    return {};
  }

  std::string suggestion(const std::string& key) const {
    std::vector<std::string_view> names;
    for (const CLI::Option* o : options_)
      for (const std::string& name : o->get_lnames()) names.push_back(name);
    return did_you_mean(key, names);
  }

  // A text, a number, a truth value, or a list of these for an option that may be repeated.
  Status add_values(const std::string& file, const std::string& where, const CLI::Option& option,
                    const Json& value) {
    said_.push_back(&option);
    const Json list = value.is_array() ? value : Json::array({value});
    for (const Json& v : list) {
      if (is_flag(option) != v.is_boolean() || (!v.is_string() && !v.is_number() && !v.is_boolean()))
        return make_diag<DiagCode::MRV0003>(
            file, fmt::format("'{}' takes {}", printable(where),
                              is_flag(option) ? "true or false" : "a text, a number or a list of them"));
      if (v.is_boolean() && !v.get<bool>()) continue;
      words_.push_back(word(option, v.is_string() ? v.get<std::string>() : v.dump()));
    }
    return {};
  }

  const CLI::App& app_;
  std::vector<std::string>& words_;
  driver::OptionSources& sources_;
  const std::vector<std::string> typed_;
  const CLI::App* command_ = nullptr;
  std::string path_;
  bool named_ = false;  // the project file was, with --project
  std::vector<const CLI::Option*> options_, said_;
};

}  // namespace

Status add_defaults(const CLI::App& app, std::vector<std::string>& words, driver::OptionSources& sources) {
  return Defaults(app, words, sources).add();
}

}  // namespace mrvlc::app
