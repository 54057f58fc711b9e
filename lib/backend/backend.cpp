// What is the same for all back ends.
#include "mrvlc/backend/backend.h"

#include <utility>

#include "mrvlc/support/diag/general.h"

namespace mrvlc::backend {

void encode(RegionCode& code) {
  if (!code.encode) return;
  const auto make = std::exchange(code.encode, nullptr);
  make(code);
}

Result<RegionCode> Backend::compile(const ir::Graph& graph, const partition::Region& region,
                                    const std::string& name, const Log& log) const {
  MRVLC_ASSIGN(RegionCode code, generate(graph, region, name, log));
  encode(code);
  return code;
}

Result<std::unique_ptr<Timing>> Backend::time_changed(std::string_view, std::string_view,
                                                      std::string_view option) const {
  return make_diag<DiagCode::MRV0004>(fmt::format("{}: the cycles of {} come from no machine description",
                                                  option, printable(machine().name)));
}

std::optional<double> seconds_alone(const Backend& backend, const ir::Graph& graph,
                                    const partition::Region& region) {
  auto code = backend.compile(graph, region, "", {});
  if (!code.ok()) return std::nullopt;
  const Backend& own = backend.part(code->accelerator);
  auto timing = own.time(code->bytes);
  if (!timing.ok()) return std::nullopt;
  return static_cast<double>((*timing)->cycles()) / (1e9 * own.machine().clock_ghz);
}

}  // namespace mrvlc::backend
