// Conv: Y[n,m,o] = B[m] + sum over c, k of X[n, g*C/G + c, o*stride + k*dilation - pad] * W[m,c,k]  (ONNX
// Conv-11).
#include "macs.h"
#include "product/ref_gemm.h"
#include "window/conv_dynamic.h"
#include "window/ref_conv.h"
#include "window/window_attrs.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

Result<std::vector<TensorType>> infer_conv(const InferContext& context) {
  MRVLC_TRY(check_same_elem(context, 1));
  if (context.has(2)) MRVLC_TRY(check_same_elem(context, 2));
  MRVLC_ASSIGN(ConvParams p, conv_params(context));
  Shape shape{p.batch, p.out_channels};
  shape.insert(shape.end(), p.output.begin(), p.output.end());
  return one_type(context.type(0).elem, std::move(shape));
}

Status eval_conv(const EvalContext& context) {
  MRVLC_ASSIGN(ConvParams p, conv_params(context.infer_view()));
  ConvOperands operands;
  operands.data = [&](int64_t first, int64_t count, double* out) {
    load_doubles(context.in(0), first, count, out);
  };
  operands.weights = [&](int64_t first, int64_t count, double* out) {
    load_doubles(context.in(1), first, count, out);
  };
  if (context.in(0).elem() == ElementType::F32) operands.floats = context.in(0).data<float>();
  operands.bias = [&](int64_t m) { return context.has(2) ? context.in(2).as_double(m) : 0.0; };
  ref_conv(p, operands, context.out());
  return {};
}

}  // namespace

const OpDef& def_Conv() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "Conv";
    d.macs = conv_macs;
    d.traits = {.work = Work::Windows, .sums_products = true, .passes_size_on = true, .by_channel = true};
    d.attrs = conv_attrs();
    d.min_inputs = 2;
    d.max_inputs = 3;
    d.types = kFloats;
    d.infer = infer_conv;
    d.eval = eval_conv;
    d.emit_kernel = "conv";
    d.emit_dynamic = emit_dynamic_conv;
    d.accel = {LayerKind::Conv};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
