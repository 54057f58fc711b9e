// What a file of --placement reports beside the placement: nothing reads it, so a change of it is a mistake.
#include <map>

#include "mrvlc/idmap/idmap.h"
#include "mrvlc/support/diag/tools.h"
#include "stages/ineffective_options.h"

namespace mrvlc::driver {
namespace {

using ByValue = PlacementFile::ByValue;

// A value that both know and say differently; or, where the placement is the same, that the file alone has.
std::string changed_value(const ByValue& before, const ByValue& after, bool same_placement) {
  for (const auto& [value, text] : before) {
    const auto found = after.find(value);
    if (found == after.end() ? same_placement : found->second != text) return value;
  }
  return {};
}

}  // namespace

void warn_unread(const CompiledModel& m, Diagnostics& diagnostics) {
  if (m.options.placement.empty()) return;
  const PlacementFile& file = m.constrained.file;
  const std::string shown = printable(m.options.placement.filename().string(), 4096);
  const auto warn = [&](const std::string& what, const char* remedy) {
    diagnostics.add(make_diag<DiagCode::MRV1072>(shown, what, remedy));
  };
  const std::string target = m.has_accelerator ? m.machine().name : "host";
  if (!file.target.empty() && file.target != target)
    warn(fmt::format("'target' ({})", printable(file.target)),
         "--target and --tiles say for what the model is compiled");
  const auto compare = [&](const char* list, const std::optional<ByValue>& before, const ByValue& now) {
    const std::string value = changed_value(before.value_or(ByValue()), now, !m.constrained.edited);
    if (!value.empty())
      warn(fmt::format("'{}' of '{}'", list, printable(value)),
           "--precision NAME=HOW says how a value is kept");
  };
  ByValue precisions, stored;
  for (const idmap::KeptPrecision& p : idmap::kept_precisions(m.model.graph, m.partition))
    precisions[p.value] = p.precision;
  for (const StoredRange& r : stored_ranges(m.accuracy)) stored[idmap::json_text(r.value)] = r.stored;
  compare("precisions", file.precisions, precisions);
  compare("ranges", file.stored, stored);
}

}  // namespace mrvlc::driver
