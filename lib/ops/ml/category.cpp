// Maps between categories of ai.onnx.ml: LabelEncoder (versions 1, 2 and 4), CategoryMapper and OneHotEncoder
// (1). DictVectorizer and ZipMap read or write maps, which are no values here.
#include <cmath>

#include "common/convert.h"
#include "elementwise/elementwise.h"
#include "ml/ml.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// -- LabelEncoder

constexpr TypeSet kEncodable = types_of({E::F32, E::F64, E::I16, E::I32, E::I64, E::String});

struct Encoding {
  ml::List keys, values;  // of the same size; the default comes last in values
  ElementType key_type = E::Undefined, value_type = E::Undefined;
};

// The list of keys_* or values_*, of which exactly one is given.
Result<std::pair<ml::List, ElementType>> encoder_list(const InferContext& context,
                                                      const std::string& prefix) {
  using Choice = std::pair<ml::List, ElementType>;
  std::vector<Choice> given;
  if (is_attr_set(context, prefix + "_int64s"))
    given.emplace_back(context.ints_attr(prefix + "_int64s"), E::I64);
  if (is_attr_set(context, prefix + "_strings"))
    given.emplace_back(ml::strings(context, prefix + "_strings"), E::String);
  if (is_attr_set(context, prefix + "_floats")) {
    const auto& v = ml::floats(context, prefix + "_floats");
    given.emplace_back(std::vector<double>(v.begin(), v.end()), E::F32);
  }
  if (is_attr_set(context, prefix + "_tensor")) {
    const auto& t = std::get<Tensor>(context.attr(prefix + "_tensor"));
    if (!kEncodable.has(t.elem())) return bad_attr(prefix + "_tensor", "is of a type that is not encoded");
    if (t.elem() == E::String) {
      given.emplace_back(t.string_data(), E::String);
    } else if (is_float(t.elem())) {
      given.emplace_back(t.to_doubles(), t.elem());
    } else {
      given.emplace_back(t.to_ints(), t.elem());
    }
  }
  if (given.size() != 1) return bad_attr(prefix + "_*", "must be given exactly once");
  return given[0];
}

// Appends default_tensor, or the default of the values' type.
Status append_default(const InferContext& context, Encoding& e) {
  const auto* tensor = std::get_if<Tensor>(&context.attr("default_tensor"));
  if (tensor != nullptr && (tensor->elem() != e.value_type || tensor->elements() != 1))
    return bad_attr("default_tensor", "must be one element of the values' type");
  if (auto* s = std::get_if<std::vector<std::string>>(&e.values)) {
    s->push_back(tensor != nullptr ? tensor->string_data()[0] : context.string_attr("default_string"));
  } else if (auto* n = std::get_if<std::vector<int64_t>>(&e.values)) {
    n->push_back(tensor != nullptr ? tensor->as_int(0) : context.int_attr("default_int64"));
  } else {
    double value = static_cast<double>(context.float_attr("default_float"));
    std::get<std::vector<double>>(e.values).push_back(tensor != nullptr ? tensor->as_double(0) : value);
  }
  return {};
}

Result<Encoding> encoding(const InferContext& context) {
  MRVLC_ASSIGN(auto keys, encoder_list(context, "keys"));
  MRVLC_ASSIGN(auto values, encoder_list(context, "values"));
  Encoding e{std::move(keys.first), std::move(values.first), keys.second, values.second};
  if (ml::size_of(e.keys) != ml::size_of(e.values))
    return bad_operands("there must be as many keys as values");
  if (context.type(0).elem != e.key_type)
    return bad_operands(
        fmt::format("the input is {}, the keys are {}", name(context.type(0).elem), name(e.key_type)));
  MRVLC_TRY(append_default(context, e));
  return e;
}

// CategoryMapper in the same form: the type of the input says in which direction it maps.
Result<Encoding> category_mapping(const InferContext& context) {
  bool to_int = context.type(0).elem == E::String;
  std::vector<int64_t> ints = context.ints_attr("cats_int64s");
  std::vector<std::string> texts = ml::strings(context, "cats_strings");
  if (ints.size() != texts.size()) return bad_operands("cats_int64s and cats_strings differ in length");
  if (to_int) {
    ints.push_back(context.int_attr("default_int64"));
    return Encoding{std::move(texts), std::move(ints), E::String, E::I64};
  }
  texts.push_back(context.string_attr("default_string"));
  return Encoding{std::move(ints), std::move(texts), E::I64, E::String};
}

