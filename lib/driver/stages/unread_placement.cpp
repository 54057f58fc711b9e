// What a file of --placement reports beside the placement: nothing reads it, so a change of it is a mistake.
#include <map>

#include "mrvlc/idmap/idmap.h"
#include "mrvlc/support/diag/tools.h"
#include "stages/ineffective_options.h"

namespace mrvlc::driver {
namespace {

using Reported = nlohmann::json;

Reported reported_now(const CompiledModel& m) {
  const std::string text = JsonWriter::text(0, [&](JsonWriter& out) {
    out.object();
    idmap::write_precisions(out, m.model.graph, m.partition);
    write_ranges(out, m.accuracy);
    out.end();
  });
  return Reported::parse(text, nullptr, false);
}

// By value, what the entries say of it that a user may want to change.
std::map<std::string, std::string> by_value(const Reported& document, const char* list, const char* member) {
  std::map<std::string, std::string> out;
  const Reported entries = document.is_object() ? document.value(list, Reported::array()) : Reported::array();
  if (!entries.is_array()) return out;
  for (const Reported& e : entries) {
    if (!e.is_object() || !e.contains("value") || !e.at("value").is_string()) continue;
    out[e.at("value").get<std::string>()] =
        e.contains(member) && e.at(member).is_string() ? e.at(member).get<std::string>() : "";
  }
  return out;
}

// A value that both know and say differently; or, where the placement is the same, that one of them alone
// has.
std::string changed_value(const Reported& file, const Reported& now, const char* list, const char* member,
                          bool same_placement) {
  const auto before = by_value(file, list, member), after = by_value(now, list, member);
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
  if (file.reported.is_null()) return;
  constexpr std::pair<const char*, const char*> kLists[] = {{"precisions", "precision"},
                                                            {"ranges", "stored"}};
  const Reported now = reported_now(m);
  for (const auto& [list, member] : kLists) {
    const std::string value = changed_value(file.reported, now, list, member, !m.constrained.edited);
    if (!value.empty())
      warn(fmt::format("'{}' of '{}'", list, printable(value)),
           "--precision NAME=HOW says how a value is kept");
  }
}

}  // namespace mrvlc::driver
