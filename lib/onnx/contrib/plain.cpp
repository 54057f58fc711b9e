// Operators that ONNX has too, under another name or with other attributes, and small formulas.
#include "contrib/contrib.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::onnx {
namespace {

Status same_trilu(Decomposition& r) {
  r.result(0, r.add("Trilu", {r.in(0), r.in(1)}));
  r.pass({"upper"});
  return {};
}

Status same_gather_nd(Decomposition& r) {
  r.result(0, r.add("GatherND", {r.in(0), r.cast(r.in(1), ElementType::I64)}));
  return {};
}

// Inputs: data, pads [2 rank] or [1, 2 rank], value [] or [1].
Status same_pad(Decomposition& r) {
  std::string pads = r.type(1).rank() == 2 ? r.reshape(r.in(1), {-1}) : r.in(1);
  std::string value = r.has(2) && r.type(2).rank() == 1 ? r.add("Squeeze", {r.in(2)}) : r.in(2);
  r.result(0, r.add("Pad", {r.in(0), pads, value}));
  r.pass({"mode"});
  return {};
}

// Inputs: start, limit, delta, which is 1 if left out; scalars or of one element.
Status same_range(Decomposition& r) {
  auto scalar = [&](size_t k) { return r.type(k).rank() == 0 ? r.in(k) : r.add("Squeeze", {r.in(k)}); };
  std::string step = r.has(2) ? scalar(2) : r.scalar(1, r.in(0));
  r.result(0, r.add("Range", {scalar(0), scalar(1), step}));
  return {};
}

Status same_grid_sample(Decomposition& r) {
  std::string mode = r.string_attr("mode");
  if (mode == "bilinear" || mode.empty()) mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  std::string y = r.add("GridSample", {r.in(0), r.in(1)});
  r.set("mode", mode);
  r.pass({"align_corners", "padding_mode"});
  r.result(0, y);
  return {};
}

// Outputs: values in the order of their first places, the place of each element in them, how often each is.
Status same_unique(Decomposition& r) {
  std::string y = r.add("Unique", {r.in(0)}, 4);
  r.set("sorted", int64_t{0});
  r.result(0, y);
  r.result(1, Decomposition::also(y, 2));
  r.result(2, Decomposition::also(y, 3));
  return {};
}

Status expand_dims(Decomposition& r) {
  std::string axis = r.reshape(r.cast(r.in(1), ElementType::I64), {1});
  r.result(0, r.add("Unsqueeze", {r.in(0), axis}));
  return {};
}

Status torch_embedding(Decomposition& r) {
  // The padding index and the order of gradients matter in training alone.
  r.result(0, r.add("Gather", {r.in(0), r.in(1)}));
  return {};
}

Status sample_op(Decomposition& r) {
  r.result(0, r.add("Identity", {r.in(0)}));
  return {};
}

// -- sums with a bias

Status bias_add(Decomposition& r) {
  r.result(0, r.add("Add", {r.add("Add", {r.in(0), r.in(1)}), r.in(2)}));
  return {};
}

// The first half of the channels by the Gelu of the second.
Status bias_split_gelu(Decomposition& r) {
  std::string halves = r.add("Split", {r.add("Add", {r.in(0), r.in(1)})}, 2);
  r.set("axis", int64_t{-1}).set("num_outputs", int64_t{2});
  r.result(0, r.add("Mul", {halves, r.add("Gelu", {Decomposition::also(halves, 1)})}));
  return {};
}

Status gemm_fast_gelu(Decomposition& r) {
  std::string y = r.add("MatMul", {r.in(0), r.in(1)});
  if (r.has(2)) y = r.add("Add", {y, r.in(2)});
  r.result(0, r.add("Gelu", {y}));
  r.set("approximate", "tanh");
  return {};
}

// Dropout of inference: the sum with bias and residual. Inputs: data, bias, residual, ratio, training.
Status bias_dropout(Decomposition& r) {
  r.float_attr("seed", 0), r.int_attr("seed", 0);  // of training alone
  std::string y = r.add("Dropout", {r.add("Add", {r.in(0), r.in(1)}), r.in(3), r.in(4)}, r.wants(1) ? 2 : 1);
  if (r.wants(1)) r.result(1, Decomposition::also(y, 1));
  r.result(0, r.has(2) ? r.add("Add", {y, r.in(2)}) : y);
  return {};
}

// Softmax over the dimensions from `axis` on.
Status bias_softmax(Decomposition& r) {
  const int64_t rank = r.type(0).rank(), given = r.int_attr("axis", 1),
                axis = given < 0 ? given + rank : given;
  r.int_attr("is_inner_broadcast", 0);  // which dimensions of the bias are 1: its shape says so
  if (axis < 0 || axis >= rank) return make_diag<DiagCode::MRV0140>("axis", "is no dimension of the data");
  if (r.type(1).rank() != rank)
    return make_diag<DiagCode::MRV0205>(to_string(r.type(0)), to_string(r.type(1)), "the ranks differ");
  std::string sum = r.add("Add", {r.in(0), r.in(1)});
  std::string flat = axis == rank - 1 ? sum : r.add("Flatten", {sum});
  if (axis != rank - 1) r.set("axis", axis);
  std::string y = r.add("Softmax", {flat});
  r.set("axis", int64_t{-1});
  r.result(0, axis == rank - 1 ? y : r.add("Reshape", {y, r.add("Shape", {sum})}));
  return {};
}

// -- integers

Status reduce_sum_integer(Decomposition& r) {
  const auto* axes = r.attribute("axes");
  std::string given;
  if (axes != nullptr) given = r.constant({axes->ints().begin(), axes->ints().end()});
  std::string y = r.add("ReduceSum", {r.cast(r.in(0), ElementType::I32), given});
  r.pass({"keepdims"});
  r.result(0, y);
  return {};
}

Status matmul_integer_16(Decomposition& r) {
  r.result(0, r.add("MatMul", {r.cast(r.in(0), ElementType::I32), r.cast(r.in(1), ElementType::I32)}));
  return {};
}

// Inputs: A, its zero, B, its zero.
Status mul_integer(Decomposition& r) {
  auto whole = [&](size_t k) {
    std::string x = r.cast(r.in(k), ElementType::I32);
    return r.has(k + 1) ? r.add("Sub", {x, r.cast(r.in(k + 1), ElementType::I32)}) : x;
  };
  std::string a = whole(0), b = whole(2);
  r.result(0, r.add("Mul", {a, b}));
  return {};
}

// -- formulas

// Distances between the rows of A [m, k] and B [n, k].
Status c_dist(Decomposition& r) {
  const std::string metric = r.string_attr("metric");
  const bool squared = metric == "sqeuclidean" || metric.empty();
  if (!squared && metric != "euclidean")
    return make_diag<DiagCode::MRV0140>("metric", fmt::format("'{}' is not supported", printable(metric)));
  std::string a = r.add("Unsqueeze", {r.in(0), r.constant({1})}),
              b = r.add("Unsqueeze", {r.in(1), r.constant({0})});
  std::string y = r.add("ReduceSumSquare", {r.add("Sub", {a, b}), r.constant({2})});
  r.set("keepdims", int64_t{0});
  r.result(0, squared ? y : r.add("Sqrt", {y}));
  return {};
}

// Complex numbers as pairs along the last dimension; the second operand as it is or conjugated.
Status complex_product(Decomposition& r, bool conjugated) {
  const int64_t rank = std::max(r.type(0).rank(), r.type(1).rank());
  if (rank < 1) return make_diag<DiagCode::MRV0208>("the operands are scalars");
  std::string a = r.pick(r.in(0), 0, -1), b = r.pick(r.in(0), 1, -1), c = r.pick(r.in(1), 0, -1),
              d = r.pick(r.in(1), 1, -1);
  if (conjugated) d = r.add("Neg", {d});
  std::string re = r.add("Sub", {r.add("Mul", {a, c}), r.add("Mul", {b, d})});
  std::string im = r.add("Add", {r.add("Mul", {a, d}), r.add("Mul", {b, c})});
  std::string last = r.constant({-1});
  r.result(0, r.concat({r.add("Unsqueeze", {re, last}), r.add("Unsqueeze", {im, last})}, -1));
  return {};
}
Status complex_mul(Decomposition& r) {
  return complex_product(r, false);
}
Status complex_mul_conj(Decomposition& r) {
  return complex_product(r, true);
}

// x / sqrt(mean of squares) * scale * silu(gate) over groups as long as the scale.
Status gated_rms_norm(Decomposition& r) {
  const TensorType& scale = r.type(1);
  if (scale.rank() != 1 || scale.is_dynamic(0)) return make_diag<DiagCode::MRV0208>("the scale is no vector");
  std::string grouped = r.reshape(r.in(0), {-1, scale.shape[0]});
  std::string y = r.add("RMSNormalization", {grouped, r.in(1)});
  r.set("axis", int64_t{-1}).set("epsilon", r.float_attr("epsilon", 1e-6f));
  y = r.add("Reshape", {y, r.add("Shape", {r.in(2)})});
  std::string gate = r.add("Mul", {r.in(2), r.add("Sigmoid", {r.in(2)})});
  r.result(0, r.add("Mul", {y, gate}));
  return {};
}

}  // namespace

