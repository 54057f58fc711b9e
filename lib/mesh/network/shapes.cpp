// How shapes of the model lie in memory as rows, width and channels.
#include <algorithm>
#include <numeric>

#include "network/builder.h"

namespace mrvlc::mesh {

Diag refused(const ir::Node& n, std::string_view why) {
  return at_node(make_diag<DiagCode::MRV1303>(why), n.name, n.op->name);
}

std::optional<Elem> elem_of(ElementType type) {
  switch (type) {
    case ElementType::I8:
      return Elem::I8;
    case ElementType::U8:
      return Elem::U8;
    case ElementType::I32:
      return Elem::I32;
    case ElementType::F32:
      return Elem::F32;
    default:
      return std::nullopt;
  }
}

Tensor3 folded(const Shape& shape, const std::vector<size_t>& order) {
  Tensor3 t;
  const size_t rank = order.size();
  if (rank > 0) t.channels = shape[order[rank - 1]];
  const size_t rows_end = rank >= 4 ? rank - 2 : rank - std::min<size_t>(rank, 1);
  if (rank >= 4) t.width = shape[order[rank - 2]];
  for (size_t i = 0; i < rows_end; ++i) t.rows *= shape[order[i]];
  return t;
}

std::vector<size_t> identity_order(size_t rank) {
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

std::vector<size_t> channels_last(size_t rank) {
  std::vector<size_t> order = identity_order(rank);
  if (rank > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

std::vector<int64_t> row_major_strides(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

bool same_order(const Shape& shape, const std::vector<size_t>& a, const std::vector<size_t>& b) {
  const auto longer = [&](const std::vector<size_t>& order) {
    std::vector<size_t> dims;
    std::ranges::copy_if(order, std::back_inserter(dims), [&](size_t d) { return shape[d] != 1; });
    return dims;
  };
  return longer(a) == longer(b);
}

}  // namespace mrvlc::mesh
