// A copy whose source index along each dimension comes from a table: padding by reflection, edge or wrap,
// nearest resizing.
#pragma once
#include "common/emit_util.h"

namespace mrvlc::ops {

struct MappedCopy {
  Shape in;                                // row-major input shape
  std::vector<std::vector<int64_t>> from;  // [dimension][output index]: input index
};

// Tables of positions are part of the generated code, and as long as dimensions: MRV0210 beyond 2^23 entries
// together.
Status check_table_sizes(const std::vector<int64_t>& entries);

// Builds the table of one dimension from a function of the output index.
template <class F>
std::vector<int64_t> index_table(int64_t size, F f) {
  std::vector<int64_t> table(at(size));
  for (int64_t o = 0; o < size; ++o) table[at(o)] = f(o);
  return table;
}

void run_mapped_copy(const MappedCopy& copy, const Tensor& in, Tensor& out);
void emit_mapped_copy(EmitContext& context, const MappedCopy& copy);  // input 0 to output 0

}  // namespace mrvlc::ops
