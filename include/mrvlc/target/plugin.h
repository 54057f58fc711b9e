// Target packages of kind `plugin`: an accelerator behind a shared library (docs/targets.md, mrvl/plugin.h).
#pragma once
#include "mrvlc/target/library.h"
#include "mrvlc/target/machine.h"
#include "mrvlc/target/package_option.h"

namespace mrvlc::target {

struct PluginPackage {
  Machine machine;      // its name, limits, clock and launch; everything else is 0
  std::string library;  // files of the package's folder, plain names
  std::string rules;
  bool integers = false;  // as of LibraryPackage, both
  int64_t steps = 0;
  std::vector<PackageOption> options;
};

// Whether the text of a target file says "kind": "plugin".
bool is_plugin(std::string_view json);
// Unknown and repeated keys, names with folders and `extends` are refused: MRV0350, MRV0351.
Result<PluginPackage> parse_plugin(std::string_view json, std::string_view shown_name);
// The files of a new package: a small machine that computes Relu, Add and Mul. MRV0351: no name for a target.
Result<std::vector<PackageFile>> new_plugin(std::string_view name);

}  // namespace mrvlc::target