using Plan = Result<Encoding> (*)(const InferContext&);

template <Plan Of>
Result<std::vector<TensorType>> infer_encoder(const InferContext& context) {
  MRVLC_ASSIGN(Encoding e, Of(context));
  return std::vector<TensorType>{context.type(0).with_elem(e.value_type)};
}

template <Plan Of>
Status eval_encoder(const EvalContext& context) {
  MRVLC_ASSIGN(Encoding e, Of(context.infer_view()));
  ml::Keys keys(e.keys);
  for (int64_t i = 0; i < context.out().elements(); ++i) {
    int64_t k = keys.find(context.in(0), i);
    ml::set_element(context.out(), i, e.values,
                    k < 0 ? ml::size_of(e.keys) : static_cast<size_t>(keys.sorted()[at(k)]));
  }
  return {};
}

template <Plan Of>
Status emit_encoder(EmitContext& context) {
  set_same_dims(context);
  MRVLC_ASSIGN(Encoding e, Of(emit_view(context)));
  if (context.out_type(0).elements() == 0) return {};
  ml::Keys keys(e.keys);
  std::vector<int64_t> order = keys.sorted();
  auto otherwise = static_cast<int64_t>(order.size());
  order.push_back(static_cast<int64_t>(ml::size_of(e.keys)));
  ml::ListTable values(context, ml::reordered(e.values, order), e.value_type);
  open_loop(context, "i", ml::count_text(context));
  context.line(fmt::format("const ptrdiff_t found = {};", keys.emit_find(context, context.in(0) + "[i]")));
  context.line(fmt::format("const ptrdiff_t k = found < 0 ? {} : found;", otherwise));
  values.emit_choice(context, context.out(0) + "[i]", "k");
  context.close();
  return {};
}

// Version 1 counted the classes, in either direction.
Status upgrade_encoder(RawNode& node) {
  ir::Attr classes = node.take("classes_strings");
  const auto* texts = std::get_if<std::vector<std::string>>(&classes);
  if (texts == nullptr) return {};
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < texts->size(); ++i) numbers.push_back(static_cast<int64_t>(i));
  const TensorType* x = node.input_type(0);
  bool to_int = x != nullptr && x->elem == E::String;
  node.attrs.emplace_back(to_int ? "keys_strings" : "values_strings", *texts);
  node.attrs.emplace_back(to_int ? "values_int64s" : "keys_int64s", std::move(numbers));
  return {};
}

// -- OneHotEncoder

Result<ml::List> categories(const InferContext& context) {
  MRVLC_ASSIGN(ml::List list, ml::labels_of(context, "cats_int64s", "cats_strings"));
  if ((ml::label_type(list) == E::String) != (context.type(0).elem == E::String))
    return bad_operands("texts need cats_strings, numbers cats_int64s");
  return list;
}

Result<std::vector<TensorType>> infer_one_hot_encoder(const InferContext& context) {
  MRVLC_ASSIGN(ml::List list, categories(context));
  Shape shape = context.type(0).shape;
  shape.push_back(static_cast<int64_t>(ml::size_of(list)));
  return one_type(E::F32, shape);
}

Status eval_one_hot_encoder(const EvalContext& context) {
  InferContext view = context.infer_view();
  MRVLC_ASSIGN(ml::List list, categories(view));
  ml::Keys keys(list);
  auto n = static_cast<int64_t>(ml::size_of(list));
  for (int64_t i = 0; i < context.in(0).elements(); ++i) {
    int64_t k = keys.find(context.in(0), i);
    if (k < 0 && view.int_attr("zeros") == 0) return bad_operands("an element is of no category");
    if (k >= 0) context.out().set_double(i * n + keys.sorted()[at(k)], 1);
  }
  return {};
}

