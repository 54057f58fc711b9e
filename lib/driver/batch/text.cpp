// The table of `mrvlc batch`.
#include <algorithm>
#include <map>

#include "model/totals.h"
#include "mrvlc/driver/batch.h"

namespace mrvlc::driver {
namespace {

const BatchMessage* first_error(const BatchModel& m) {
  for (const BatchMessage& message : m.messages)
    if (message.severity == "error") return &message;
  return nullptr;
}

std::optional<Number> total_of(const BatchModel& m, std::string_view name) {
  const auto at = std::ranges::find(m.totals, name, &BatchTotals::value_type::first);
  return at == m.totals.end() ? std::nullopt : at->second;
}

std::string number(const BatchModel& m, std::string_view name) {
  const std::optional<Number> value = total_of(m, name);
  return value ? number_text(*value) : "-";
}

std::string share(const BatchModel& m) {
  const std::optional<Number> value = total_of(m, "mac_share_accelerator");
  return value ? fmt::format("{:.1f} %", 100 * as_double(*value)) : "-";
}

std::string line_of(const BatchModel& m, size_t width) {
  if (const BatchMessage* error = first_error(m))
    return fmt::format("{:<{}}  failed: {} {}{}\n", m.name, width, error->code,
                       error->node.empty() ? "" : "node '" + error->node + "': ", error->text);
  return fmt::format("{:<{}}  {:>12} {:>12} {:>12} {:>8}\n", m.name, width, number(m, "cycles"),
                     number(m, "weights_bytes"), number(m, "arena_bytes"), share(m));
}

// The codes that ended compiles, the most frequent first.
std::string failures(const Batch& batch) {
  std::map<std::string, std::vector<const BatchModel*>> by_code;
  for (const BatchModel& m : batch.models)
    if (m.exit_code != 0) by_code[first_error(m) ? first_error(m)->code : "-"].push_back(&m);
  std::vector<std::pair<std::string, std::vector<const BatchModel*>>> sorted(by_code.begin(), by_code.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  std::string out;
  for (const auto& [code, models] : sorted) {
    out += fmt::format("  {} ({}):", code, models.size());
    for (const BatchModel* m : models) out += " " + m->name;
    out += "\n";
  }
  return out.empty() ? out : "failures by code ('mrvlc explain CODE' says more):\n" + out;
}

}  // namespace

std::span<const std::string_view> words(BatchModel::From) {
  static constexpr std::string_view kWords[] = {"compile", "cache", "before"};
  return kWords;
}

std::string batch_text(const Batch& batch) {
  size_t width = 5, from[3] = {}, failed = 0;
  for (const BatchModel& m : batch.models) {
    width = std::max(width, m.name.size());
    ++from[static_cast<size_t>(m.from)];
    failed += m.exit_code != 0;
  }
  std::string out = fmt::format("{:<{}}  {:>12} {:>12} {:>12} {:>8}\n", "model", width, "cycles", "weights B",
                                "arena B", "MACs");
  for (const BatchModel& m : batch.models) out += line_of(m, width);
  out += failures(batch);
  out += fmt::format("{} models, {} failed; {} compiled now, {} from the cache, {} as before\n",
                     batch.models.size(), failed, from[0], from[1], from[2]);
  if (batch.done < batch.all)
    out += fmt::format("of all shards {} of {} models have a result\n", batch.done, batch.all);
  return out;
}

int exit_code(const Batch& batch) {
  const auto failed =
      std::ranges::find_if(batch.models, [](const BatchModel& m) { return m.exit_code != 0; });
  return failed == batch.models.end() ? 0 : failed->exit_code;
}

}  // namespace mrvlc::driver
