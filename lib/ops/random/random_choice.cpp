// Bernoulli (ONNX Bernoulli-15), Multinomial (Multinomial-7) and Dropout (Dropout-13; before opset 12 it was
// the identity at inference, which is what its form without `training_mode` still is).
#include <cmath>

#include "common/dynamic_util.h"
#include "mrvlc/support/diag/ops.h"
#include "random/philox.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// -- element types: draws of F64 have 53 bits, others 24; half types are read and written through float

double draw(RandomKey key, int64_t i, ElementType elem) {
  auto n = static_cast<uint64_t>(i);
  return elem == E::F64 ? uniform53(key, n) : uniform24(key, n);
}

void open_draws(EmitContext& context, RandomKey key, const std::string& n, ElementType elem) {
  (elem == E::F64 ? open_uniform53 : open_uniform24)(context, key, n);
}

std::string loaded(EmitContext& context, size_t input, std::string_view index) {
  std::string x = fmt::format("{}[{}]", context.in(input), index);
  ElementType elem = context.in_type(input).elem;
  if (elem == E::F16) return fmt::format("{}({})", context.helper("f16_to_f32"), x);
  if (elem == E::BF16) return fmt::format("{}({})", context.helper("bf16_to_f32"), x);
  return x;
}

std::string stored_choice(EmitContext& context, const std::string& value) {
  ElementType elem = context.out_type(0).elem;
  if (elem == E::F16) return fmt::format("{}((float)({}))", context.helper("f32_to_f16"), value);
  if (elem == E::BF16) return fmt::format("{}((float)({}))", context.helper("f32_to_bf16"), value);
  return fmt::format("({})({})", c_type(elem), value);
}

RandomKey key_of(const EmitContext& context) {
  return random_key(*context.node().op, context.node().attrs);
}

// -- Bernoulli: 1 where u < p

Result<std::vector<TensorType>> infer_bernoulli(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  const ir::Attr& dtype = context.attr("dtype");
  ElementType elem = ir::is_set(dtype) ? std::get<ElementType>(dtype) : context.type(0).elem;
  if (!kOrdinary.has(elem)) return bad_attr("dtype", fmt::format("asks for {}", name(elem)));
  return std::vector<TensorType>{context.type(0).with_elem(elem)};
}

Status eval_bernoulli(const EvalContext& context) {
  RandomKey key = random_key(*context.op, *context.attrs);
  const Tensor& p = context.in(0);
  for (int64_t i = 0; i < p.elements(); ++i)
    context.out().set_double(i, draw(key, i, p.elem()) < p.as_double(i) ? 1 : 0);
  return {};
}

Status emit_bernoulli(EmitContext& context) {
  context.set_dims(0, in_dims(context, 0));
  open_draws(context, key_of(context), product_text(in_dims(context, 0)), context.in_type(0).elem);
  context.line(fmt::format("{}[i] = {};", context.out(0),
                           stored_choice(context, fmt::format("u < (double){}", loaded(context, 0, "i")))));
  context.close();
  return {};
}

// -- Multinomial: inversion of the cumulative sums of exp(x - max), in double

struct Draws {
  int64_t rows, classes, samples;
};

Result<Draws> multinomial_draws(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 2, 2));
  int64_t samples = context.int_attr("sample_size");
  MRVLC_TRY(check_dim(samples, "sample_size"));
  const Shape& x = context.type(0).shape;
  if (x[1] == 0) return bad_operands("there is no class to draw");
  return Draws{x[0], x[1], samples};
}

Result<std::vector<TensorType>> infer_multinomial(const InferContext& context) {
  MRVLC_ASSIGN(Draws d, multinomial_draws(context));
  auto elem = std::get<ElementType>(context.attr("dtype"));
  if (!kIndices.has(elem)) return bad_attr("dtype", "must be int32 or int64");
  return one_type(elem, {d.rows, d.samples});
}

