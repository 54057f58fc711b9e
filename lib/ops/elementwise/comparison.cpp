// Comparisons, logic, bits and Where.
#include "common/string_codes.h"
#include "elementwise/elementwise.h"

namespace mrvlc::ops {
namespace {

constexpr TypeSet kTexts = types_of({ElementType::String});
constexpr TypeSet kEqualTypes{spec::kOrdinary.bits | kTexts.bits},
    kWhereTypes{spec::kFixedSize.bits | kTexts.bits};

// Both types and bool compare; results are booleans.
template <CText Pattern, class F>
OpDef comparison(std::string_view name, F f, TypeSet types = spec::kNumeric) {
  OpDef op = numeric<Pattern, Pattern, Pattern, 2>(name, f);
  op.types = types;
  op.infer = infer_predicate;
  op.traits.jumps = true;
  return host_only(std::move(op), "accelerator: boolean results stay on the host");
}

template <class F>
int64_t int_binary(const int64_t* x, const ir::OpSchema&, const Attrs&) {
  return F{}(x[0], x[1]);
}

template <CText Pattern, class F>
OpDef integer_binary(std::string_view name, TypeSet types, F) {
  static constexpr ScalarOp scalar{nullptr, int_binary<F>, c_pattern<Pattern>};
  return host_only(elementwise(name, 2, types, scalar), kIntegersOnHost);
}

bool shifts_left(const Attrs& attrs) {
  return std::get<std::string>(attrs[0]) == "LEFT";
}

// Shifting by the width or more leaves nothing. Narrow results are cut when they are stored.
uint64_t shift(uint64_t x, uint64_t by, const Attrs& attrs) {
  if (by >= 64) return 0;
  return shifts_left(attrs) ? x << by : x >> by;
}
int64_t eval_shift_int(const int64_t* x, const ir::OpSchema&, const Attrs& attrs) {
  return static_cast<int64_t>(shift(static_cast<uint64_t>(x[0]), static_cast<uint64_t>(x[1]), attrs));
}
uint64_t eval_shift_uint(const uint64_t* x, const ir::OpSchema&, const Attrs& attrs) {
  return shift(x[0], x[1], attrs);
}

std::string shift_text(EmitContext& c, const std::vector<std::string>& x, ElementType elem) {
  std::string guard = fmt::format("{} >= {} ? 0 : ", x[1], byte_size(elem) * 8);
  std::string_view pattern = shifts_left(c.node().attrs) ? "({u}){x} << {y}" : "({u}){x} >> {y}";
  return fmt::format("({})({}{})", c_type(elem), guard, expand_pattern(pattern, c, x, elem));
}

Result<std::vector<TensorType>> infer_shift(const InferContext& c) {
  const std::string& direction = c.string_attr("direction");
  if (direction != "LEFT" && direction != "RIGHT") return bad_attr("direction", "is neither LEFT nor RIGHT");
  return infer_elementwise(c);
}

template <class T>
T select(const T* x, const ir::OpSchema&, const Attrs&) {
  return x[0] != T{0} ? x[1] : x[2];
}

Result<std::vector<TensorType>> infer_where(const InferContext& c) {
  MRVLC_TRY(check_elem(c, 1, kWhereTypes));
  MRVLC_TRY(check_same_elem(c, 2, 1));
  MRVLC_ASSIGN(Shape shape, broadcast_inputs(c, 0, 3));
  return one_type(c.type(1).elem, std::move(shape));
}

std::string equal_text(EmitContext& c, const std::vector<std::string>& x, ElementType elem) {
  if (elem == ElementType::String) return fmt::format("{}({}, {})", c.helper("same_string"), x[0], x[1]);
  return c_pattern<"{x} == {y}">(c, x, elem);
}

std::string where_text(EmitContext& c, const std::vector<std::string>& x, ElementType elem) {
  if (elem == ElementType::String) return fmt::format("{} ? {} : {}", x[0], x[1], x[2]);
  return c_pattern<"{x} ? {y} : {z}">(c, x, elem);
}

}  // namespace

const OpDef& def_Equal() {
  static const OpDef op = [] {
    OpDef d = comparison<"{x} == {y}">(
        "Equal", [](auto a, auto b) { return a == b; }, kEqualTypes);
    static ScalarOp scalar = *d.scalar;
    scalar.c_expr = equal_text;
    d.scalar = &scalar;
    d.eval = eval_on_codes<eval_elementwise>;
    d.traits.commutative = true;
    return d;
  }();
  return op;
}

const OpDef& def_Less() {
  static const OpDef op = comparison<"{x} < {y}">("Less", [](auto a, auto b) { return a < b; });
  return op;
}

const OpDef& def_LessOrEqual() {
  static const OpDef op = comparison<"{x} <= {y}">("LessOrEqual", [](auto a, auto b) { return a <= b; });
  return op;
}

const OpDef& def_Greater() {
  static const OpDef op = comparison<"{x} > {y}">("Greater", [](auto a, auto b) { return a > b; });
  return op;
}

const OpDef& def_GreaterOrEqual() {
  static const OpDef op = comparison<"{x} >= {y}">("GreaterOrEqual", [](auto a, auto b) { return a >= b; });
  return op;
}

const OpDef& def_And() {
  static const OpDef op =
      with_traits(integer_binary<"{x} && {y}">(
                      "And", spec::kBool, [](int64_t a, int64_t b) { return int64_t{a != 0 && b != 0}; }),
                  {.commutative = true});
  return op;
}

const OpDef& def_Or() {
  static const OpDef op =
      with_traits(integer_binary<"{x} || {y}">(
                      "Or", spec::kBool, [](int64_t a, int64_t b) { return int64_t{a != 0 || b != 0}; }),
                  {.commutative = true});
  return op;
}

const OpDef& def_Xor() {
  static const OpDef op =
      with_traits(integer_binary<"!{x} != !{y}">(
                      "Xor", spec::kBool, [](int64_t a, int64_t b) { return int64_t{(a != 0) != (b != 0)}; }),
                  {.commutative = true});
  return op;
}

const OpDef& def_BitwiseAnd() {
  static const OpDef op =
      with_traits(integer_binary<"({u}){x} & ({u}){y}">("BitwiseAnd", spec::kIntegers,
                                                        [](int64_t a, int64_t b) { return a & b; }),
                  {.commutative = true});
  return op;
}

const OpDef& def_BitwiseOr() {
  static const OpDef op =
      with_traits(integer_binary<"({u}){x} | ({u}){y}">("BitwiseOr", spec::kIntegers,
                                                        [](int64_t a, int64_t b) { return a | b; }),
                  {.commutative = true});
  return op;
}

const OpDef& def_BitwiseXor() {
  static const OpDef op =
      with_traits(integer_binary<"({u}){x} ^ ({u}){y}">("BitwiseXor", spec::kIntegers,
                                                        [](int64_t a, int64_t b) { return a ^ b; }),
                  {.commutative = true});
  return op;
}

const OpDef& def_BitShift() {
  static constexpr ScalarOp scalar{nullptr, eval_shift_int, shift_text, eval_shift_uint};
  static const OpDef op = [] {
    OpDef d = elementwise("BitShift", 2, types_of({spec::E::U8, spec::E::U16, spec::E::U32, spec::E::U64}),
                          scalar, {spec::required("direction", ir::AttrKind::String)});
    d.infer = infer_shift;
    return host_only(std::move(d), kIntegersOnHost);
  }();
  return op;
}

const OpDef& def_Where() {
  static constexpr ScalarOp scalar{select<double>, select<int64_t>, where_text, select<uint64_t>};
  static const OpDef op = [] {
    OpDef d = elementwise("Where", 3, spec::kBool, scalar);
    d.infer = infer_where;
    d.eval = eval_on_codes<eval_elementwise>;
    return host_only(std::move(d), "accelerator: boolean operands stay on the host");
  }();
  return op;
}

}  // namespace mrvlc::ops
