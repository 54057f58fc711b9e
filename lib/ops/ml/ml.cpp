// Rows of the input, post_transform (softmax, logistic, probit), labels and texts as tables, keys looked up.
#include "ml/ml.h"

#include <algorithm>
#include <cmath>

namespace mrvlc::ops::ml {

OpDef op(std::string_view name) {
  OpDef d;
  d.name = name;
  d.domain = "ai.onnx.ml";
  d.types = kTypes;
  d.declined = "accelerator: classical machine learning stays on the host";
  return d;
}

void add_attrs(OpDef& op, ir::AttrKind kind, std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) op.attrs.push_back(spec::optional(name, kind));
}

void add_ints_or_texts(OpDef& op, std::string_view ints, std::string_view texts) {
  add_attrs(op, ir::AttrKind::Ints, {ints});
  add_attrs(op, ir::AttrKind::Strings, {texts});
}

void add_labels(OpDef& op, std::string_view ints) {
  add_ints_or_texts(op, ints, "classlabels_strings");
  op.max_outputs = 2;
}

Result<Rows> rows_of(const InferContext& context, size_t input) {
  MRVLC_TRY(check_rank(context, input, 1, 2));
  const Shape& x = context.type(input).shape;
  if (x.size() == 1) return Rows{1, x[0]};
  return Rows{x[0], x[1]};
}

void put_row(Tensor& out, int64_t row, const std::vector<double>& values) {
  const auto n = static_cast<int64_t>(values.size());
  for (int64_t j = 0; j < n; ++j) out.set_double(row * n + j, values[at(j)]);
}

void open_rows(EmitContext& context, const Rows& rows) {
  require_equal(context, column_text(context), fmt::format("{}", rows.cols));
  open_loop(context, "n", row_text(context));
  context.line(
      fmt::format("const {}* x = {} + n * {};", c_type(context.in_type(0).elem), context.in(0), rows.cols));
}

std::string row_text(const EmitContext& context, size_t input) {
  return context.in_type(input).rank() == 1 ? "1" : context.in_dim(input, 0);
}

std::string column_text(const EmitContext& context, size_t input) {
  return context.in_dim(input, context.in_type(input).rank() - 1);
}

std::string count_text(const EmitContext& context) {
  return product_text(in_dims(context, 0));
}

// What follows the rows is known from the attributes.
void set_row_dims(EmitContext& context) {
  for (size_t i = 0; i < context.node().outputs.size(); ++i) {
    Texts dims{row_text(context)};
    if (context.out_type(i).rank() == 2) dims.push_back(fmt::format("{}", context.out_type(i).shape[1]));
    context.set_dims(i, dims);
  }
}

const std::vector<float>& floats(const InferContext& context, std::string_view attr) {
  static const std::vector<float> none;
  const auto* v = std::get_if<std::vector<float>>(&context.attr(attr));
  return v != nullptr ? *v : none;
}

const std::vector<std::string>& strings(const InferContext& context, std::string_view attr) {
  static const std::vector<std::string> none;
  const auto* v = std::get_if<std::vector<std::string>>(&context.attr(attr));
  return v != nullptr ? *v : none;
}

// -- post_transform

Result<size_t> choice(const InferContext& context, std::string_view attr,
                      std::initializer_list<std::string_view> names) {
  const auto* it = std::find(names.begin(), names.end(), context.string_attr(attr));
  if (it == names.end()) return bad_attr(attr, "is unknown");
  return static_cast<size_t>(it - names.begin());
}

Result<Post> post_transform(const InferContext& context) {
  MRVLC_ASSIGN(size_t post,
               choice(context, "post_transform", {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}));
  return static_cast<Post>(post);
}

