// SparseTensorProto to a dense Tensor.
#include "file/tensor_decode.h"
#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::onnx {
namespace {

// Row-major position of every stored value: `indices` holds either that position itself, [NNZ], or one
// coordinate a dimension, [NNZ, rank] (onnx.proto, SparseTensorProto).
Result<std::vector<int64_t>> positions(const Tensor& indices, int64_t nnz, const Shape& dims,
                                       std::string_view name) {
  auto bad = [&](std::string_view why) { return make_diag<DiagCode::MRV0125>(printable(name), why); };
  if (indices.elem() != ElementType::I64) return bad("the indices are not int64");
  const auto rank = static_cast<int64_t>(dims.size());
  bool linear = indices.shape() == Shape{nnz};
  if (!linear && indices.shape() != Shape{nnz, rank}) {
    return bad(
        fmt::format("indices of shape {} for {} values of rank {}", to_string(indices.shape()), nnz, rank));
  }
  auto data = indices.data<int64_t>();
  const int64_t total = element_count(dims);
  std::vector<int64_t> out(static_cast<size_t>(nnz));
  for (size_t k = 0; k < out.size(); ++k) {
    int64_t at = linear ? data[k] : 0;
    for (size_t d = 0; !linear && d < dims.size(); ++d) {
      int64_t i = data[k * dims.size() + d];
      if (i < 0 || i >= dims[d])
        return bad(fmt::format("index {} is out of range for dimension {}", i, dims[d]));
      at = at * dims[d] + i;
    }
    if (at < 0 || at >= total) return bad(fmt::format("index {} is out of range for {} elements", at, total));
    if (k > 0 && at <= out[k - 1]) return bad("the indices are not ascending");
    out[k] = at;
  }
  return out;
}

}  // namespace

Result<Tensor> TensorDecoder::decode(pb::SparseTensorProto& sparse) {
  const std::string name = sparse.values().name();
  auto bad = [&](std::string_view why) { return make_diag<DiagCode::MRV0125>(printable(name), why); };
  Shape dims(sparse.dims().begin(), sparse.dims().end());
  if (auto why = bad_shape(dims)) return bad(*why);
  MRVLC_ASSIGN(Tensor values, decode(*sparse.mutable_values()));
  MRVLC_ASSIGN(Tensor indices, decode(*sparse.mutable_indices()));
  if (values.shape().size() != 1) return bad("the values are not a vector");
  if (values.elem() == ElementType::String) return bad("strings are not supported");
  MRVLC_ASSIGN(std::vector<int64_t> at, positions(indices, values.shape()[0], dims, name));
  TensorType type{values.elem(), std::move(dims)};
  if (type.bytes() > sparse_bytes_left_) {
    return make_diag<DiagCode::MRV0122>(printable(name), type.bytes(), sparse_bytes_left_);
  }
  sparse_bytes_left_ -= type.bytes();
  std::string bytes(static_cast<size_t>(type.bytes()), '\0');
  const auto size = static_cast<size_t>(byte_size(type.elem));
  for (size_t k = 0; k < at.size(); ++k) {
    std::memcpy(bytes.data() + static_cast<size_t>(at[k]) * size, values.bytes().data() + k * size, size);
  }
  return Tensor(std::move(type), std::move(bytes));
}

}  // namespace mrvlc::onnx
