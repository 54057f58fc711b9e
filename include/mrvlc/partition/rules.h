// The rules a compile works with: those that come with a target and the user's. For `mrvlc rules
// list|show|check` too.
#pragma once
#include <memory>
#include <optional>

#include "mrvlc/partition/region.h"
#include "mrvlc/rules/predicates.h"
#include "mrvlc/rules/rule_set.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::partition {

// A rule of this kind keeps what it matches on the CPU.
inline constexpr std::string_view kCpuKind = "cpu";
// Kinds of layers that may stand after `layer` in a rule, with the operators that each begins with; last
// kCpuKind.
const std::vector<rules::LayerWord>& layer_words();
// The same where a layer of each kind may begin with any operator.
const std::vector<rules::LayerWord>& free_layer_words();
// Numbers of the machine that rules may ask for.
rules::MachineNumbers machine_numbers(const target::Machine& machine);
// Parses and checks the user's files together with the rules that come with the target, if any: names,
// overlap and shadowing are judged over all of them.
using BuiltIn = std::optional<rules::RuleFile>;
rules::LoadResult load_rules(const BuiltIn& builtin, const std::vector<rules::RuleFile>& files,
                             const std::vector<rules::LayerWord>& kinds = layer_words());

// Rules without errors, with the warnings about their files: read once, owned together by all who ask them.
using SoundRules = std::shared_ptr<const rules::LoadResult>;
// What was loaded, or its first error.
Result<SoundRules> sound(rules::LoadResult loaded);
// The same as a whole compile needs them.
Result<SoundRules> sound_rules(const BuiltIn& builtin, const std::vector<rules::RuleFile>& files,
                               const std::vector<rules::LayerWord>& kinds = layer_words());

// What a match makes, of a rule for an accelerator.
Layer layer_of(const rules::Match& match, uint32_t accelerator);

}  // namespace mrvlc::partition
