// Every attribute and default of every version of every operator, as ONNX's own library has them (1.12:
// opsets up to 17), against the operator table and what `upgrade` makes of old forms.
#include <catch2/catch.hpp>
#include <climits>
#include <set>

#include "mrvlc/ops/op.h"
#include "onnx_schemas.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

// The operator of the table that an importer would take for this version; null: unknown, or not this version.
const ops::OpDef* ours(const OnnxSchema& s) {
  const ops::OpDef* op = ops::find_op(s.domain, s.name);
  return op == nullptr || s.until < op->since_min || s.since > op->since_max ? nullptr : op;
}

// The opsets between which nothing of the form changes: the first and the last, where the table has them.
std::vector<int64_t> opsets_of(const OnnxSchema& s, const ops::OpDef& op) {
  std::set<int64_t> ends = {std::max(s.since, op.since_min), std::min(s.until, op.since_max)};
  return {ends.begin(), ends.end()};
}

// A node with one attribute, or none, and as many inputs of rank 4 as the version asks for.
ops::RawNode raw_node(const OnnxSchema& s, const ops::OpDef& op, int64_t opset) {
  ops::RawNode node;
  node.opset = opset;
  node.op = &op;
  for (int i = 0; i < std::max(s.min_inputs, 1); ++i) {
    node.inputs.push_back(i);
    node.input_types.push_back({ElementType::F32, {2, 2, 2, 2}});
  }
  return node;
}

// What the slots of a node without attributes are in the end; nullopt where upgrade refuses it.
std::optional<std::vector<ir::Attr>> slots_without(const OnnxSchema& s, const ops::OpDef& op, int64_t opset) {
  ops::RawNode node = raw_node(s, op, opset);
  for (const OnnxAttribute& a : s.attributes)
    if (a.required && ir::is_set(a.value)) node.attrs.emplace_back(a.name, a.value);
  if (op.upgrade != nullptr && !op.upgrade(node).ok()) return std::nullopt;
  std::vector<ir::Attr> slots = ir::default_attrs(op);
  for (auto& [name, value] : node.attrs)
    if (int i = op.attr_index(name); i >= 0 && ir::is_set(value)) slots[static_cast<size_t>(i)] = value;
  return slots;
}

// ONNX names element types by number, and had whole numbers as floats.
bool same(const ir::Attr& onnx, const ir::Attr& slot) {
  const auto* number = std::get_if<int64_t>(&slot);
  const auto* fraction = std::get_if<float>(&onnx);
  if (const auto* elem = std::get_if<ElementType>(&slot)) {
    number = std::get_if<int64_t>(&onnx);
    return number != nullptr && element_type_from_onnx(static_cast<int32_t>(*number)) == *elem;
  }
  if (number != nullptr && fraction != nullptr) return static_cast<float>(*number) == *fraction;
  return onnx == slot;
}

// What the schema cannot say, or says wrongly; each is tested elsewhere by what it means.
bool by_design(const OnnxSchema& s, std::string_view attribute) {
  if (s.name == "Concat" && s.since == 1) return attribute == "axis";  // "default 1" stands in the text only
  if (s.name == "GRU" && s.since == 1) return attribute == "direction";  // "foward", a misprint
  if (s.name == "GridSample") return attribute == "mode";                // bilinear is called linear since 20
  if (s.name == "RNN") return attribute == "activations";  // Tanh for each direction when absent
  // Over all dimensions from the axis on: the importer makes a matrix of them, RawNode::rows_from.
  if (s.since < 13 && (s.name == "Softmax" || s.name == "LogSoftmax" || s.name == "Hardmax"))
    return attribute == "axis";
  return s.name == "Scan" && s.since == 8 && attribute == "directions";  // rewritten by the importer
}

}  // namespace

TEST_CASE("defaults of attributes are those of ONNX's schemas, in every opset") {
  size_t compared = 0;
  for (const OnnxSchema& s : onnx_schemas()) {
    const ops::OpDef* op = ours(s);
    if (op == nullptr || s.deprecated) continue;
    for (int64_t opset : opsets_of(s, *op)) {
      auto slots = slots_without(s, *op, opset);
      if (!slots) continue;
      for (const OnnxAttribute& a : s.attributes) {
        int i = op->attr_index(a.name);
        if (i < 0 || a.is_graph || a.required || by_design(s, a.name)) continue;
        CAPTURE(s.domain, s.name, s.since, opset, a.name);
        ++compared;
        const ir::Attr& slot = (*slots)[static_cast<size_t>(i)];
        CHECK(ir::is_set(a.value) == ir::is_set(slot));
        if (ir::is_set(a.value) && ir::is_set(slot)) CHECK(same(a.value, slot));
      }
    }
  }
  CHECK(compared > 300);
}

TEST_CASE("every attribute of every version is known, or taken by upgrade") {
  for (const OnnxSchema& s : onnx_schemas()) {
    const ops::OpDef* op = ours(s);
    if (op == nullptr || s.deprecated) continue;
    for (int64_t opset : opsets_of(s, *op)) {
      for (const OnnxAttribute& a : s.attributes) {
        if (by_design(s, a.name)) continue;
        CAPTURE(s.domain, s.name, s.since, opset, a.name);
        if (op->attr_index(a.name) >= 0 || a.is_graph || op->upgrade == nullptr) {
          CHECK((op->attr_index(a.name) >= 0));
          continue;
        }
        ops::RawNode node = raw_node(s, *op, opset);
        node.attrs.emplace_back(a.name, ir::is_set(a.value) ? a.value : ir::Attr(std::vector<int64_t>{0}));
        if (!op->upgrade(node).ok()) continue;  // refused by name, or for its value: not ignored
        CHECK(node.find(a.name) == nullptr);
      }
    }
  }
}

TEST_CASE("operators take as many inputs and give as many outputs as ONNX's newest schemas say") {
  for (const OnnxSchema& s : onnx_schemas()) {
    const ops::OpDef* op = ours(s);
    if (op == nullptr || !s.newest || s.deprecated) continue;
    CAPTURE(s.domain, s.name, s.since);
    // Later opsets than the library's may have added optional ones.
    CHECK(op->min_inputs <= s.min_inputs);
    bool any = op->max_inputs == -1,
         control_flow = s.name == "Loop" || s.name == "Scan";  // limits of their own
    CHECK((any || control_flow) == (s.max_inputs == INT_MAX));
    if (!any && !control_flow) CHECK(op->max_inputs >= s.max_inputs);
    CHECK(op->min_outputs <= std::max(s.min_outputs, 1));
    if (s.max_outputs != INT_MAX && op->max_outputs != -1) CHECK(op->max_outputs >= s.max_outputs);
  }
}