double logistic(double x) {
  return x < 0 ? 1 - 1 / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

// The inverse error function by S. Winitzki's approximation (2008), as ONNX's own evaluation has it.
double probit(double p) {
  double x = 2 * p - 1, log = std::log((1 - x) * (1 + x)), v = 2 / (3.14159 * 0.147) + 0.5 * log;
  double root = std::sqrt(std::sqrt(v * v - log / 0.147) - v);
  return std::sqrt(2.0) * (x < 0 ? -root : root);
}

namespace {

// With `zero`, scores of (nearly) zero stay what they are, and do not count for the sum.
void softmax(std::vector<double>& s, bool zero) {
  double most = *std::max_element(s.begin(), s.end()), sum = 0;
  for (double& v : s) {
    bool counts = !zero || std::abs(v) > 1e-7;
    v = counts ? std::exp(v - most) : v * std::exp(-most);
    if (counts) sum += v;
  }
  if (sum == 0) return;
  for (double& v : s) v /= sum;
}

std::string_view suffix(ElementType elem) {
  return elem == ElementType::F64 ? "" : "f";
}

}  // namespace

void apply(Post post, std::vector<double>& scores) {
  if (scores.empty()) return;
  if (post == Post::Softmax || post == Post::SoftmaxZero) return softmax(scores, post == Post::SoftmaxZero);
  for (double& v : scores) {
    if (post == Post::Logistic) v = logistic(v);
    if (post == Post::Probit) v = probit(v);
  }
}

std::vector<double> both_scores(double score, Post post, bool complement) {
  if (post == Post::Logistic) return {logistic(-score), logistic(score)};
  return {complement ? 1 - score : -score, score};
}

size_t greatest(const std::vector<double>& values) {
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

void emit_greatest(EmitContext& context, std::string_view values, int64_t n) {
  context.line("ptrdiff_t label = 0;");
  context.line(
      fmt::format("for (ptrdiff_t j = 1; j < {0}; ++j) label = {1}[j] > {1}[label] ? j : label;", n, values));
}

namespace {

std::string logistic_text(std::string_view x, ElementType elem) {
  return fmt::format("1.0{0} / (1.0{0} + exp{0}(-({1})))", suffix(elem), x);
}

void emit_softmax(EmitContext& context, bool zero, ElementType elem, std::string_view y, int64_t n) {
  auto put = [&](fmt::string_view text) {
    context.line(
        fmt::vformat(text, fmt::make_format_args(fmt::arg("y", y), fmt::arg("n", n),
                                                 fmt::arg("t", c_type(elem)), fmt::arg("f", suffix(elem)))));
  };
  put("{t} most = {y}[0], sum = 0.0{f};");
  put("for (ptrdiff_t j = 1; j < {n}; ++j) most = {y}[j] > most ? {y}[j] : most;");
  put("for (ptrdiff_t j = 0; j < {n}; ++j) {{");
  if (zero) {
    put("  const int counts = fabs{f}({y}[j]) > 1e-7{f};");
    put("  {y}[j] = counts ? exp{f}({y}[j] - most) : {y}[j] * exp{f}(-most);");
    put("  if (counts) sum += {y}[j];");
  } else {
    put("  sum += {y}[j] = exp{f}({y}[j] - most);");
  }
  put("}}");
  put("for (ptrdiff_t j = 0; j < {n}; ++j) {y}[j] /= sum == 0.0{f} ? 1.0{f} : sum;");
}

}  // namespace

void emit_apply(EmitContext& context, Post post, ElementType elem, std::string_view y, int64_t n) {
  if (post == Post::None || n == 0) return;
  context.open("");
  if (post == Post::Softmax || post == Post::SoftmaxZero) {
    emit_softmax(context, post == Post::SoftmaxZero, elem, y, n);
  } else {
    std::string at = fmt::format("{}[j]", y);
    std::string value = post == Post::Logistic
                            ? logistic_text(at, elem)
                            : fmt::format("({}){}((double){})", c_type(elem), context.helper("probit"), at);
    context.line(fmt::format("for (ptrdiff_t j = 0; j < {}; ++j) {} = {};", n, at, value));
  }
  context.close();
}

void emit_both(EmitContext& context, std::string_view score, Post post, bool complement) {
  std::string first = complement ? "1.0f - score" : "-score", second = "score";
  if (post == Post::Logistic) {
    first = logistic_text("-score", ElementType::F32);
    second = logistic_text("score", ElementType::F32);
  }
  context.line(fmt::format("const float score = {};", score));
  context.line(fmt::format("z[0] = {};", first));
  context.line(fmt::format("z[1] = {};", second));
}

// -- lists

StringTable::StringTable(EmitContext& context, const std::vector<std::string>& strings) {
  std::string characters;
  std::vector<int64_t> offsets{0};
  for (const std::string& s : strings) {
    characters += s;
    offsets.push_back(static_cast<int64_t>(characters.size()));
  }
  auto count = static_cast<int64_t>(characters.size());
  offsets_ = table_of(context, ElementType::I64, offsets);
  characters_ = fmt::format("((const char*){})",
                            context.table(Tensor({ElementType::U8, {count}}, std::move(characters))));
}

void StringTable::emit_set(EmitContext& context, std::string_view target, std::string_view index) const {
  context.line(fmt::format("{}.data = {} + {}[{}];", target, characters_, offsets_, index));
  context.line(fmt::format("{0}.size = (size_t)({1}[{2} + 1] - {1}[{2}]);", target, offsets_, index));
}

size_t size_of(const List& list) {
  return std::visit([](const auto& v) { return v.size(); }, list);
}

List reordered(const List& list, const std::vector<int64_t>& order) {
  return std::visit(
      [&](const auto& v) -> List {
        std::decay_t<decltype(v)> out;
        for (int64_t i : order) out.push_back(v[static_cast<size_t>(i)]);
        return out;
      },
      list);
}

Result<List> labels_of(const InferContext& context, std::string_view ints, std::string_view texts) {
  if (is_attr_set(context, ints) == is_attr_set(context, texts))
    return bad_attr(ints, fmt::format("or '{}' must be given, and not both", texts));
  if (is_attr_set(context, ints)) return List(context.ints_attr(ints));
  return List(strings(context, texts));
}

ElementType label_type(const List& list) {
  return std::holds_alternative<std::vector<std::string>>(list) ? ElementType::String : ElementType::I64;
}

void set_element(Tensor& out, int64_t i, const List& list, size_t k) {
  if (const auto* s = std::get_if<std::vector<std::string>>(&list)) {
    out.mutable_strings()[static_cast<size_t>(i)] = (*s)[k];
  } else if (const auto* n = std::get_if<std::vector<int64_t>>(&list)) {
    out.set_int(i, (*n)[k]);
  } else {
    out.set_double(i, std::get<std::vector<double>>(list)[k]);
  }
}

ListTable::ListTable(EmitContext& context, const List& list, ElementType elem) {
  if (const auto* s = std::get_if<std::vector<std::string>>(&list)) {
    strings_.emplace(context, *s);
    return;
  }
  Tensor values(TensorType{elem, {static_cast<int64_t>(size_of(list))}});
  for (size_t k = 0; k < size_of(list); ++k) set_element(values, static_cast<int64_t>(k), list, k);
  values_ = context.table(values);
}

void ListTable::emit_choice(EmitContext& context, std::string_view target, std::string_view k) const {
  if (strings_) {
    strings_->emit_set(context, target, k);
  } else {
    context.line(fmt::format("{} = {}[{}];", target, values_, k));
  }
}

// -- search

namespace {

template <class T>
bool is_nan_key(const T& v) {
  if constexpr (std::is_same_v<T, double>) return std::isnan(v);
  return false;
}

// Sorted places of the keys, the first of equal ones only; NaN are left out.
template <class T>
std::vector<int64_t> sorted_places(const std::vector<T>& keys) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!is_nan_key(keys[i])) order.push_back(static_cast<int64_t>(i));
  }
  auto key = [&](int64_t i) -> const T& { return keys[static_cast<size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return key(a) < key(b); });
  order.erase(std::unique(order.begin(), order.end(), [&](int64_t a, int64_t b) { return key(a) == key(b); }),
              order.end());
  return order;
}

template <class T>
int64_t place(const std::vector<T>& sorted, const T& x) {
  auto it = std::lower_bound(sorted.begin(), sorted.end(), x);
  return it != sorted.end() && *it == x ? it - sorted.begin() : -1;
}

}  // namespace

Keys::Keys(const List& keys) {
  order_ = std::visit([](const auto& v) { return sorted_places(v); }, keys);
  keys_ = reordered(keys, order_);
  const auto* numbers = std::get_if<std::vector<double>>(&keys);
  if (numbers == nullptr) return;
  auto nan = std::find_if(numbers->begin(), numbers->end(), [](double v) { return std::isnan(v); });
  has_nan_ = nan != numbers->end();
  if (has_nan_) order_.push_back(nan - numbers->begin());
}

int64_t Keys::find(const Tensor& x, int64_t i) const {
  if (const auto* s = std::get_if<std::vector<std::string>>(&keys_))
    return place(*s, x.string_data()[static_cast<size_t>(i)]);
  if (const auto* n = std::get_if<std::vector<int64_t>>(&keys_)) return place(*n, x.as_int(i));
  const auto& sorted = std::get<std::vector<double>>(keys_);
  double v = x.as_double(i);
  if (std::isnan(v)) return has_nan_ ? static_cast<int64_t>(sorted.size()) : -1;
  return place(sorted, v);
}

std::string Keys::emit_find(EmitContext& context, std::string_view x) const {
  auto n = static_cast<int64_t>(size_of(keys_));
  if (const auto* s = std::get_if<std::vector<std::string>>(&keys_)) {
    StringTable table(context, *s);
    return fmt::format("{}({}, {}, {}, {}.data, {}.size)", context.helper("find_string"), table.offsets(),
                       table.characters(), n, x, x);
  }
  if (const auto* ints = std::get_if<std::vector<int64_t>>(&keys_)) {
    return fmt::format("{}({}, {}, (int64_t)({}))", context.helper("find_i64"),
                       table_of(context, ElementType::I64, *ints), n, x);
  }
  const auto& numbers = std::get<std::vector<double>>(keys_);
  std::string found = fmt::format("{}({}, {}, (double)({}))", context.helper("find_f64"),
                                  table_of(context, ElementType::F64, numbers), n, x);
  return has_nan_ ? fmt::format("({0} != {0} ? {1} : {2})", x, n, found) : found;
}

}  // namespace mrvlc::ops::ml
