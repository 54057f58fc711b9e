#include "mrvlc/partition/rules.h"

#include "default_rules.h"
#include "kinds.h"

namespace mrvlc::partition {

const std::vector<rules::LayerKind>& layer_kinds() {
  static const std::vector<rules::LayerKind> kKinds = [] {
    std::vector<rules::LayerKind> out;
    for (const KindInfo& k : kinds()) out.push_back({k.name, true, k.anchors});
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
  return rules::load_rules(all, layer_kinds(), ops::find_op);
}

}  // namespace mrvlc::partition
