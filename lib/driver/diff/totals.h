// The numbers by which compiles are compared, and judged by gates (output/gates.h), from report.json.
#pragma once
#include <filesystem>
#include <vector>

#include "model/compiled_model.h"

namespace mrvlc::driver {

// More of it is worse, less of it is worse, or neither.
enum class Worse : uint8_t { More, Less, Neither };

// What a total counts.
enum class Unit : uint8_t { Count, Bytes, Share, Seconds, Error };

// A total by its name in report.json: what people call it, and how it is judged.
struct TotalKind {
  std::string_view name, title;
  Unit unit = Unit::Count;
  Worse worse = Worse::Neither;
};

struct Total {
  std::string_view name;
  Json value;  // null: not known
  Worse worse = Worse::Neither;
};

std::vector<Total> totals(const Json& report);
const TotalKind& total_kind(std::string_view name);
// A change from `before` to `after` that is worse by more than this share of `before`.
bool is_worse(const Total& before, const Total& after, double tolerance);

Result<Json> read_report(const std::filesystem::path& out);
// MRV0014 for each number of `after` that is worse. `baseline` is what the messages call the other.
std::vector<Diag> regressions(const Json& before, const Json& after, double tolerance,
                              const std::string& baseline);

// The same, of --baseline and --tolerance, behind what `found` has.
void add_regressions(const Gates& gates, const Json& before, const Json& after, std::vector<Diag>& found);

}  // namespace mrvlc::driver
