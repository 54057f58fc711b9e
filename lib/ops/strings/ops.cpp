// StringConcat and StringSplit (ONNX, opset 20).
#include "mrvlc/support/diag/ops.h"

#include "common/dynamic_util.h"
#include "elementwise/elementwise.h"
#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/ops/strings.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

constexpr TypeSet kTexts = types_of({E::String});

// -- StringConcat: pairs, broadcast

Result<std::vector<TensorType>> infer_concat(const InferContext& context) {
  MRVLC_TRY(check_elem(context, 1, kTexts));
  MRVLC_ASSIGN(Shape shape, broadcast_inputs(context, 0, 2));
  return one_type(E::String, shape);
}

BroadcastLoops pairs(const Shape& result, const Shape& a, const Shape& b) {
  return {result, {broadcast_strides(a, result), broadcast_strides(b, result)}};
}

Status eval_concat(const EvalContext& context) {
  const Tensor &a = context.in(0), &b = context.in(1);
  Tensor& y = context.out();
  if (y.elements() == 0) return {};
  BroadcastLoops loops = pairs(y.shape(), a.shape(), b.shape());
  auto& out = y.mutable_strings();
  Shape steps = row_major_strides(y.shape());
  for (int64_t i = 0; i < y.elements(); ++i) {
    int64_t from[2] = {0, 0}, rest = i;
    for (size_t d = 0; d < steps.size(); rest %= steps[d++]) {
      for (size_t k = 0; k < 2; ++k) from[k] += rest / steps[d] * loops.strides[k][d];
    }
    out[at(i)] = a.string_data()[at(from[0])] + b.string_data()[at(from[1])];
  }
  return {};
}

Status emit_concat(EmitContext& context) {
  const TensorType& y = context.out_type(0);
  if (!y.is_static() || !context.in_type(0).is_static() || !context.in_type(1).is_static())
    return bad_operands("strings of a shape that is known at run time only are not joined");
  if (y.elements() == 0) return {};
  auto* memory = dynamic_cast<TextMemory*>(&context);
  int64_t bytes = memory == nullptr ? 0 : memory->bytes_of_texts(y.elements());
  std::string characters = memory == nullptr ? "" : memory->characters(bytes);
  if (characters.empty()) return bad_operands("strings are not made in a loop of any number of turns");
  BroadcastLoops loops = pairs(y.shape, context.in_type(0).shape, context.in_type(1).shape);
  std::string x0 = context.in(0), x1 = context.in(1), y0 = context.out(0);
  context.line("size_t used = 0;");
  for (size_t d = 0; d < y.shape.size(); ++d) context.loop(fmt::format("i{}", d), y.shape[d]);
  if (y.shape.empty()) context.open("");
  context.line(fmt::format("const mrvl_string a = {}[{}], b = {}[{}];", x0, index_text(loops.strides[0]), x1,
                           index_text(loops.strides[1])));
  context.line(fmt::format("mrvl_string* y = {} + {};", y0, index_text(row_major_strides(y.shape))));
  context.fail_if(fmt::format("a.size > {0} - used || b.size > {0} - used - a.size", bytes));
  context.line(fmt::format("if (a.size) memcpy({} + used, a.data, a.size);", characters));
  context.line(fmt::format("if (b.size) memcpy({} + used + a.size, b.data, b.size);", characters));
  context.line(fmt::format("y->data = {} + used;", characters));
  context.line("y->size = a.size + b.size;");
  context.line("used += y->size;");
  for (size_t d = 0; d < std::max<size_t>(y.shape.size(), 1); ++d) context.close();
  return {};
}

// -- StringSplit: as Python's str.split; short lists are filled up with empty strings

struct Splitting {
  std::string delimiter;
  int64_t most = -1;  // splits; -1: no limit
};

Splitting splitting(const InferContext& context) {
  Splitting s;
  if (is_attr_set(context, "delimiter")) s.delimiter = context.string_attr("delimiter");
  if (is_attr_set(context, "maxsplit")) s.most = context.int_attr("maxsplit");
  return s;
}

constexpr std::string_view kSpace = " \t\n\v\f\r";

