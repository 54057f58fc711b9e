// The rules that come with the accelerator.
#include "legal/default_rules.h"
#include "mrvlc/accel/legality.h"

namespace mrvlc::accel {

rules::RuleFile default_rule_file() {
  return {std::string(kDefaultRulesName), std::string(kDefaultRulesText), true};
}

const partition::SoundRules& default_rules() {
  static const partition::SoundRules kRules =
      std::make_shared<rules::LoadResult>(partition::load_rules(default_rule_file(), {}));
  return kRules;
}

}  // namespace mrvlc::accel
