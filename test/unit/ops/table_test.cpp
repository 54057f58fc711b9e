// Facts about every operator of the table, and the editing of nodes of older opsets.
#include <cmath>
#include <set>

#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/ops.h"
#include "one_node.h"

namespace mrvlc::test {
namespace {

TEST_CASE("every facet is there or declined with a reason") {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const ops::OpDef* op : ops::all_ops()) {
    CAPTURE(op->name);
    CHECK(seen.emplace(op->domain, op->name).second);
    CHECK(op->infer != nullptr);
    CHECK(op->eval != nullptr);
    CHECK((op->emit != nullptr || !op->emit_kernel.empty() || !op->declined.empty()));
    CHECK((!op->accel.empty() || !op->declined.empty()));
    CHECK(op->since_min <= op->since_max);
    CHECK(op->min_inputs >= 0);
    CHECK((op->max_inputs == -1 || op->max_inputs >= op->min_inputs));
    CHECK(ops::find_op(op->domain, op->name) == op);
    CHECK(&ops::op_def(op->kind) == op);
    if (op->scalar != nullptr) {
      CHECK((op->scalar->eval != nullptr || op->scalar->eval_int != nullptr));
      CHECK(op->scalar->c_expr != nullptr);
    }
  }
}

TEST_CASE("symbols name their operators") {
  struct Named {
    Op kind;
    std::string_view name;
  };
  constexpr Named kAll[] = {
#define MRVLC_OP(op_name) {Op::op_name, #op_name},
#include "mrvlc/ops/ops.def"
#undef MRVLC_OP
  };
  CHECK(std::size(kAll) == ops::all_ops().size());
  for (const Named& n : kAll) CHECK(ops::op_def(n.kind).name == n.name);
}

// Whatever the numbers, and swapped the same.
bool commutes(const ops::OpDef& op) {
  const std::vector<ir::Attr> attrs = ir::default_attrs(op);
  for (int64_t a : {-3, -1, 0, 1, 2, 5}) {
    for (int64_t b : {-3, -1, 0, 1, 2, 5}) {
      const int64_t ints[] = {a, b}, swapped_ints[] = {b, a};
      const double reals[] = {static_cast<double>(a), static_cast<double>(b)},
                   swapped[] = {reals[1], reals[0]};
      const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
      const bool equal =
          op.scalar->eval != nullptr
              ? same(op.scalar->eval(reals, op, attrs), op.scalar->eval(swapped, op, attrs))
              : op.scalar->eval_int(ints, op, attrs) == op.scalar->eval_int(swapped_ints, op, attrs);
      if (!equal) return false;
    }
  }
  return true;
}

TEST_CASE("element-wise operators commute where the table says so, and only there") {
  for (const ops::OpDef* op : ops::all_ops()) {
    if (op->scalar == nullptr || op->kind == Op::BitShift) continue;  // BitShift needs its direction
    const bool two =
        op->min_inputs <= 2 && (op->max_inputs >= 2 || op->max_inputs < 0) && op->kind != Op::Clip;
    CAPTURE(op->name);
    CHECK(op->traits.commutative == (two && commutes(*op)));
  }
}

TEST_CASE("random operators draw from a stream") {
  for (const ops::OpDef* op : ops::all_ops()) {
    CAPTURE(op->name);
    CHECK(op->traits.random == (op->attr_index("stream") >= 0 && op->kind != Op::Dropout));
  }
}

TEST_CASE("operators that move are evaluated in linear time") {
  for (const ops::OpDef* op : ops::all_ops()) {
    CAPTURE(op->name);
    if (op->traits.moves == ops::Moves::None) continue;
    const bool linear = op->traits.work == ops::Work::Linear || op->traits.work == ops::Work::Results;
    CHECK(linear);
  }
}

TEST_CASE("attribute defaults are of the declared kind") {
  for (const ops::OpDef* op : ops::all_ops()) {
    for (const ir::AttrSpec& spec : op->attrs) {
      CAPTURE(op->name, spec.name);
      if (ir::is_set(spec.default_value)) CHECK(ir::kind_of(spec.default_value) == spec.kind);
      CHECK_FALSE((spec.required && ir::is_set(spec.default_value)));
    }
  }
}

TEST_CASE("shared checks of inference") {
  Tensor x = f32({2}, {1, 2});
  CHECK(refusal_of("Relu", {}) == DiagCode::MRV0201);
  CHECK(refusal_of("Relu", {{x}, {x}}) == DiagCode::MRV0201);
  CHECK(refusal_of("Add", {{x}, {Tensor()}}) == DiagCode::MRV0208);
  CHECK(refusal_of("Sqrt", {{i64({1}, {1})}}) == DiagCode::MRV0202);
}

TEST_CASE("results too large are refused before they are made") {
  const ops::OpDef& add = *ops::find_op("", "Add");
  std::vector<ir::Attr> none;
  TensorType wide{E::F32, {1, int64_t{1} << 30}}, tall{E::F32, {int64_t{1} << 30, 1}};
  ops::InferContext context;
  context.op = &add;
  context.attrs = &none;
  context.types = {&wide, &tall};
  auto types = ops::infer_types(add, context);
  REQUIRE_FALSE(types.ok());
  CHECK(types.error().code == DiagCode::MRV0209);
}

ops::RawNode raw(std::string_view op, int64_t opset, std::vector<TensorType> types,
                 std::vector<std::pair<std::string, ir::Attr>> attrs) {
  ops::RawNode node;
  node.opset = opset;
  node.op = ops::find_op("", op);
  node.attrs = std::move(attrs);
  node.input_types = std::move(types);
  for (size_t i = 0; i < node.input_types.size(); ++i) node.inputs.push_back(static_cast<int64_t>(i));
  return node;
}

void upgrade(ops::RawNode& node) {
  Status status = static_cast<const ops::OpDef*>(node.op)->upgrade(node);
  if (!status.ok()) FAIL(status.error().message);
}

TEST_CASE("bounds of Clip-6 become inputs") {
  ops::RawNode node = raw("Clip", 6, {{E::F32, {4}}}, {{"min", 0.0f}, {"max", 6.0f}});
  upgrade(node);
  CHECK(node.attrs.empty());
  REQUIRE(node.inputs == std::vector<int64_t>{0, -2, -3});
  CHECK(node.new_constants[1].as_double(0) == 6);
}

TEST_CASE("only the upper bound of Clip-6 leaves the lower one absent") {
  ops::RawNode node = raw("Clip", 6, {{E::F32, {4}}}, {{"max", 6.0f}});
  upgrade(node);
  CHECK(node.inputs == std::vector<int64_t>{0, -1, -2});
}

TEST_CASE("axes of old reductions become an input") {
  ops::RawNode node = raw("ReduceMean", 11, {{E::F32, {4, 4}}}, {{"axes", std::vector<int64_t>{1}}});
  upgrade(node);
  REQUIRE(node.inputs == std::vector<int64_t>{0, -2});
  CHECK(node.new_constants[0].to_ints() == std::vector<int64_t>{1});
}

TEST_CASE("old broadcasting along an axis becomes a reshape") {
  ops::RawNode node = raw("Add", 6, {{E::F32, {1, 3, 4, 5}}, {E::F32, {3}}},
                          {{"broadcast", int64_t{1}}, {"axis", int64_t{1}}});
  upgrade(node);
  CHECK(node.attrs.empty());
  REQUIRE(node.reshapes.size() == 1);
  CHECK(node.reshapes[0] == std::pair<size_t, Shape>{1, {3, 1, 1}});
}

TEST_CASE("Softmax before opset 13 is over all dimensions from its axis on") {
  // The axis that is left, and the one where rows begin, if the importer is to make a matrix first.
  auto upgraded = [](const TensorType& type, const std::vector<int64_t>& given) {
    std::vector<std::pair<std::string, ir::Attr>> attrs;
    if (!given.empty()) attrs.emplace_back("axis", given[0]);
    ops::RawNode node = raw("Softmax", 12, {type}, attrs);
    upgrade(node);
    CHECK(node.attrs.size() == 1);
    return std::pair(std::get<int64_t>(*node.find("axis")), node.rows_from);
  };
  using Rows = std::optional<int64_t>;
  CHECK(upgraded({E::F32, {1, 3, 4}}, {}) == std::pair(int64_t{-1}, Rows(1)));
  CHECK(upgraded({E::F32, {2, 3, 4}}, {-3}) == std::pair(int64_t{-1}, Rows(0)));
  CHECK(upgraded({E::F32, {1, 1000}}, {}) == std::pair(int64_t{1}, Rows()));
  CHECK(upgraded({E::F32, {2, 3, 4}}, {-1}) == std::pair(int64_t{2}, Rows()));
  CHECK(upgraded({E::F32, {1, 1000, 1, 1}}, {}) == std::pair(int64_t{1}, Rows()));
  CHECK(upgraded({E::F32, {2, 1, 7, 1}}, {}) == std::pair(int64_t{2}, Rows()));
  CHECK(upgraded({E::F32, {2, 1, 1}}, {}) == std::pair(int64_t{1}, Rows()));
  // A dimension that is known at run time only may be more than 1.
  CHECK(upgraded({E::F32, {2, 3, 1}, 4}, {}) == std::pair(int64_t{-1}, Rows(1)));
  ops::RawNode now = raw("Softmax", 13, {{E::F32, {1, 3, 4}}}, {});
  upgrade(now);
  CHECK(now.attrs.empty());
  CHECK_FALSE(now.rows_from.has_value());
  ops::RawNode beyond = raw("Softmax", 12, {{E::F32, {3, 4}}}, {{"axis", int64_t{2}}});
  CHECK_FALSE(ops::find_op("", "Softmax")->upgrade(beyond).ok());
}

TEST_CASE("C literals read back to the same value") {
  CHECK(ops::c_literal(1.5, E::F32) == "0x1.8p+0f");
  CHECK(ops::c_literal(-2.0, E::F64) == "(-0x1p+1)");
  CHECK(ops::c_literal(int64_t{INT64_MIN}, E::I64) == "(-INT64_C(9223372036854775807) - 1)");
  CHECK(ops::c_literal(int64_t{-1}, E::U64) == "UINT64_C(18446744073709551615)");
  CHECK(ops::c_literal(int64_t{-3}, E::I8) == "(-3)");
}

}  // namespace
}  // namespace mrvlc::test