Status emit_one_hot_encoder(EmitContext& context) {
  InferContext view = emit_view(context);
  MRVLC_ASSIGN(ml::List list, categories(view));
  const bool may_miss = view.int_attr("zeros") != 0;
  if (!may_miss && !is_dynamic(context))
    return bad_attr("zeros", "is 0: an element of no category would be an error at run time");
  Texts dims = in_dims(context, 0);
  dims.push_back(fmt::format("{}", ml::size_of(list)));
  context.set_dims(0, dims);
  auto n = static_cast<int64_t>(ml::size_of(list));
  if (context.out_type(0).elements() == 0) return {};
  ml::Keys keys(list);
  std::string order = ml::table_of(context, E::I64, keys.sorted());
  open_loop(context, "i", ml::count_text(context));
  std::string x = context.in(0) + "[i]";
  if (is_float(context.in_type(0).elem)) x = saturated_text(x, context.in_type(0).elem, E::I64);
  context.line(fmt::format("const ptrdiff_t k = {};", keys.emit_find(context, x)));
  if (!may_miss) context.fail_if("k < 0");
  context.line(fmt::format("for (ptrdiff_t j = 0; j < {0}; ++j) {1}[i * {0} + j] = k >= 0 && {2}[k] == j;", n,
                           context.out(0), order));
  context.close();
  return {};
}

// -- maps

Result<std::vector<TensorType>> infer_map(const InferContext& context) {
  if (context.op->kind == Op::ZipMap)
    return bad_operands(
        "ZipMap makes maps, which are no tensors; export without it, with skl2onnx: convert_sklearn(model, "
        "options={'zipmap': False})");
  return bad_operands(fmt::format("{} works on maps, which are no tensors; let the model begin with tensors",
                                  context.op->name));
}

Status eval_map(const EvalContext&) {
  return bad_operands("maps are not supported");
}

OpDef map_op(std::string_view name) {
  OpDef d = ml::op(name);
  d.types = TypeSet{~uint32_t{0}};
  d.infer = infer_map;
  d.eval = eval_map;
  d.declined = "maps are no values of the IR";
  return d;
}

}  // namespace

const OpDef& def_LabelEncoder() {
  static const OpDef op = [] {
    OpDef d = ml::op("LabelEncoder");
    d.types = kEncodable;
    d.attrs = {with_float("default_float", -0.0f), with_int("default_int64", -1),
               with_string("default_string", "_Unused"), optional("default_tensor", ir::AttrKind::Tensor)};
    ml::add_attrs(d, ir::AttrKind::Floats, {"keys_floats", "values_floats"});
    ml::add_attrs(d, ir::AttrKind::Ints, {"keys_int64s", "values_int64s"});
    ml::add_attrs(d, ir::AttrKind::Strings, {"keys_strings", "values_strings"});
    ml::add_attrs(d, ir::AttrKind::Tensor, {"keys_tensor", "values_tensor"});
    d.upgrade = upgrade_encoder;
    d.infer = infer_encoder<encoding>;
    d.eval = eval_encoder<encoding>;
    d.emit = d.emit_dynamic = emit_encoder<encoding>;
    return d;
  }();
  return op;
}

const OpDef& def_CategoryMapper() {
  static const OpDef op = [] {
    OpDef d = ml::op("CategoryMapper");
    d.types = types_of({E::I64, E::String});
    d.attrs = {with_int("default_int64", -1), with_string("default_string", "_Unused")};
    ml::add_ints_or_texts(d, "cats_int64s", "cats_strings");
    d.infer = infer_encoder<category_mapping>;
    d.eval = eval_encoder<category_mapping>;
    d.emit = d.emit_dynamic = emit_encoder<category_mapping>;
    return d;
  }();
  return op;
}

const OpDef& def_OneHotEncoder() {
  static const OpDef op = [] {
    OpDef d = ml::op("OneHotEncoder");
    d.types.bits |= types_of({E::String}).bits;
    d.attrs = {with_int("zeros", 1)};
    ml::add_ints_or_texts(d, "cats_int64s", "cats_strings");
    d.infer = infer_one_hot_encoder;
    d.eval = eval_one_hot_encoder;
    d.emit = d.emit_dynamic = emit_one_hot_encoder;
    return d;
  }();
  return op;
}

const OpDef& def_DictVectorizer() {
  static const OpDef op = [] {
    OpDef d = map_op("DictVectorizer");
    ml::add_ints_or_texts(d, "int64_vocabulary", "string_vocabulary");
    return d;
  }();
  return op;
}

const OpDef& def_ZipMap() {
  static const OpDef op = [] {
    OpDef d = map_op("ZipMap");
    ml::add_ints_or_texts(d, "classlabels_int64s", "classlabels_strings");
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops
