// The rules a compile works with: the built-in ones and the user's. For `mrvlc rules list|show|check` too.
#pragma once
#include "mrvlc/rules/rule_set.h"

namespace mrvlc::partition {

// Kinds of layers that may stand after `layer` in a rule, in the order of partition.h, and last `cpu`: a rule
// of that kind keeps what it matches on the CPU.
const std::vector<std::string_view>& layer_kinds();
// The built-in rules; its shown name is "cn10ka.rules".
rules::RuleFile default_rule_file();
// Parses and checks the user's files together with the built-in rules (unless `defaults` is false): names,
// overlap and shadowing are judged over all of them.
rules::LoadResult load_rules(bool defaults, const std::vector<rules::RuleFile>& files);

}  // namespace mrvlc::partition
