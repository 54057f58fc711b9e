// The numbers by which compiles are compared, and judged by gates (output/gates.h).
#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "model/report.h"
#include "mrvlc/driver/options.h"

namespace mrvlc::driver {

// More of it is worse, less of it is worse, or neither.
enum class Worse : uint8_t { More, Less, Neither };

// What a total counts.
enum class Unit : uint8_t { Count, Bytes, Share, Seconds, Error };

// A total: its name in files, what people call it, how it is judged, and where it stands in a report.
struct TotalKind {
  std::string_view name, title;
  Unit unit = Unit::Count;
  Worse worse = Worse::Neither;
  std::optional<Number> (*of)(const Report& report) = nullptr;  // nullopt: not known
};

std::span<const TotalKind> total_kinds();
// By one of these names.
const TotalKind& total_kind(std::string_view name);

// Values of all of them, in order.
std::vector<std::optional<Number>> totals(const Report& report);
double as_double(const Number& number);
// As JSON has it.
std::string number_text(const Number& number);

// report.json of an output folder.
Result<Report> read_report(const std::filesystem::path& out);
// A change from `before` to `after` that is worse by more than this share of `before`.
bool is_worse(const TotalKind& kind, const std::optional<Number>& before, const std::optional<Number>& after,
              double tolerance);

// MRV0014 for each number of `after` that is worse. `baseline` is what the messages call the other.
std::vector<Diag> regressions(const Report& before, const Report& after, double tolerance,
                              const std::string& baseline);

// The same, of --baseline and --tolerance, behind what `found` has.
void add_regressions(const Gates& gates, const Report& before, const Report& after, std::vector<Diag>& found);

}  // namespace mrvlc::driver
