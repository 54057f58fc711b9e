// What this accelerator takes, and what is expected of it before anything is compiled. The criteria are
// listed in docs/rules.md.
#pragma once
#include <set>

#include "mrvlc/partition/crossings.h"
#include "mrvlc/partition/legality.h"
#include "mrvlc/partition/rules.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::accel {

using partition::Legality;

// The layer as a rule made it, whatever that is: kind against anchor, operands, the chain that follows.
Legality layer_legal(const ir::Graph& graph, const partition::Layer& layer, const target::Machine& machine);

// Elements of a row that softmax and the normalisations of rows take at once.
int64_t longest_row(const target::Machine& machine);

// The rules of lib/accel/cn10ka.rules, compiled in.
rules::RuleFile default_rule_file();
// The same, read and checked, once a process.
const partition::SoundRules& default_rules();

// Values of the region that are stored channels last: those that a sliding window reads or writes, and those
// that element-wise layers tie to them.
std::set<ir::ValueId> channels_last(const ir::Graph& graph, const partition::Region& region);
// The forms in which a region takes and gives values before it is compiled: fp16 but for pairs, and channels
// last where windows slide.
partition::RegionForms expected_forms(const ir::Graph& graph, const partition::Region& region);

// Seconds of a layer from shapes and the machine's rates alone, on so many tiles.
double quick_seconds(const ir::Graph& graph, const partition::Layer& layer, const target::Machine& machine,
                     uint32_t tiles);
// What a region takes beside its layers: its values from and to memory.
double quick_border_seconds(const ir::Graph& graph, const partition::Region& region,
                            const target::Machine& machine);

}  // namespace mrvlc::accel