std::vector<double> cumulative(const Tensor& x, int64_t row, int64_t classes) {
  double most = -INFINITY, total = 0;
  for (int64_t j = 0; j < classes; ++j) most = std::fmax(most, x.as_double(row * classes + j));
  std::vector<double> sums;
  for (int64_t j = 0; j < classes; ++j)
    sums.push_back(total += std::exp(x.as_double(row * classes + j) - most));
  return sums;
}

Status eval_multinomial(const EvalContext& context) {
  MRVLC_ASSIGN(Draws d, multinomial_draws(context.infer_view()));
  RandomKey key = random_key(*context.op, *context.attrs);
  std::vector<double> sums;
  for (int64_t i = 0; i < d.rows * d.samples; ++i) {
    if (i % d.samples == 0) sums = cumulative(context.in(0), i / d.samples, d.classes);
    double target = uniform53(key, static_cast<uint64_t>(i)) * sums.back();
    size_t k = 0;
    while (k + 1 < sums.size() && !(target < sums[k])) ++k;
    context.out().set_int(i, static_cast<int64_t>(k));
  }
  return {};
}

Status emit_multinomial(EmitContext& context) {
  MRVLC_ASSIGN(Draws d, multinomial_draws(emit_view(context)));
  if (context.out_type(0).elements() == 0) return {};
  std::string scratch = context.scratch(d.classes * 8);
  context.line(fmt::format("double* sums = (double*){};", scratch));
  open_uniform53(context, key_of(context), fmt::format("{}", d.rows * d.samples));
  context.open(fmt::format("if (i % {} == 0)", d.samples));
  context.line(fmt::format("const ptrdiff_t row = i / {} * {};", d.samples, d.classes));
  context.line("double most = -(double)INFINITY, total = 0.0;");
  std::string x = loaded(context, 0, "row + j");
  context.line(
      fmt::format("for (ptrdiff_t j = 0; j < {}; ++j) most = fmax(most, (double){});", d.classes, x));
  context.line(fmt::format("for (ptrdiff_t j = 0; j < {}; ++j) sums[j] = total += exp((double){} - most);",
                           d.classes, x));
  context.close();
  context.line(fmt::format("const double target = u * sums[{}];", d.classes - 1));
  context.line("ptrdiff_t k = 0;");
  context.line(fmt::format("while (k < {} && !(target < sums[k])) ++k;", d.classes - 1));
  context.line(fmt::format("{}[i] = ({})k;", context.out(0), c_type(context.out_type(0).elem)));
  context.close();
  return {};
}

// -- Dropout: in training mode an element is kept where u >= ratio, and scaled by 1 / (1 - ratio)

Status upgrade_dropout(RawNode& node) {
  node.take("consumed_inputs");
  node.take("is_test");
  if (node.opset < 12) node.take("ratio");  // has no effect at inference
  return {};
}

Result<std::vector<TensorType>> infer_dropout(const InferContext& context) {
  if (context.has(1)) {
    MRVLC_TRY(check_elem(context, 1, kFloats));
    if (element_count(context.type(1).shape) != 1) return bad_operands("ratio must be one number");
  }
  if (context.has(2) && (element_count(context.type(2).shape) != 1 || context.type(2).elem != E::Bool))
    return bad_operands("training_mode must be one bool");
  std::vector<TensorType> types{context.type(0)};
  if (context.num_outputs > 1) types.push_back(context.type(0).with_elem(E::Bool));
  return types;
}

Status eval_dropout(const EvalContext& context) {
  const Tensor& x = context.in(0);
  Tensor& y = context.out();
  y = x;
  bool has_mask = context.outputs->size() > 1;
  if (has_mask) std::ranges::fill(context.out(1).mutable_data<uint8_t>(), uint8_t{1});
  if (!context.has(2) || context.in(2).as_int(0) == 0) return {};
  double ratio = context.has(1) ? context.in(1).as_double(0) : 0.5, scale = 1 / (1 - ratio);
  RandomKey key = random_key(*context.op, *context.attrs);
  for (int64_t i = 0; i < x.elements(); ++i) {
    bool kept = draw(key, i, x.elem()) >= ratio;
    y.set_double(i, kept ? x.as_double(i) * scale : 0);
    if (has_mask) context.out(1).set_int(i, kept ? 1 : 0);
  }
  return {};
}

