// A region compiled to know what it takes.
#include "mrvlc/backend/backend.h"

namespace mrvlc::backend {

std::optional<double> seconds_alone(const Backend& backend, const ir::Graph& graph,
                                    const partition::Region& region) {
  auto code = backend.compile(graph, region, "", {});
  if (!code.ok()) return std::nullopt;
  auto timing = backend.time(code->bytes);
  if (!timing.ok()) return std::nullopt;
  return static_cast<double>((*timing)->cycles()) / (1e9 * backend.machine().clock_ghz);
}

}  // namespace mrvlc::backend
