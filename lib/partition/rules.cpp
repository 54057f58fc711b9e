#include "mrvlc/partition/rules.h"

#include "default_rules.h"
#include "kinds.h"

namespace mrvlc::partition {

const std::vector<rules::LayerWord>& layer_words() {
  static const std::vector<rules::LayerWord> kKinds = [] {
    std::vector<rules::LayerWord> out;
    for (LayerKind kind : kLayerKinds) {
      out.push_back({name(kind), true, {}});
      for (const ops::OpDef* op : ops::all_ops()) {
        if (op->accel.has(kind)) out.back().anchors.push_back(op);
      }
    }
    out.push_back({kCpuKind, false, {}});
    return out;
  }();
  return kKinds;
}

rules::RuleFile default_rule_file() {
  return {std::string(kDefaultRulesName), std::string(kDefaultRulesText)};
}

rules::LoadResult load_rules(bool defaults, const std::vector<rules::RuleFile>& files) {
  std::vector<rules::RuleFile> all;
  if (defaults) all.push_back(default_rule_file());
  all.insert(all.end(), files.begin(), files.end());
  return rules::load_rules(all, {layer_words(), ops::find_op, ops::all_ops()});
}

}  // namespace mrvlc::partition