// `count`: a C expression, the number of elements.
void emit_copy(EmitContext& context, const std::string& count) {
  if (count == "0") return;
  std::string bytes = product_text({count, fmt::format("{}", byte_size(context.in_type(0).elem))});
  context.line(fmt::format("memcpy({}, {}, (size_t)({}));", context.out(0), context.in(0), bytes));
  if (context.node().outputs.size() > 1)
    context.line(fmt::format("memset({}, 1, (size_t)({}));", context.out(1), count));
}

Status emit_dropout(EmitContext& context) {
  const Texts dims = in_dims(context, 0);
  for (size_t i : {size_t{1}, size_t{2}}) {
    if (context.has(i)) require_equal(context, "1", product_text(in_dims(context, i)));
  }
  for (size_t i = 0; i < context.node().outputs.size(); ++i) context.set_dims(i, dims);
  const std::string count = product_text(dims);
  if (!context.has(2)) {
    emit_copy(context, count);
    return {};
  }
  ElementType elem = context.in_type(0).elem;
  context.open(fmt::format("if ({}[0])", context.in(2)));
  context.line(fmt::format("const double ratio = {};",
                           context.has(1) ? "(double)" + loaded(context, 1, "0") : std::string("0.5")));
  context.line("const double scale = 1.0 / (1.0 - ratio);");
  (elem == E::F64 ? open_uniform53 : open_uniform24)(context, key_of(context), count);
  std::string value = fmt::format("u >= ratio ? (double){} * scale : 0.0", loaded(context, 0, "i"));
  context.line(fmt::format("{}[i] = {};", context.out(0), stored_choice(context, value)));
  if (context.node().outputs.size() > 1) context.line(fmt::format("{}[i] = u >= ratio;", context.out(1)));
  context.close();
  context.close();
  context.open("else");
  emit_copy(context, count);
  context.close();
  return {};
}

Result<std::vector<TensorType>> infer_dynamic_dropout(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  return infer_dropout(context);
}

}  // namespace

const OpDef& def_Bernoulli() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "Bernoulli";
    d.traits = {.random = true};
    d.since_min = 15;
    d.attrs = {optional("dtype", ir::AttrKind::Type), optional("seed", ir::AttrKind::Float),
               with_int(kStream, 0)};
    d.types = kFloats;
    d.infer = d.infer_dynamic = infer_bernoulli;
    d.eval = eval_bernoulli;
    d.emit = d.emit_dynamic = emit_bernoulli;
    d.declined = "the accelerator draws no random numbers";
    return d;
  }();
  return op;
}

const OpDef& def_Multinomial() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "Multinomial";
    d.traits = {.random = true};
    d.since_min = 7;
    d.attrs = {{"dtype", ir::AttrKind::Type, ir::Attr(E::I32), false},
               with_int("sample_size", 1),
               optional("seed", ir::AttrKind::Float),
               with_int(kStream, 0)};
    d.types = kFloats;
    d.infer = infer_multinomial;
    d.eval = eval_multinomial;
    d.emit = emit_multinomial;
    d.declined = "the accelerator draws no random numbers";
    return d;
  }();
  return op;
}

const OpDef& def_Dropout() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "Dropout";
    d.traits = {.work = Work::Linear, .passes_size_on = true};
    d.attrs = {optional("seed", ir::AttrKind::Int), with_int(kStream, 0)};
    d.max_inputs = 3;
    d.max_outputs = 2;
    d.types = kFloats;
    d.upgrade = upgrade_dropout;
    d.infer = infer_dropout;
    d.eval = eval_dropout;
    d.infer_dynamic = infer_dynamic_dropout;
    d.emit = d.emit_dynamic = emit_dropout;
    d.declined =
        "accelerator: the identity at inference, removed before partitioning; it draws no random numbers";
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops
