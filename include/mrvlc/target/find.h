// Where the text of a machine description is from: a package (a folder NAME with target.json) or built in.
// A package may extend another and then says only what differs (docs/targets.md).
#pragma once
#include <span>

#include "mrvl/plugin.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::target {

// A header or a C source of a library that is built in.
struct BuiltinFile {
  std::string_view name, text;
};

// mrvl_plugin_open of a plug-in that is built in.
using PluginEntry = const mrvl_plugin* (*)();

// What else decided which text was found.
struct Searched {
  std::vector<std::filesystem::path> absent;  // files that would have been taken first
  std::vector<std::string> variables;  // of the environment, where they named folders that were searched
};

struct TargetText {
  // Of the whole machine: what a package inherits is in it, and `extends` is not.
  std::string json;
  struct File {
    std::filesystem::path path;
    std::string name, text;  // of the package; as it was read
  };
  std::vector<File> files;  // the package's first, then what it extends; empty: it is built in
  Searched searched;
  std::string rules = {};                           // of a library or a plug-in that is built in
  std::span<const BuiltinFile> builtin_files = {};  // of a library that is built in
  PluginEntry plugin = nullptr;                     // of a plug-in that is built in
};

// The package NAME of the `search` folders, the first that there is, else the built-in one, else that of
// the data folders: $XDG_DATA_HOME/mrvlc/targets, then mrvlc/targets in each of $XDG_DATA_DIRS (with the
// defaults of the XDG base directory specification, version 0.8). MRV0350 to MRV0352.
Result<TargetText> find_target(std::string_view name, const std::vector<std::filesystem::path>& search);
// Of this file; what it extends is looked up as above, never in the file itself.
Result<TargetText> read_target(const std::filesystem::path& file,
                               const std::vector<std::filesystem::path>& search);
// The machine of a text found by this name.
Result<Machine> read_machine(std::string_view name, const TargetText& text);

// The folders of $MRVLC_TARGET_PATH, which commands search after those of their options.
std::vector<std::filesystem::path> path_of_environment();

struct Package {
  std::string name;
  std::filesystem::path file;  // empty: built in
};
// What find_target takes for each name, in order of name.
std::vector<Package> packages(const std::vector<std::filesystem::path>& search);

// The text of a new package that extends `base`, with the numbers one is likely to change as they are there.
Result<std::string> new_variant(std::string_view name, std::string_view base,
                                const std::vector<std::filesystem::path>& search);

}  // namespace mrvlc::target
