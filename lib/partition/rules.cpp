#include "mrvlc/partition/rules.h"

#include "default_rules.h"

namespace mrvlc::partition {

const std::vector<std::string_view>& layer_kinds() {
  static const std::vector<std::string_view> kKinds = {
      "conv",    "conv_transpose", "fc",     "matmul", "pool", "elementwise", "reduce",
      "softmax", "norm",           "resize", "concat", "move", "reshape",     "cpu"};
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
