// Each change of an operator's form, on both sides of the opset that brought it: the same or a similar node
// one opset before and in it, with the results that ONNX's text for each gives, or a refusal.
#include <cmath>
#include <set>

#include "model_util.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/ops/op.h"

namespace mrvlc::test {
namespace {

struct Operand {
  std::vector<int64_t> dims;
  std::vector<double> values;
  int elem = pb::TensorProto::FLOAT;
  bool constant = false;
};

using Value = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                           std::vector<std::string>>;
using Attributes = std::vector<std::pair<std::string, Value>>;
using Values = std::vector<double>;

void set(pb::AttributeProto& a, const Value& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) a.set_i(*i), a.set_type(pb::AttributeProto::INT);
  if (const auto* f = std::get_if<float>(&value)) a.set_f(*f), a.set_type(pb::AttributeProto::FLOAT);
  if (const auto* s = std::get_if<std::string>(&value)) a.set_s(*s), a.set_type(pb::AttributeProto::STRING);
  if (const auto* l = std::get_if<std::vector<int64_t>>(&value)) {
    a.set_type(pb::AttributeProto::INTS);
    for (int64_t v : *l) a.add_ints(v);
  }
  if (const auto* l = std::get_if<std::vector<float>>(&value)) {
    a.set_type(pb::AttributeProto::FLOATS);
    for (float v : *l) a.add_floats(v);
  }
  if (const auto* l = std::get_if<std::vector<std::string>>(&value)) {
    a.set_type(pb::AttributeProto::STRINGS);
    for (const std::string& v : *l) a.add_strings(v);
  }
}

// A model of one node; operands without dims and values are left out.
struct OneNodeModel {
  std::string op, domain;
  int64_t opset = 1;
  std::vector<Operand> operands;
  Attributes attributes;
  size_t outputs = 1;
};

pb::ModelProto model_of(const OneNodeModel& m) {
  pb::ModelProto model = empty_model();
  auto& imported = *model.mutable_opset_import(0);
  imported.set_domain(m.domain);
  imported.set_version(m.opset);
  std::vector<std::string> inputs, outputs;
  for (size_t i = 0; i < m.operands.size(); ++i) {
    const Operand& o = m.operands[i];
    bool given = !o.values.empty();
    inputs.push_back(given ? "x" + std::to_string(i) : "");
    if (!given) continue;
    if (!o.constant) {
      add_input(model, inputs.back(), o.dims, o.elem);
    } else if (o.elem == pb::TensorProto::INT64) {
      *model.mutable_graph()->add_initializer() =
          int64_tensor(inputs.back(), o.dims, std::vector<int64_t>(o.values.begin(), o.values.end()));
    } else {
      *model.mutable_graph()->add_initializer() =
          float_tensor(inputs.back(), o.dims, std::vector<float>(o.values.begin(), o.values.end()));
    }
  }
  for (size_t i = 0; i < m.outputs; ++i) outputs.push_back("y" + std::to_string(i));
  auto& node = add_node(model, m.op, inputs, outputs);
  node.set_domain(m.domain);
  for (const auto& [name, value] : m.attributes) {
    auto& a = *node.add_attribute();
    a.set_name(name);
    set(a, value);
  }
  for (const std::string& name : outputs) model.mutable_graph()->add_output()->set_name(name);
  return model;
}

// All outputs one after the other; nullopt: the model is refused with a diagnostic.
std::optional<Values> result_of(const OneNodeModel& m) {
  Outcome outcome = import(model_of(m));
  if (!outcome.model) return std::nullopt;
  std::vector<Tensor> inputs;
  for (const Operand& o : m.operands) {
    if (o.constant || o.values.empty()) continue;
    size_t at = inputs.size();
    Tensor t(outcome.model->graph.value(outcome.model->graph.inputs()[at]).type);
    for (int64_t i = 0; i < t.elements(); ++i) t.set_double(i, o.values[static_cast<size_t>(i)]);
    inputs.push_back(std::move(t));
  }
  auto results = interp::run(outcome.model->graph, inputs);
  REQUIRE(results.ok());
  Values all;
  for (const Tensor& t : *results)
    for (double v : t.to_doubles()) all.push_back(v);
  return all;
}

struct Side {
  int64_t opset;
  std::vector<Operand> operands;
  Attributes attributes;
  std::optional<Values> expected;  // nullopt: refused
  size_t outputs = 1;
};

struct Row {
  std::string op;
  std::vector<Side> sides;
  std::string domain = {};
};

constexpr int kI64 = pb::TensorProto::INT64;

Operand x(std::vector<int64_t> dims, Values values) {
  return {std::move(dims), std::move(values)};
}
Operand c(std::vector<int64_t> dims, Values values) {
  return {std::move(dims), std::move(values), pb::TensorProto::FLOAT, true};
}
Operand ints(Values values) {
  auto count = static_cast<int64_t>(values.size());
  return {{count}, std::move(values), kI64, true};
}
Value list(std::vector<int64_t> values) {
  return values;
}
Value text(const char* value) {
  return std::string(value);
}

const double kLn3 = std::log(3.0), kLn4 = std::log(4.0), kLn8 = std::log(8.0);
const std::optional<Values> kRefused;

// Logarithms of 1 3 1 3 | 1 3 1 3 and so on.
Operand logs() {
  return x({2, 2, 2}, {0, kLn3, 0, kLn3, 0, kLn3, 0, kLn3});
}
Values repeated(Values once, size_t times) {
  Values all;
  for (size_t i = 0; i < times; ++i) all.insert(all.end(), once.begin(), once.end());
  return all;
}
Operand counting(std::vector<int64_t> dims) {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  Values values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  return x(std::move(dims), values);
}

std::vector<Row> softmaxes() {
  const Value one = int64_t{1};
  return {{"Softmax",
           {{12, {logs()}, {}, repeated({0.125, 0.375}, 4)},
            {13, {logs()}, {}, repeated({0.25, 0.75}, 4)},
            {12, {logs()}, {{"axis", one}}, repeated({0.125, 0.375}, 4)},
            {13, {logs()}, {{"axis", one}}, Values(8, 0.5)},
            {12, {logs()}, {{"axis", int64_t{-1}}}, repeated({0.25, 0.75}, 4)},
            {12, {logs()}, {{"axis", int64_t{0}}}, repeated({1.0 / 16, 3.0 / 16}, 4)}}},
          {"LogSoftmax",
           {{12, {logs()}, {}, repeated({-kLn8, kLn3 - kLn8}, 4)},
            {13, {logs()}, {}, repeated({-kLn4, kLn3 - kLn4}, 4)}}},
          {"Hardmax",
           {{12, {counting({2, 2, 2})}, {}, Values{0, 0, 0, 1, 0, 0, 0, 1}},
            {13, {counting({2, 2, 2})}, {}, Values{0, 1, 0, 1, 0, 1, 0, 1}},
            {12, {counting({2, 2, 2})}, {{"axis", one}}, Values{0, 0, 0, 1, 0, 0, 0, 1}},
            {13, {counting({2, 2, 2})}, {{"axis", one}}, Values{0, 0, 1, 1, 0, 0, 1, 1}}}}};
}

std::vector<Row> broadcasts() {
  Operand data = x({2, 3, 2}, Values(12, 1)), vector = x({3}, {1, 2, 3}), last = x({2}, {1, 2});
  const Attributes aligned = {{"broadcast", int64_t{1}}, {"axis", int64_t{1}}};
  Values by_middle = repeated({1, 1, 2, 2, 3, 3}, 2);
  Values sums = repeated({2, 2, 3, 3, 4, 4}, 2);
  return {
      {"Add",
       {{6, {data, vector}, aligned, sums},
        {7, {data, vector}, aligned, kRefused},
        {6, {data, last}, {{"broadcast", int64_t{1}}}, repeated({2, 3}, 6)},
        {7, {data, last}, {}, repeated({2, 3}, 6)}}},
      {"Mul", {{6, {data, vector}, aligned, by_middle}, {7, {data, vector}, aligned, kRefused}}},
      {"PRelu",
       {{6, {x({1, 2, 2}, {-1, -1, -1, -1}), c({2}, {2, 3})}, {}, Values{-2, -2, -3, -3}},
        {7, {x({1, 2, 2}, {-1, -1, -1, -1}), c({2}, {2, 3})}, {}, Values{-2, -3, -2, -3}}}},
      {"Gemm",
       {{6, {x({1, 1}, {2}), c({1, 1}, {3}), c({1}, {1})}, {{"broadcast", int64_t{1}}}, Values{7}},
        {7, {x({1, 1}, {2}), c({1, 1}, {3}), c({1}, {1})}, {}, Values{7}}}},
      {"Selu", {{5, {x({1}, {100})}, {}, Values{105.07}}, {6, {x({1}, {100})}, {}, Values{105.0701022}}}}};
}

std::vector<Row> attributes_to_inputs() {
  Operand four = counting({4}), square = counting({2, 2});
  const Attributes min_max = {{"min", 1.0f}, {"max", 2.0f}};
  return {
      {"Clip",
       {{10, {four}, min_max, Values{1, 1, 2, 2}},
        {11, {four}, min_max, kRefused},
        {11, {four, c({}, {1}), c({}, {2})}, {}, Values{1, 1, 2, 2}},
        {10, {four}, {{"max", 2.0f}}, Values{0, 1, 2, 2}},
        {10, {four}, {{"min", 2.0f}}, Values{2, 2, 2, 3}}}},
      {"Reshape",
       {{4, {square}, {{"shape", list({4})}}, Values{0, 1, 2, 3}},
        {5, {square}, {{"shape", list({4})}}, kRefused},
        {5, {square, ints({4})}, {}, Values{0, 1, 2, 3}}}},
      {"Slice",
       {{9, {four}, {{"starts", list({1})}, {"ends", list({3})}}, Values{1, 2}},
        {9, {square}, {{"axes", list({1})}, {"starts", list({1})}, {"ends", list({2})}}, Values{1, 3}},
        {10, {four}, {{"starts", list({1})}, {"ends", list({3})}}, kRefused},
        {10, {square, ints({1}), ints({2}), ints({1})}, {}, Values{1, 3}}}},
      {"Squeeze",
       {{12, {x({1, 2, 1}, {1, 2})}, {{"axes", list({0})}}, Values{1, 2}},
        {13, {x({1, 2, 1}, {1, 2})}, {{"axes", list({0})}}, kRefused},
        {13, {x({1, 2, 1}, {1, 2}), ints({2})}, {}, Values{1, 2}}}},
      {"Unsqueeze",
       {{12, {four}, {{"axes", list({0})}}, Values{0, 1, 2, 3}},
        {13, {four}, {{"axes", list({0})}}, kRefused},
        {13, {four, ints({0})}, {}, Values{0, 1, 2, 3}}}},
      {"Split",
       {{12, {four}, {{"split", list({1, 3})}}, Values{0, 1, 2, 3}, 2},
        {13, {four}, {{"split", list({1, 3})}}, kRefused, 2},
        {13, {four, ints({1, 3})}, {}, Values{0, 1, 2, 3}, 2},
        {12, {four}, {}, Values{0, 1, 2, 3}, 2},
        {17, {four}, {}, Values{0, 1, 2, 3}, 2},
        {18, {four}, {{"num_outputs", int64_t{2}}}, Values{0, 1, 2, 3}, 2},
        {18, {four}, {{"num_outputs", int64_t{3}}}, kRefused, 2}}},
      {"TopK",
       {{9, {four}, {{"k", int64_t{2}}}, Values{3, 2, 3, 2}, 2},
        {10, {four, ints({2})}, {}, Values{3, 2, 3, 2}, 2},
        {11, {four, ints({2})}, {{"largest", int64_t{0}}}, Values{0, 1, 0, 1}, 2}}},
      {"ReduceSum",
       {{12, {square}, {{"axes", list({0})}, {"keepdims", int64_t{0}}}, Values{2, 4}},
        {13, {square, ints({0})}, {{"keepdims", int64_t{0}}}, Values{2, 4}},
        {12, {square}, {}, Values{6}},
        {13, {square}, {{"noop_with_empty_axes", int64_t{1}}}, Values{0, 1, 2, 3}}}},
      {"ReduceMax",
       {{17, {square}, {{"axes", list({1})}}, Values{1, 3}}, {18, {square, ints({1})}, {}, Values{1, 3}}}},
      {"Pad",
       {{1, {c({1}, {7})}, {{"paddings", list({1, 0})}}, Values{0, 7}},
        {2, {c({1}, {7})}, {{"pads", list({0, 1})}, {"value", 5.0f}}, Values{7, 5}},
        {10, {four}, {{"pads", list({1, 0})}, {"value", 5.0f}}, Values{5, 0, 1, 2, 3}},
        {11, {four}, {{"pads", list({1, 0})}, {"value", 5.0f}}, kRefused},
        {11, {four, ints({1, 0}), c({}, {5})}, {}, Values{5, 0, 1, 2, 3}}}},
      {"Upsample",
       {{8, {x({1, 2}, {1, 2})}, {{"scales", std::vector<float>{1, 2}}}, Values{1, 1, 2, 2}},
        {9, {x({1, 2}, {1, 2}), c({2}, {1, 2})}, {}, Values{1, 1, 2, 2}}}}};
}

std::vector<Row> defaults_and_meanings() {
  Operand pair = x({1, 2}, {1, 2});
  // One picture of 4 x 4 and a region that half a pixel moves.
  std::vector<Operand> roi = {counting({1, 1, 4, 4}), c({1, 4}, {0, 0, 2, 2}), ints({0})};
  const Attributes pooled = {
      {"output_height", int64_t{1}}, {"output_width", int64_t{1}}, {"sampling_ratio", int64_t{1}}};
  // Two groups of one channel out of two each.
  Operand four = x({1, 4, 1}, {1, 3, 1, 3});
  const Attributes groups = {{"num_groups", int64_t{2}}, {"epsilon", 0.0f}};
  Operand grid = x({1, 1, 1, 2}, {0, 0});
  return {
      {"Concat",
       {{3, {pair, pair}, {}, Values{1, 2, 1, 2}},
        {4, {pair, pair}, {}, kRefused},
        {4, {pair, pair}, {{"axis", int64_t{1}}}, Values{1, 2, 1, 2}}}},
      {"Cast",
       {{5, {x({2}, {1.5, -1.5})}, {{"to", text("INT32")}}, Values{1, -1}},
        {6, {x({2}, {1.5, -1.5})}, {{"to", text("INT32")}}, kRefused},
        {6, {x({2}, {1.5, -1.5})}, {{"to", int64_t{6}}}, Values{1, -1}},
        {5, {x({1}, {1})}, {{"to", text("INT")}}, kRefused}}},
      {"Dropout",
       {{11, {pair}, {{"ratio", 0.9f}}, Values{1, 2}},
        {12, {pair}, {{"ratio", 0.9f}}, kRefused},
        {12, {pair, c({}, {0.9})}, {}, Values{1, 2}}}},
      {"BatchNormalization",
       {{8,
         {x({1, 1}, {3}), c({1}, {2}), c({1}, {1}), c({1}, {1}), c({1}, {4})},
         {{"epsilon", 0.0f}},
         Values{3}},
        {8,
         {x({1, 1, 1}, {3}), c({1}, {2}), c({1}, {1}), c({1}, {1}), c({1}, {4})},
         {{"spatial", int64_t{0}}},
         kRefused},
        {13, {x({1, 1}, {3}), c({1}, {2}), c({1}, {1}), c({1}, {1}), c({1}, {4})}, {}, kRefused, 3},
        {14, {x({1, 1}, {3}), c({1}, {2}), c({1}, {1}), c({1}, {1}), c({1}, {4})}, {}, kRefused, 3},
        {14,
         {x({1, 1}, {3}), c({1}, {2}), c({1}, {1}), c({1}, {1}), c({1}, {4})},
         {{"training_mode", int64_t{1}}, {"momentum", 0.5f}, {"epsilon", 1.0f}},
         Values{1, 2, 2},
         3}}},
      {"Resize",
       {{10, {counting({4}), c({1}, {0.5})}, {}, Values{0, 2}},
        {11, {counting({4}), c({0}, {}), c({1}, {0.5})}, {}, Values{0, 2}},  // a tie: 0.5 and 2.5, prefer
                                                                             // floor
        {10, {counting({2}), c({1}, {2})}, {}, Values{0, 0, 1, 1}},
        {10, {counting({3}), c({1}, {2.0 / 3})}, {}, Values{0, 2}},  // 1.5: the next where it shrinks
        {10, {counting({2}), c({1}, {2})}, {{"mode", text("linear")}}, Values{0, 0.5, 1, 1}},
        {11, {counting({2}), {}, c({1}, {2})}, {{"mode", text("linear")}}, Values{0, 0.25, 0.75, 1}}}},
      // Sampled at the middle of the region: 1, 1 without the shift, 0.5, 0.5 with it.
      {"RoiAlign", {{15, roi, pooled, Values{5}}, {16, roi, pooled, Values{2.5}}}},
      {"GroupNormalization",
       {{20, {four, c({2}, {1, 2}), c({2}, {0, 0})}, groups, Values{-1, 1, -2, 2}},
        {21, {four, c({2}, {1, 2}), c({2}, {0, 0})}, groups, kRefused},
        {21, {four, c({4}, {1, 2, 3, 4}), c({4}, {0, 0, 0, 0})}, groups, Values{-1, 2, -3, 4}}}},
      {"DFT",
       {{19, {x({1, 2, 2, 1}, {1, 2, 3, 4})}, {}, Values{4, 0, 6, 0, -2, 0, -2, 0}},
        {20, {x({1, 2, 2, 1}, {1, 2, 3, 4})}, {}, Values{3, 0, -1, 0, 7, 0, -1, 0}},
        {19, {x({1, 2, 2, 1}, {1, 2, 3, 4})}, {{"axis", int64_t{2}}}, Values{3, 0, -1, 0, 7, 0, -1, 0}},
        {20, {x({1, 2, 2, 1}, {1, 2, 3, 4})}, {{"axis", int64_t{2}}}, kRefused}}},
      {"GridSample",
       {{19, {counting({1, 1, 2, 2}), grid}, {{"mode", text("bilinear")}}, Values{1.5}},
        {20, {counting({1, 1, 2, 2}), grid}, {{"mode", text("bilinear")}}, kRefused},
        {20, {counting({1, 1, 2, 2}), grid}, {{"mode", text("linear")}}, Values{1.5}},
        {19, {counting({1, 1, 2, 2}), grid}, {}, Values{1.5}}}},
      {"InstanceNormalization",
       {{5,
         {x({1, 1, 2}, {1, 3}), c({1}, {2}), c({1}, {1})},
         {{"epsilon", 0.0f}, {"consumed_inputs", list({0})}},
         Values{-1, 3}},
        {6, {x({1, 1, 2}, {1, 3}), c({1}, {2}), c({1}, {1})}, {{"epsilon", 0.0f}}, Values{-1, 3}}}},
      {"GlobalLpPool",
       {{1, {x({1, 1, 2}, {3, 4})}, {{"p", 2.0f}}, Values{5}},
        {2, {x({1, 1, 2}, {3, 4})}, {{"p", int64_t{1}}}, Values{7}},
        {1, {x({1, 1, 2}, {3, 4})}, {{"p", 1.5f}}, kRefused}}},
      {"RNN",
       {{6,
         {x({1, 1, 1}, {0}), c({1, 1, 1}, {1}), c({1, 1, 1}, {1})},
         {{"hidden_size", int64_t{1}}, {"output_sequence", int64_t{1}}},
         Values{0}},
        {7,
         {x({1, 1, 1}, {0}), c({1, 1, 1}, {1}), c({1, 1, 1}, {1})},
         {{"hidden_size", int64_t{1}}},
         Values{0}}}},
      {"LabelEncoder",
       {{2,
         {{{2}, {1, 5}, kI64}},
         {{"keys_int64s", list({5})}, {"values_floats", std::vector<float>{2.5f}}, {"default_float", -7.0f}},
         Values{-7, 2.5}}},
       "ai.onnx.ml"}};
}

std::vector<Row> all_rows() {
  std::vector<Row> rows;
  for (auto part : {softmaxes(), broadcasts(), attributes_to_inputs(), defaults_and_meanings()})
    rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

void check_side(const Row& row, const Side& side) {
  auto got = result_of({row.op, row.domain, side.opset, side.operands, side.attributes, side.outputs});
  REQUIRE(got.has_value() == side.expected.has_value());
  if (!got) return;
  REQUIRE(got->size() == side.expected->size());
  for (size_t i = 0; i < got->size(); ++i) CHECK((*got)[i] == Approx((*side.expected)[i]).margin(1e-6));
}

}  // namespace

TEST_CASE("operators on both sides of each change of their form", "[onnx]") {
  for (const Row& row : all_rows()) {
    for (size_t i = 0; i < row.sides.size(); ++i) {
      CAPTURE(row.op, i, row.sides[i].opset);
      check_side(row, row.sides[i]);
    }
  }
}

TEST_CASE("LabelEncoder of ai.onnx.ml 1 has one list of classes", "[onnx]") {
  OneNodeModel m{"LabelEncoder",
                 "ai.onnx.ml",
                 1,
                 {{{3}, {1, 0, 7}, kI64}},
                 {{"classes_strings", std::vector<std::string>{"a", "b"}}, {"default_string", text("none")}},
                 1};
  Outcome outcome = import(model_of(m));
  check_imported(outcome);
  auto results = interp::run(outcome.model->graph, {Tensor::of<int64_t>(ElementType::I64, {3}, {1, 0, 7})});
  REQUIRE(results.ok());
  CHECK((*results)[0].type().elem == ElementType::String);
  CHECK((*results)[0].string_data() == std::vector<std::string>{"b", "a", "none"});
}

TEST_CASE("every upgrade of the operator table has a row", "[onnx]") {
  std::set<Status (*)(ops::RawNode&)> tested;
  for (const Row& row : all_rows()) {
    const ops::OpDef* op = ops::find_op(row.domain, row.op);
    REQUIRE(op != nullptr);
    tested.insert(op->upgrade);
  }
  for (const ops::OpDef* op : ops::all_ops()) {
    CAPTURE(op->name);
    // chunk_size of LinearAttention is a hint of its only form; sparse_value of Constant belongs to every
    // opset.
    if (op->upgrade != nullptr && op->name != "LinearAttention" && op->name != "Constant")
      CHECK(tested.contains(op->upgrade));
  }
}

}  // namespace mrvlc::test
