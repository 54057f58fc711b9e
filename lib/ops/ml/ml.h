// What the operators of the domain ai.onnx.ml share: their input as a matrix, transforms of scores, class
// labels, and the search of a key in a list.
#pragma once
#include <optional>

#include "common/dynamic_util.h"
#include "common/lanes.h"

namespace mrvlc::ops::ml {

inline constexpr TypeSet kTypes =
    types_of({ElementType::F32, ElementType::F64, ElementType::I32, ElementType::I64});

// An operator of the domain.
OpDef op(std::string_view name);
void add_attrs(OpDef& op, ir::AttrKind kind, std::initializer_list<std::string_view> names);  // none required
// Two attributes for one list of numbers or texts.
void add_ints_or_texts(OpDef& op, std::string_view ints, std::string_view texts);
// Labels, in the attribute `ints` or in classlabels_strings, and a second result: the scores.
void add_labels(OpDef& op, std::string_view ints);

// An input [N, C], or [C], which is one row.
struct Rows {
  int64_t rows = 1, cols = 0;
};
Result<Rows> rows_of(const InferContext& context, size_t input = 0);
void put_row(Tensor& out, int64_t row, const std::vector<double>& values);
// Numbers of rows and columns of an input as C text.
std::string row_text(const EmitContext& context, size_t input = 0);
std::string column_text(const EmitContext& context, size_t input = 0);
// Number of elements of input 0 as C text.
std::string count_text(const EmitContext& context);
// Opens the loop over rows n of input 0, with `x` pointing at one; they have so many columns, or the function
// fails.
void open_rows(EmitContext& context, const Rows& rows);

// Dimensions of results that have a row for each of input 0.
void set_row_dims(EmitContext& context);

const std::vector<float>& floats(const InferContext& context, std::string_view attr);  // empty when absent
const std::vector<std::string>& strings(const InferContext& context, std::string_view attr);  // the same
// Which of the names a string attribute holds.
Result<size_t> choice(const InferContext& context, std::string_view attr,
                      std::initializer_list<std::string_view> names);

// -- what happens to the scores of one row at the end (attribute post_transform)

enum class Post : uint8_t { None, Softmax, Logistic, SoftmaxZero, Probit };
Result<Post> post_transform(const InferContext& context);
double logistic(double x);
double probit(double p);
void apply(Post post, std::vector<double>& scores);
// In place on `n` elements of type F32 or F64 from the C pointer `y`.
void emit_apply(EmitContext& context, Post post, ElementType elem, std::string_view y, int64_t n);
// One score for two labels: that of the second, from which the first's is made: its complement, or negative.
std::vector<double> both_scores(double score, Post post, bool complement);
// z[0] and z[1] from the float `score`, a C expression.
void emit_both(EmitContext& context, std::string_view score, Post post, bool complement);
// ptrdiff_t label = the first place of the greatest of n numbers.
size_t greatest(const std::vector<double>& values);
void emit_greatest(EmitContext& context, std::string_view values, int64_t n);

// -- tables

template <class T>
std::string table_of(EmitContext& context, ElementType elem, const std::vector<T>& values) {
  return context.table(Tensor::of(elem, {static_cast<int64_t>(values.size())}, values));
}

// -- texts as two tables: places and characters

class StringTable {
 public:
  StringTable(EmitContext& context, const std::vector<std::string>& strings);
  // Sets the mrvl_string `target` to the string with the number `index`.
  void emit_set(EmitContext& context, std::string_view target, std::string_view index) const;
  const std::string& offsets() const { return offsets_; }
  const std::string& characters() const { return characters_; }

 private:
  std::string offsets_, characters_;  // C expressions: const int64_t*, const char*
};

// -- numbers or texts in the order of an attribute: class labels, values of a map

using List = std::variant<std::vector<int64_t>, std::vector<double>, std::vector<std::string>>;
size_t size_of(const List& list);
// The elements at these places.
List reordered(const List& list, const std::vector<int64_t>& order);
// Exactly one of the two attributes must be given.
Result<List> labels_of(const InferContext& context, std::string_view ints, std::string_view strings);
ElementType label_type(const List& list);  // I64 or String
void set_element(Tensor& out, int64_t i, const List& list, size_t k);
// Tables of the list, so that emit_choice can write OUT[at] = element k (C expressions).
class ListTable {
 public:
  ListTable(EmitContext& context, const List& list, ElementType elem);
  void emit_choice(EmitContext& context, std::string_view target, std::string_view k) const;

 private:
  std::optional<StringTable> strings_;
  std::string values_;
};

// -- search

class Keys {
 public:
  // The first of equal keys counts; a NaN equals a NaN.
  explicit Keys(const List& keys);
  // Place in sorted(), or -1.
  int64_t find(const Tensor& x, int64_t i) const;
  const std::vector<int64_t>& sorted() const { return order_; }  // places in the list, without repeated keys
  // C expression of type ptrdiff_t, like find, of an expression of the element type.
  std::string emit_find(EmitContext& context, std::string_view x) const;

 private:
  List keys_;                   // sorted; without NaN
  std::vector<int64_t> order_;  // the NaN comes last
  bool has_nan_ = false;
};

}  // namespace mrvlc::ops::ml
