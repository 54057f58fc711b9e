// `mrvlc rules list|show|check`.
#include "mrvlc/partition/rules.h"

#include "mrvlc/driver/rules_targets.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"

namespace mrvlc::driver {

std::string rules_list() {
  std::string out = fmt::format("{:<18} {:<16} {:>8}  {}\n", "rule", "layer", "priority", "why");
  auto loaded = partition::load_rules(true, {});
  for (const rules::Rule& r : loaded.set.rules()) {
    out += fmt::format("{:<18} {:<16} {:>8}  {}\n", r.name, r.layer, r.priority, r.why);
  }
  return out;
}

Result<std::string> rules_show(const std::string& name) {
  auto loaded = partition::load_rules(true, {});
  const rules::Rule* rule = loaded.set.find(name);
  if (rule == nullptr)
    return make_diag<DiagCode::MRV0004>(fmt::format("there is no rule '{}'", printable(name)));
  return fmt::format("# {}\n{}\n", rules::location_text(*rule, rule->at), rule->text);
}

Diagnostics rules_check(const std::filesystem::path& file) {
  Diagnostics diagnostics;
  auto text = read_file(file, 16u << 20);
  if (!text.ok()) {
    diagnostics.add(text.error());
    return diagnostics;
  }
  // Checked on its own: overlap with the default rules depends on --no-default-rules.
  return partition::load_rules(false, {{file.string(), *text}}).diagnostics;
}

}  // namespace mrvlc::driver
