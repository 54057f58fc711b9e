// Strided views: what can be said about them without moving a byte.
#pragma once
#include <optional>
#include <span>

#include "primitive/program.h"

namespace mrvlc::accel {

// Dense, dimension perm[0] outermost in memory.
Dims dense_strides(const Dims& dims, std::span<const int64_t> perm);
std::vector<int64_t> identity_perm(size_t rank);
// Channels (dimension 1) innermost: 0 2 3 ... 1; the identity below rank 3.
std::vector<int64_t> channels_last_perm(size_t rank);

View permuted(const View& view, std::span<const int64_t> perm);  // result dimension i is dimension perm[i]
View slice(const View& view, size_t dim, int64_t start, int64_t step, int64_t size);
// The same elements in row-major order of the dims under another shape; nullopt when strides cannot say it.
std::optional<View> reshaped(const View& view, const Dims& dims);
// Strides that repeat the view to `dims` (numpy broadcasting).
View broadcast(const View& view, const Dims& dims);
// A dimension as two, (outer, inner), with `inner` elements.
View factored(const View& view, size_t dim, int64_t inner);
// Inserts a dimension of size 1.
View unsqueezed(const View& view, size_t dim);

}  // namespace mrvlc::accel
