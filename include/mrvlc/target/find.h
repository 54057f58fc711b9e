// Where the text of a machine description is from.
#pragma once
#include "mrvlc/target/machine.h"

namespace mrvlc::target {

struct TargetText {
  std::string json;
  std::filesystem::path file;  // empty: it is built in
};

// NAME/target.json of the `search` folders, the first that there is, else the built-in one. MRV0352.
Result<TargetText> find_target(std::string_view name, const std::vector<std::filesystem::path>& search);
// The machine of a text found by this name.
Result<Machine> read_machine(std::string_view name, const TargetText& text);

}  // namespace mrvlc::target
