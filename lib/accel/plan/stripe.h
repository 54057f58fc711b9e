// Cascades: a run of operations by rows (windows, and what the vector unit does with each element) whose
// images are too large for the chip is worked through in stripes of rows, so that what they pass on to each
// other stays there. Rows at the edges of stripes are computed twice.
#pragma once
#include <optional>

#include "plan/residency.h"

namespace mrvlc::accel {

struct Run {
  size_t first = 0, last = 0;  // primitives
};
// Stretches of such operations that pass on large tensors through DDR; `residences` says which live there.
std::vector<Run> find_runs(const Program& program, const std::vector<Residence>& residences,
                           const target::Machine& machine, uint32_t tiles);
// Stripes of rows, each of them in so many parts of columns.
struct Grid {
  int64_t rows = 1, cols = 1;
  bool whole() const { return rows * cols == 1; }
  bool operator==(const Grid&) const = default;
};
// Grids that the run is worth trying in, fewer stripes first, rows before columns.
std::vector<Grid> grids_for(const Program& program, const Run& run, const target::Machine& machine,
                            uint32_t tiles);
// `program` (its weights may have been moved out) with each run in such a grid; 1 x 1 leaves it as it is.
// nullopt when a run has too few rows or columns, or does not go by columns.
std::optional<Program> in_stripes(const Program& program, const std::vector<Run>& runs,
                                  const std::vector<Grid>& grids);

}  // namespace mrvlc::accel
