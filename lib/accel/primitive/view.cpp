// Strides of views permuted, sliced, reshaped and broadcast.
#include "primitive/view.h"

#include <numeric>

#include "mrvlc/tensor/shape.h"

namespace mrvlc::accel {

Dims dense_strides(const Dims& dims, std::span<const int64_t> perm) {
  Dims strides(dims.size(), 0);
  int64_t dense = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    auto d = static_cast<size_t>(perm[i]);
    strides[d] = dense;
    dense *= dims[d];
  }
  return strides;
}

std::vector<int64_t> identity_perm(size_t rank) {
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), int64_t{0});
  return perm;
}

std::vector<int64_t> channels_last_perm(size_t rank) {
  std::vector<int64_t> perm = identity_perm(rank);
  if (rank < 3) return perm;
  perm.erase(perm.begin() + 1);
  perm.push_back(1);
  return perm;
}

View permuted(const View& view, std::span<const int64_t> perm) {
  View v = view;
  for (size_t i = 0; i < perm.size(); ++i) {
    v.dims[i] = view.dims[static_cast<size_t>(perm[i])];
    v.strides[i] = view.strides[static_cast<size_t>(perm[i])];
  }
  return v;
}

View slice(const View& view, size_t dim, int64_t start, int64_t step, int64_t size) {
  View v = view;
  v.offset += start * v.strides[dim];
  v.strides[dim] *= step;
  v.dims[dim] = size;
  return v;
}

std::optional<View> reshaped(const View& view, const Dims& dims) {
  // Both shapes are walked from the outside; groups of dimensions with equal products must be dense among
  // themselves.
  View v = view;
  v.dims = dims;
  v.strides.assign(dims.size(), 0);
  size_t i = 0, j = 0;
  while (i < view.dims.size() || j < dims.size()) {
    size_t i0 = i, j0 = j;
    int64_t a = i < view.dims.size() ? view.dims[i++] : 1, b = j < dims.size() ? dims[j++] : 1;
    while (a != b) {
      if (a < b && i < view.dims.size()) {
        a *= view.dims[i++];
      } else if (b < a && j < dims.size()) {
        b *= dims[j++];
      } else {
        return std::nullopt;
      }
    }
    int64_t inner = 0,
            expected = 0;  // stride of the group's innermost element; where the next one out must be
    bool seen = false;
    for (size_t k = i; k-- > i0;) {
      if (view.dims[k] == 1) continue;
      if (!seen) {
        inner = expected = view.strides[k];
        seen = true;
      }
      if (view.strides[k] != expected) return std::nullopt;
      expected *= view.dims[k];
    }
    for (size_t k = j; k-- > j0;) {
      v.strides[k] = inner;
      inner *= dims[k];
    }
  }
  return v;
}

View broadcast(const View& view, const Dims& dims) {
  View v = view;
  v.dims = dims;
  v.strides.assign(dims.size(), 0);
  size_t shift = dims.size() - view.dims.size();
  for (size_t d = 0; d < view.dims.size(); ++d)
    if (view.dims[d] != 1) v.strides[d + shift] = view.strides[d];
  return v;
}

View unsqueezed(const View& view, size_t dim) {
  View v = view;
  v.dims.insert(v.dims.begin() + static_cast<std::ptrdiff_t>(dim), 1);
  v.strides.insert(v.strides.begin() + static_cast<std::ptrdiff_t>(dim), 0);
  return v;
}

View factored(const View& v, size_t dim, int64_t inner) {
  View r = unsqueezed(v, dim + 1);
  r.dims[dim] = v.dims[dim] / inner;
  r.dims[dim + 1] = inner;
  r.strides[dim + 1] = v.strides[dim];
  r.strides[dim] = v.strides[dim] * inner;
  return r;
}

}  // namespace mrvlc::accel
