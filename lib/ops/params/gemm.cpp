// The attributes of Gemm and MatMul as one form.
#include "common/infer_util.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {

Result<GemmParams> gemm_params(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 2, 2));
  MRVLC_TRY(check_rank(context, 1, 2, 2));
  const Shape& a = context.type(0).shape;
  const Shape& b = context.type(1).shape;
  GemmParams p;
  p.trans_a = context.int_attr("transA") != 0;
  p.trans_b = context.int_attr("transB") != 0;
  p.alpha = context.float_attr("alpha");
  p.beta = context.float_attr("beta");
  p.m = a[p.trans_a ? 1 : 0];
  p.k = a[p.trans_a ? 0 : 1];
  p.n = b[p.trans_b ? 0 : 1];
  if (b[p.trans_b ? 1 : 0] != p.k) {
    return make_diag<DiagCode::MRV0205>(to_string(a), to_string(b), "the inner dimensions differ");
  }
  if (context.has(2)) {
    const Shape& c = context.type(2).shape;
    if (broadcast_shapes(c, {p.m, p.n}) != Shape{p.m, p.n}) {
      return make_diag<DiagCode::MRV0205>(to_string(c), to_string(Shape{p.m, p.n}),
                                          "C must broadcast to the result");
    }
  }
  return p;
}

}  // namespace mrvlc::ops