std::vector<std::string> split_at_space(std::string_view text, int64_t most) {
  std::vector<std::string> parts;
  size_t at = text.find_first_not_of(kSpace);
  while (at != std::string_view::npos) {
    bool last = most >= 0 && static_cast<int64_t>(parts.size()) == most;
    size_t end = last ? text.size() : std::min(text.find_first_of(kSpace, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = last ? std::string_view::npos : text.find_first_not_of(kSpace, end);
  }
  return parts;
}

std::vector<std::string> split(std::string_view text, const Splitting& s) {
  if (s.delimiter.empty()) return split_at_space(text, s.most);
  std::vector<std::string> parts;
  size_t at = 0, end = 0;
  while ((s.most < 0 || static_cast<int64_t>(parts.size()) < s.most) &&
         (end = text.find(s.delimiter, at)) != std::string_view::npos) {
    parts.emplace_back(text.substr(at, end - at));
    at = end + s.delimiter.size();
  }
  parts.emplace_back(text.substr(at));
  return parts;
}

Result<std::vector<TensorType>> infer_split(const InferContext& context) {
  const Tensor* x = context.constant(0);
  if (x == nullptr) return make_diag<DiagCode::MRV0207>("0 (its strings decide the shape of the result)");
  size_t most = 0;
  Splitting s = splitting(context);
  for (const std::string& text : x->string_data()) most = std::max(most, split(text, s).size());
  Shape shape = x->shape();
  shape.push_back(static_cast<int64_t>(most));
  return std::vector<TensorType>{{E::String, shape}, {E::I64, x->shape()}};
}

Result<std::vector<TensorType>> infer_split_dynamic(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  Dims dims = dims_of(context.type(0));
  Splitting s = splitting(context);
  dims.push_back(s.most >= 0 && s.most < kMaxExtent ? Dim{s.most + 1, true} : kAnyDim);
  return std::vector<TensorType>{type_of(E::String, dims), context.type(0).with_elem(E::I64)};
}

Status eval_split(const EvalContext& context) {
  Splitting s = splitting(context.infer_view());
  Tensor& y = context.out();
  const auto& texts = context.in(0).string_data();
  size_t width = at(y.shape().back());
  for (size_t i = 0; i < texts.size(); ++i) {
    auto parts = split(texts[i], s);
    for (size_t j = 0; j < parts.size(); ++j) y.mutable_strings()[i * width + j] = parts[j];
    if (context.outputs->size() > 1)
      context.out(1).set_int(static_cast<int64_t>(i), static_cast<int64_t>(parts.size()));
  }
  return {};
}

// C string literal of any bytes.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  return out + "\"";
}

Status emit_split(EmitContext& context) {
  Splitting s = splitting(emit_view(context));
  Texts dims = in_dims(context, 0);
  std::string n = product_text(dims), x = context.in(0);
  std::string call = fmt::format("{}({{}}, {{}}, {}, {}u, INT64_C({}))", context.helper("split"),
                                 quoted(s.delimiter), s.delimiter.size(), s.most);
  context.line("int64_t width = 0;");
  context.open(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i)", n));
  context.line(fmt::format("const int64_t parts = {};", fmt::format(fmt::runtime(call), x + "[i]", "NULL")));
  context.line("width = parts > width ? parts : width;");
  context.close();
  Texts result = dims;
  result.push_back("width");
  context.set_dims(0, result);
  bool counts = context.node().outputs.size() > 1;
  if (counts) context.set_dims(1, dims);
  std::string y = context.out(0);
  context.open(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i)", n));
  context.line(
      fmt::format("int64_t parts = {};", fmt::format(fmt::runtime(call), x + "[i]", y + " + i * width")));
  if (counts) context.line(fmt::format("{}[i] = parts;", context.out(1)));
  context.open("for (; parts < width; ++parts)");
  context.line(fmt::format("{}[i * width + parts].data = NULL;", y));
  context.line(fmt::format("{}[i * width + parts].size = 0;", y));
  context.close();
  context.close();
  return {};
}

}  // namespace

const OpDef& def_StringConcat() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "StringConcat";
    d.traits = {.work = Work::Linear};
    d.since_min = 20;
    d.min_inputs = d.max_inputs = 2;
    d.types = kTexts;
    d.infer = infer_concat;
    d.eval = eval_concat;
    d.emit_dynamic = emit_concat;
    d.declined =
        "accelerator: strings stay on the host; C: always with an error code, the memory for texts is "
        "bounded";
    return d;
  }();
  return op;
}

const OpDef& def_StringSplit() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "StringSplit";
    d.traits = {.data_dependent_shape = true};
    d.since_min = 20;
    d.attrs = {optional("delimiter", ir::AttrKind::String), optional("maxsplit", ir::AttrKind::Int)};
    d.max_outputs = 2;
    d.types = kTexts;
    d.infer = infer_split;
    d.infer_dynamic = infer_split_dynamic;
    d.eval = eval_split;
    d.emit_dynamic = emit_split;
    d.declined = "accelerator: strings stay on the host; C: always with a shape known at run time only";
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops
