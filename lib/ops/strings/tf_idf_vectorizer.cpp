// TfIdfVectorizer (ONNX TfIdfVectorizer-9): counts n-grams of a pool, of elements that lie at equal
// distances. C counts those of strings by their places among the strings of the pool.
#include <algorithm>

#include "common/dims.h"
#include "ml/ml.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

struct TfIdf {
  int64_t min_length = 1, max_length = 1, max_skip = 0, columns = 0;
  std::string mode;
  std::vector<int64_t> starts;   // in the pool, of the n-grams of each length; then its end
  std::vector<int64_t> column;   // of every n-gram, in the order of the pool
  std::vector<int64_t> numbers;  // the pool
  std::vector<std::string> strings;
  std::vector<double> weights;  // by column; empty: ones

  int64_t pool_size() const { return static_cast<int64_t>(numbers.size() + strings.size()); }
  int64_t grams(int64_t length) const { return (starts[at(length)] - starts[at(length - 1)]) / length; }
};

constexpr int64_t kMaxGram = 64;

Status read_pool(const InferContext& context, TfIdf& t) {
  t.numbers = context.ints_attr("pool_int64s");
  if (is_attr_set(context, "pool_strings"))
    t.strings = std::get<std::vector<std::string>>(context.attr("pool_strings"));
  bool text = context.type(0).elem == E::String;
  if (text ? t.strings.empty() || !t.numbers.empty() : t.numbers.empty() || !t.strings.empty())
    return bad_operands(fmt::format("the pool does not hold {}", text ? "strings" : "numbers"));
  t.starts = context.ints_attr("ngram_counts");
  if (t.starts.empty() || static_cast<int64_t>(t.starts.size()) > kMaxGram)
    return bad_attr("ngram_counts", fmt::format("has {} entries", t.starts.size()));
  t.starts.push_back(t.pool_size());
  for (size_t i = 0; i + 1 < t.starts.size(); ++i) {
    const int64_t from = t.starts[i], to = t.starts[i + 1];
    if (from < 0 || to < from || (to - from) % static_cast<int64_t>(i + 1) != 0)
      return bad_attr("ngram_counts", "does not fit the pool");
  }
  return {};
}

Status read_columns(const InferContext& context, TfIdf& t) {
  t.column = context.ints_attr("ngram_indexes");
  int64_t grams = 0;
  for (size_t n = 1; n < t.starts.size(); ++n) grams += t.grams(static_cast<int64_t>(n));
  if (t.starts[0] != 0 || static_cast<int64_t>(t.column.size()) != grams || grams == 0)
    return bad_attr("ngram_indexes", fmt::format("has {} entries for {} n-grams", t.column.size(), grams));
  bool in_order = true;
  for (size_t i = 0; i < t.column.size(); ++i) {
    if (t.column[i] < 0 || t.column[i] > kMaxExtent)
      return bad_attr("ngram_indexes", fmt::format("has the entry {}", t.column[i]));
    in_order = in_order && t.column[i] == static_cast<int64_t>(i);
    t.columns = std::max(t.columns, t.column[i] + 1);
  }
  if (!is_attr_set(context, "weights")) return {};
  // ONNX's text has weights by n-gram, the implementations by column.
  const auto& weights = std::get<std::vector<float>>(context.attr("weights"));
  if (weights.size() != t.column.size() || !in_order)
    return bad_attr("weights", "must be one for each n-gram, and ngram_indexes count from 0");
  t.weights.assign(weights.begin(), weights.end());
  return {};
}

Result<TfIdf> tf_idf(const InferContext& context) {
  TfIdf t;
  MRVLC_TRY(check_rank(context, 0, 1, 2));
  t.min_length = context.int_attr("min_gram_length");
  t.max_length = context.int_attr("max_gram_length");
  t.max_skip = context.int_attr("max_skip_count");
  t.mode = context.string_attr("mode");
  if (t.mode != "TF" && t.mode != "IDF" && t.mode != "TFIDF")
    return bad_attr("mode", fmt::format("has the unknown value '{}'", printable(t.mode)));
  MRVLC_TRY(read_pool(context, t));
  if (t.min_length < 1 || t.max_length < t.min_length ||
      t.max_length >= static_cast<int64_t>(t.starts.size()))
    return bad_attr("max_gram_length", fmt::format("is {}", t.max_length));
  if (t.max_skip < 0) return bad_attr("max_skip_count", fmt::format("is {}", t.max_skip));
  t.max_skip = std::min(t.max_skip, kMaxExtent);
  MRVLC_TRY(read_columns(context, t));
  return t;
}

Result<std::vector<TensorType>> infer_tf_idf(const InferContext& context) {
  MRVLC_ASSIGN(TfIdf t, tf_idf(context));
  Shape shape = context.type(0).shape;
  shape.back() = t.columns;
  return one_type(E::F32, shape);
}

// f(start, distance) for every place where n elements can lie in a line of `size`.
template <class F>
void for_places(const TfIdf& t, int64_t n, int64_t size, F f) {
  for (int64_t distance = 1; distance <= (n == 1 ? 1 : t.max_skip + 1); ++distance) {
    if ((n - 1) * distance >= size) break;
    for (int64_t start = 0; start + (n - 1) * distance < size; ++start) f(start, distance);
  }
}

Status eval_tf_idf(const EvalContext& context) {
  MRVLC_ASSIGN(TfIdf t, tf_idf(context.infer_view()));
  const Tensor& x = context.in(0);
  Tensor& y = context.out();
  int64_t size = x.shape().back(), lines = size == 0 ? 0 : x.elements() / size;
  bool text = x.elem() == E::String;
  auto equal = [&](int64_t i, int64_t p) {
    return text ? x.string_data()[at(i)] == t.strings[at(p)] : x.as_int(i) == t.numbers[at(p)];
  };
  for (int64_t line = 0; line < lines; ++line) {
    std::vector<double> count(at(t.columns));
    int64_t first = 0;
    for (int64_t n = 1; n <= t.max_length; first += t.grams(n), ++n) {
      for_places(t, n, n < t.min_length ? 0 : size, [&](int64_t start, int64_t distance) {
        for (int64_t g = 0; g < t.grams(n); ++g) {
          int64_t k = 0;
          while (k < n && equal(line * size + start + k * distance, t.starts[at(n - 1)] + g * n + k)) ++k;
          if (k < n) continue;
          count[at(t.column[at(first + g)])] += 1;
          break;
        }
      });
    }
    for (int64_t c = 0; c < t.columns; ++c) {
      double v = t.mode == "IDF" ? std::min(count[at(c)], 1.0) : count[at(c)];
      if (t.mode != "TF" && !t.weights.empty()) v *= t.weights[at(c)];
      y.set_double(line * t.columns + c, v);
    }
  }
  return {};
}

// The n-grams of one length, compared one after the other.
void emit_length(EmitContext& context, const TfIdf& t, int64_t n, int64_t first) {
  context.open(fmt::format("for (ptrdiff_t d = 1; d <= {} && {} * d < size; ++d)",
                           n == 1 ? 1 : t.max_skip + 1, n - 1));
  context.open(fmt::format("for (ptrdiff_t i = 0; i + {} * d < size; ++i)", n - 1));
  context.line(fmt::format("const int64_t* p = pool + {};", t.starts[at(n - 1)]));
  context.open(fmt::format("for (ptrdiff_t g = 0; g < {}; ++g, p += {})", t.grams(n), n));
  context.line("ptrdiff_t k = 0;");
  context.line(fmt::format("while (k < {} && x[i + k * d] == p[k]) ++k;", n));
  context.open(fmt::format("if (k == {})", n));
  context.line(fmt::format("y[column[{} + g]] += 1;", first));
  context.line("break;");
  for (int i = 0; i < 4; ++i) context.close();
}

// Strings as their places among the sorted ones of the pool.
std::vector<int64_t> places(const ml::Keys& keys, const std::vector<std::string>& pool) {
  Tensor texts = Tensor::strings({static_cast<int64_t>(pool.size())}, pool);
  std::vector<int64_t> out;
  for (int64_t i = 0; i < texts.elements(); ++i) out.push_back(keys.find(texts, i));
  return out;
}

