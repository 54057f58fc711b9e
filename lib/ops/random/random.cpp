// RandomUniform, RandomUniformLike, RandomNormal, RandomNormalLike (ONNX, opset 1 and 22). The numbers are
// those of docs/random.md, in the reference and in C.
#include "common/dynamic_util.h"
#include "random/philox.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

bool is_like(const ir::OpSchema& op) {
  return op.name.ends_with("Like");
}

Result<std::vector<TensorType>> infer_random(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  const ir::Attr& dtype = context.attr("dtype");
  ElementType elem = ir::is_set(dtype) ? std::get<ElementType>(dtype) : context.type(0).elem;
  if (!kFloats.has(elem))
    return bad_attr("dtype", fmt::format("asks for {}, which is no floating point type", name(elem)));
  if (is_like(*context.op)) return std::vector<TensorType>{context.type(0).with_elem(elem)};
  const auto& shape = context.ints_attr("shape");
  if (static_cast<int64_t>(shape.size()) > kMaxRank) return bad_attr("shape", "has too many dimensions");
  for (int64_t d : shape) MRVLC_TRY(check_dim(d, "a dimension of 'shape'"));
  return one_type(elem, shape);
}

// a + u * b for uniform numbers, a + z * b for normal ones. The range is rounded to float, which makes its
// product with a multiple of 2^-24 exact in double.
struct Affine {
  double a, b;
};

Affine affine(const InferContext& context) {
  if (context.op->name.starts_with("RandomNormal"))
    return {static_cast<double>(context.float_attr("mean")),
            static_cast<double>(context.float_attr("scale"))};
  double low = static_cast<double>(context.float_attr("low"));
  return {low,
          static_cast<double>(static_cast<float>(static_cast<double>(context.float_attr("high")) - low))};
}

void put(Tensor& y, int64_t i, double value) {
  y.set_double(i, y.elem() == E::F64 ? value : static_cast<double>(static_cast<float>(value)));
}

Status eval_uniform(const EvalContext& context) {
  Affine t = affine(context.infer_view());
  RandomKey key = random_key(*context.op, *context.attrs);
  Tensor& y = context.out();
  for (int64_t i = 0; i < y.elements(); ++i) {
    auto n = static_cast<uint64_t>(i);
    double u = y.elem() == E::F64 ? uniform53(key, n) : uniform24(key, n);
    double scaled = u * t.b;
    put(y, i, t.a + scaled);
  }
  return {};
}

Status eval_normal(const EvalContext& context) {
  Affine t = affine(context.infer_view());
  RandomKey key = random_key(*context.op, *context.attrs);
  Tensor& y = context.out();
  for (int64_t i = 0; i < y.elements(); i += 2) {
    auto z = normal_pair(key, static_cast<uint64_t>(i / 2));
    put(y, i, t.a + z[0] * t.b);
    if (i + 1 < y.elements()) put(y, i + 1, t.a + z[1] * t.b);
  }
  return {};
}

std::string stored(EmitContext& context, const std::string& value) {
  ElementType elem = context.out_type(0).elem;
  if (elem == E::F64) return value;
  std::string narrow = fmt::format("(float)({})", value);
  if (elem == E::F16) return fmt::format("{}({})", context.helper("f32_to_f16"), narrow);
  if (elem == E::BF16) return fmt::format("{}({})", context.helper("f32_to_bf16"), narrow);
  return narrow;
}

Status emit_uniform(EmitContext& context, const std::string& n) {
  Affine t = affine(emit_view(context));
  RandomKey key = random_key(*context.node().op, context.node().attrs);
  bool wide = context.out_type(0).elem == E::F64;
  (wide ? open_uniform53 : open_uniform24)(context, key, n);
  // Two statements, so that they are not contracted.
  context.line(fmt::format("const double v = u * {};", c_literal(t.b, E::F64)));
  context.line(fmt::format("{}[i] = {};", context.out(0), stored(context, c_literal(t.a, E::F64) + " + v")));
  context.close();
  return {};
}

Status emit_normal(EmitContext& context, const std::string& n) {
  Affine t = affine(emit_view(context));
  RandomKey key = random_key(*context.node().op, context.node().attrs);
  std::string y = context.out(0);
  auto value = [&](std::string_view z) {
    return stored(context, fmt::format("{} + {} * {}", c_literal(t.a, E::F64), z, c_literal(t.b, E::F64)));
  };
  open_normals(context, key, n);
  context.line(fmt::format("{}[i] = {};", y, value("z0")));
  context.line(fmt::format("if (i + 1 < {}) {}[i + 1] = {};", n, y, value("z1")));
  context.close();
  return {};
}

Status emit_random(EmitContext& context) {
  if (!context.node().inputs.empty()) context.set_dims(0, in_dims(context, 0));
  const std::string n = product_text(out_dims(context));
  return context.node().op->name.starts_with("RandomNormal") ? emit_normal(context, n)
                                                             : emit_uniform(context, n);
}

OpDef random_op(std::string_view op, std::string_view first, float a, std::string_view second, float b) {
  OpDef d;
  d.name = op;
  d.traits = {.random = true};
  d.attrs = {optional("dtype", ir::AttrKind::Type), with_float(first, a), with_float(second, b),
             optional("seed", ir::AttrKind::Float), with_int(kStream, 0)};
  if (is_like(d)) {
    d.types = kFixedSize;
    d.infer_dynamic = infer_random;
    d.emit_dynamic = emit_random;
  } else {
    d.attrs[0] = {"dtype", ir::AttrKind::Type, ir::Attr(E::F32), false};
    d.attrs.push_back(required("shape", ir::AttrKind::Ints));
    d.min_inputs = d.max_inputs = 0;
  }
  d.infer = infer_random;
  bool normal = first == "mean";
  d.eval = normal ? eval_normal : eval_uniform;
  d.emit = emit_random;
  d.declined = "the accelerator draws no random numbers";
  return d;
}

}  // namespace

const OpDef& def_RandomUniform() {
  static const OpDef op = random_op("RandomUniform", "low", 0, "high", 1);
  return op;
}

const OpDef& def_RandomUniformLike() {
  static const OpDef op = random_op("RandomUniformLike", "low", 0, "high", 1);
  return op;
}

const OpDef& def_RandomNormal() {
  static const OpDef op = random_op("RandomNormal", "mean", 0, "scale", 1);
  return op;
}

const OpDef& def_RandomNormalLike() {
  static const OpDef op = random_op("RandomNormalLike", "mean", 0, "scale", 1);
  return op;
}

}  // namespace mrvlc::ops
