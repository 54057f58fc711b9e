// Operators whose channels are the last dimension: those of ONNX between transpositions.
#include "contrib/channels_last.h"

#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::onnx {

// The perm from channels last to first, or back.
static std::vector<int64_t> channels_perm(int64_t rank, bool first) {
  std::vector<int64_t> perm{0};
  if (first) perm.push_back(rank - 1);
  for (int64_t d = first ? 1 : 2; d < rank - (first ? 1 : 0); ++d) perm.push_back(d);
  if (!first) perm.push_back(1);
  return perm;
}

std::string channels_first(Decomposition& r, const std::string& x, int64_t rank) {
  return rank < 3 ? x : r.transpose(x, channels_perm(rank, true));
}

std::string channels_back(Decomposition& r, const std::string& x, int64_t rank) {
  return rank < 3 ? x : r.transpose(x, channels_perm(rank, false));
}

namespace {

Status nhwc_max_pool(Decomposition& r) {
  const int64_t rank = r.type(0).rank();
  std::string y = r.add("MaxPool", {channels_first(r, r.in(0), rank)});
  r.pass({"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides"});
  r.result(0, channels_back(r, y, rank));
  return {};
}

Status nhwc_conv(Decomposition& r) {
  const int64_t rank = r.type(0).rank();
  std::string y = r.add("Conv", {channels_first(r, r.in(0), rank), r.in(1), r.in(2)});
  r.pass({"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"});
  y = channels_back(r, y, rank);
  if (r.has(3)) y = r.add("Add", {y, r.in(3)});
  MRVLC_ASSIGN(y, activated(r, y, r.string_attr("activation"), r.floats_attr("activation_params")));
  r.result(0, y);
  return {};
}

// Inputs: x with scale and zero, weights with theirs, scale and zero of the result, bias.
Status nhwc_qlinear_conv(Decomposition& r) {
  const int64_t rank = r.type(0).rank();
  const bool last = r.int_attr("channels_last", 0) != 0;
  std::string x = last ? channels_first(r, r.in(0), rank) : r.in(0);
  std::string y =
      r.add("QLinearConv", {x, r.in(1), r.in(2), r.in(3), r.in(4), r.in(5), r.in(6), r.in(7), r.in(8)});
  r.pass({"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"});
  r.result(0, last ? channels_back(r, y, rank) : y);
  return {};
}

// Of x [batch, .., channels] or [batch, channels, ..]. Inputs: x, gamma, beta.
Result<std::string> group_normalized(Decomposition& r, const std::string& x) {
  const int64_t rank = r.type(0).rank();
  const bool last = r.int_attr("channels_last", 1) != 0;
  std::string y = last ? channels_first(r, x, rank) : x;
  y = r.add("GroupNormalization",
            {y, r.add("CastLike", {r.in(1), r.in(0)}), r.add("CastLike", {r.in(2), r.in(0)})});
  r.set("num_groups", r.int_attr("groups", 0)).set("epsilon", r.float_attr("epsilon", 1e-5f));
  if (last) y = channels_back(r, y, rank);
  const int64_t activation = r.int_attr("activation", 0);
  if (activation == 0) return y;
  if (activation == 1) return r.add("Mul", {y, r.add("Sigmoid", {y})});
  return make_diag<DiagCode::MRV0140>("activation", fmt::format("{} is not supported", activation));
}

Status group_norm(Decomposition& r) {
  MRVLC_ASSIGN(std::string y, group_normalized(r, r.in(0)));
  r.result(0, y);
  return {};
}

// Inputs: x, gamma, beta, skip [batch, channels] or of the form of x, bias of channels. Outputs: result, sum.
Status skip_group_norm(Decomposition& r) {
  if (r.int_attr("channels_last", 1) == 0)
    return make_diag<DiagCode::MRV0140>("channels_last", "0 is not supported");
  std::string skip = r.in(3);
  if (r.type(3).rank() == 2) skip = r.add("Unsqueeze", {skip, r.constant({1, 2})});
  std::string sum = r.add("Add", {r.in(0), skip});
  if (r.has(4)) sum = r.add("Add", {sum, r.in(4)});
  MRVLC_ASSIGN(std::string y, group_normalized(r, sum));
  r.result(0, y);
  r.result(1, sum);
  return {};
}

}  // namespace

const std::vector<ContribOp>& contrib_channels_last() {
  static constexpr std::string_view kDomain = "com.microsoft";
  static const std::vector<ContribOp> ops = {
      {kDomain, "NhwcMaxPool", 1, 1, nhwc_max_pool, "Transpose, MaxPool, Transpose"},
      {kDomain, "NhwcConv", 2, 3, nhwc_conv, "Transpose, Conv, Transpose"},
      {kDomain, "NhwcFusedConv", 2, 4, nhwc_conv, "Transpose, Conv, Transpose, Add, an activation"},
      {kDomain, "QLinearConv", 8, 9, nhwc_qlinear_conv, "QLinearConv, Transpose"},
      {kDomain, "GroupNorm", 3, 3, group_norm, "GroupNormalization, Transpose, Sigmoid, Mul"},
      {kDomain, "SkipGroupNorm", 4, 5, skip_group_norm, "Add, GroupNormalization, Transpose, Sigmoid, Mul"},
  };
  return ops;
}

}  // namespace mrvlc::onnx