Status emit_tf_idf(EmitContext& context) {
  MRVLC_ASSIGN(TfIdf t, tf_idf(emit_view(context)));
  Texts dims = in_dims(context, 0);
  dims.back() = fmt::format("{}", t.columns);
  context.set_dims(0, dims);
  const bool text = context.in_type(0).elem == E::String;
  Texts x = in_sizes(context, 0);
  auto table = [&](const std::vector<int64_t>& v) {
    return context.table(Tensor::of(E::I64, {static_cast<int64_t>(v.size())}, v));
  };
  ml::Keys keys(t.strings);
  std::vector<int64_t> pool = text ? places(keys, t.strings) : t.numbers;
  if (text)
    context.line(
        fmt::format("int64_t* codes = (int64_t*){};", context.scratch(context.in_type(0).shape.back() * 8)));
  context.line(fmt::format("const int64_t *pool = {}, *column = {};", table(pool), table(t.column)));
  context.line(fmt::format("const ptrdiff_t size = {};", x.back()));
  context.open(fmt::format("for (ptrdiff_t n = 0; n < {}; ++n)", size_product(x, 0, x.size() - 1)));
  std::string line = fmt::format("{} + n * size", context.in(0));
  if (text) {
    context.line(fmt::format("const mrvl_string* texts = {};", line));
    context.line(fmt::format("for (ptrdiff_t j = 0; j < size; ++j) codes[j] = {};",
                             keys.emit_find(context, "texts[j]")));
    line = "codes";
  }
  context.line(fmt::format("const {}* x = {};", c_type(text ? E::I64 : context.in_type(0).elem), line));
  context.line(fmt::format("float* y = {} + n * {};", context.out(0), t.columns));
  context.line(fmt::format("for (ptrdiff_t c = 0; c < {}; ++c) y[c] = 0;", t.columns));
  int64_t first = 0;
  for (int64_t n = 1; n <= t.max_length; first += t.grams(n), ++n) {
    if (n >= t.min_length && t.grams(n) > 0) emit_length(context, t, n, first);
  }
  if (t.mode == "IDF")
    context.line(fmt::format("for (ptrdiff_t c = 0; c < {}; ++c) y[c] = y[c] > 0 ? 1 : 0;", t.columns));
  if (t.mode != "TF" && !t.weights.empty()) {
    std::string weights = context.table(Tensor::of(E::F32, {t.columns}, t.weights));
    context.line(fmt::format("for (ptrdiff_t c = 0; c < {}; ++c) y[c] *= {}[c];", t.columns, weights));
  }
  context.close();
  return {};
}

Result<std::vector<TensorType>> infer_tf_idf_dynamic(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_ASSIGN(TfIdf t, tf_idf(context));
  Dims dims = dims_of(context.type(0));
  dims.back() = {t.columns, false};
  return std::vector<TensorType>{type_of(E::F32, dims)};
}

}  // namespace

const OpDef& def_TfIdfVectorizer() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "TfIdfVectorizer";
    d.since_min = 9;
    d.attrs = {
        required("max_gram_length", ir::AttrKind::Int), required("max_skip_count", ir::AttrKind::Int),
        required("min_gram_length", ir::AttrKind::Int), required("mode", ir::AttrKind::String),
        required("ngram_counts", ir::AttrKind::Ints),   required("ngram_indexes", ir::AttrKind::Ints),
        optional("pool_int64s", ir::AttrKind::Ints),    optional("pool_strings", ir::AttrKind::Strings),
        optional("weights", ir::AttrKind::Floats)};
    d.types = types_of({E::I32, E::I64, E::String});
    d.infer = infer_tf_idf;
    d.infer_dynamic = infer_tf_idf_dynamic;
    d.eval = eval_tf_idf;
    d.emit = d.emit_dynamic = emit_tf_idf;
    d.declined = "the accelerator does not compare";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
