// The rules a compile works with: the built-in ones and the user's. For `mrvlc rules list|show|check` too.
#pragma once
#include <memory>

#include "mrvlc/rules/predicates.h"
#include "mrvlc/rules/rule_set.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::partition {

// A rule of this kind keeps what it matches on the CPU.
inline constexpr std::string_view kCpuKind = "cpu";
// Kinds of layers that may stand after `layer` in a rule, with the operators that each begins with; last
// kCpuKind.
const std::vector<rules::LayerWord>& layer_words();
// The built-in rules; its shown name is "cn10ka.rules".
rules::RuleFile default_rule_file();
// Numbers of the machine that rules may ask for.
rules::MachineNumbers machine_numbers(const target::Machine& machine);
// Parses and checks the user's files together with the built-in rules (unless `defaults` is false): names,
// overlap and shadowing are judged over all of them.
rules::LoadResult load_rules(bool defaults, const std::vector<rules::RuleFile>& files);

// Rules without errors, with the warnings about their files: read once, owned together by all who ask them.
using SoundRules = std::shared_ptr<const rules::LoadResult>;
// What was loaded, or its first error.
Result<SoundRules> sound(rules::LoadResult loaded);
// The same as a whole compile needs them.
Result<SoundRules> sound_rules(bool defaults, const std::vector<rules::RuleFile>& files);
// The built-in rules alone: parsed once a process, however many graphs are partitioned.
const SoundRules& default_rules();

}  // namespace mrvlc::partition