const std::vector<ContribOp>& contrib_plain() {
  static constexpr std::string_view kDomain = "com.microsoft";
  static const std::vector<ContribOp> ops = {
      {kDomain, "Trilu", 1, 2, same_trilu, "Trilu"},
      {kDomain, "GatherND", 2, 2, same_gather_nd, "GatherND"},
      {kDomain, "Pad", 2, 3, same_pad, "Pad"},
      {kDomain, "Range", 2, 3, same_range, "Range"},
      {kDomain, "GridSample", 2, 2, same_grid_sample, "GridSample"},
      {kDomain, "Unique", 1, 1, same_unique, "Unique"},
      {kDomain, "ExpandDims", 2, 2, expand_dims, "Unsqueeze"},
      {kDomain, "SampleOp", 1, 1, sample_op, "Identity"},
      {kDomain, "TorchEmbedding", 2, 4, torch_embedding, "Gather"},
      {kDomain, "BiasAdd", 3, 3, bias_add, "Add"},
      {kDomain, "BiasSplitGelu", 2, 2, bias_split_gelu, "Add, Split, Gelu, Mul"},
      {kDomain, "BiasDropout", 2, 5, bias_dropout, "Add, Dropout"},
      {kDomain, "BiasSoftmax", 2, 2, bias_softmax, "Add, Softmax"},
      {kDomain, "GemmFastGelu", 2, 3, gemm_fast_gelu, "MatMul, Add, Gelu"},
      {kDomain, "ReduceSumInteger", 1, 1, reduce_sum_integer, "Cast, ReduceSum"},
      {kDomain, "MatMulInteger16", 2, 2, matmul_integer_16, "Cast, MatMul"},
      {kDomain, "MulInteger", 3, 4, mul_integer, "Cast, Sub, Mul"},
      {kDomain, "CDist", 2, 2, c_dist, "Sub, ReduceSumSquare, Sqrt"},
      {kDomain, "ComplexMul", 2, 2, complex_mul, "Mul, Sub, Add"},
      {kDomain, "ComplexMulConj", 2, 2, complex_mul_conj, "Mul, Sub, Add"},
      {kDomain, "GatedRMSNorm", 3, 3, gated_rms_norm, "RMSNormalization, Sigmoid, Mul"},
  };
  return ops;
}

}  // namespace mrvlc::onnx
