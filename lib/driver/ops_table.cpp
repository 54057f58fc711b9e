// `mrvlc ops`: the operator table. What it says of the accelerator is asked from rules and legality.
#include <algorithm>

#include "accelerator_query.h"
#include "model/compiled_model.h"
#include "mrvlc/onnx/taken_apart.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/support/json_document.h"

namespace mrvlc::driver {
namespace {

constexpr ElementType kShownTypes[] = {
    ElementType::F32, ElementType::F16, ElementType::F64,  ElementType::BF16,  ElementType::I8,
    ElementType::I16, ElementType::I32, ElementType::I64,  ElementType::U8,    ElementType::U16,
    ElementType::U32, ElementType::U64, ElementType::Bool, ElementType::String};

constexpr ElementType kNarrowTypes[] = {ElementType::F8E4M3FN,   ElementType::F8E4M3FNUZ, ElementType::F8E5M2,
                                        ElementType::F8E5M2FNUZ, ElementType::F8E8M0,     ElementType::F4E2M1,
                                        ElementType::I4,         ElementType::U4,         ElementType::I2,
                                        ElementType::U2};

// "narrow" stands for all types of less than eight bits and float8.
std::string types_text(ops::TypeSet types) {
  std::string out;
  auto add = [&](std::string_view text) { out += (out.empty() ? "" : " ") + std::string(text); };
  for (ElementType t : kShownTypes) {
    if (types.has(t)) add(name(t));
  }
  bool all = true;
  for (ElementType t : kNarrowTypes) all = all && types.has(t);
  if (all) add("narrow");
  for (ElementType t : kNarrowTypes) {
    if (!all && types.has(t)) add(name(t));
  }
  return out;
}

// Its C is made by the host code generator.
bool runs_bodies(const ops::OpDef& op) {
  auto is_body = [](const ir::AttrSpec& a) { return a.kind == ir::AttrKind::Graph; };
  return std::any_of(op.attrs.begin(), op.attrs.end(), is_body);
}

bool has_dynamic_c(const ops::OpDef& op) {
  return op.emit_dynamic != nullptr || runs_bodies(op);
}

std::string c_text(const ops::OpDef& op) {
  if (!op.emit_kernel.empty()) return "kernel " + std::string(op.emit_kernel);
  return op.emit != nullptr || has_dynamic_c(op) ? "yes" : "no";
}

// The operator table says why the accelerator is left out by design; else the reason is what legality said.
std::string note(const ops::OpDef& op, const AcceleratorAnswer& answer) {
  if (!answer.kinds.empty() || !op.declined.empty()) return std::string(op.declined);
  return answer.reason.empty() ? "" : "accelerator: " + answer.reason;
}

Json op_json(const ops::OpDef& op, const AcceleratorAnswer& answer) {
  return {{"name", op.name},
          {"domain", op.domain},
          {"opset_min", op.since_min},
          {"opset_max", op.since_max},
          {"types", types_text(op.types)},
          {"reference", op.eval != nullptr},
          {"c", c_text(op)},
          {"c_dynamic_shapes", has_dynamic_c(op)},
          {"accelerator", answer.kinds},
          {"declined", note(op, answer)},
          {"taken_apart", ""}};
}

// Of its parts the table says the rest.
Json taken_apart_json(const onnx::TakenApart& op) {
  return {{"name", op.name},
          {"domain", op.domain},
          {"opset_min", op.since_min},
          {"opset_max", op.since_max},
          {"types", ""},
          {"reference", true},
          {"c", "yes"},
          {"c_dynamic_shapes", true},
          {"accelerator", ""},
          {"declined", ""},
          {"taken_apart", op.made_of}};
}

std::string shown_op(std::string_view domain, std::string_view name) {
  return fmt::format("{}{}{}", domain, domain.empty() ? "" : ".", name);
}

std::string op_row(const ops::OpDef& op, const AcceleratorAnswer& answer, std::string_view format) {
  return fmt::format(fmt::runtime(format), shown_op(op.domain, op.name),
                     fmt::format("{}-{}", op.since_min, op.since_max), types_text(op.types),
                     op.eval != nullptr ? "yes" : "no", c_text(op), has_dynamic_c(op) ? "yes" : "no",
                     answer.kinds.empty() ? "no" : answer.kinds, note(op, answer));
}

std::string taken_apart_row(const onnx::TakenApart& op, std::string_view format) {
  const std::string how = op.made_of.empty() ? "taken apart" : fmt::format("taken apart: {}", op.made_of);
  return fmt::format(fmt::runtime(format), shown_op(op.domain, op.name),
                     fmt::format("{}-{}", op.since_min, op.since_max), "", "", "", "", "", how);
}

}  // namespace

std::string ops_table(OpsFormat format) {
  const AcceleratorQuery asks;
  if (format == OpsFormat::AsJson) {
    Json list = Json::array();
    for (const ops::OpDef* op : ops::all_ops()) list.push_back(op_json(*op, asks(*op)));
    for (const onnx::TakenApart& op : onnx::taken_apart()) list.push_back(taken_apart_json(op));
    return json_document(list);
  }
  bool markdown = format == OpsFormat::AsMarkdown;
  std::string out = markdown
                        ? "| operator | opsets | types | reference | C | dynamic shapes | accelerator "
                          "| note |\n|---|---|---|---|---|---|---|---|\n"
                        : fmt::format("{:<46} {:<8} {:<9} {:<22} {:<14} {:<14} {}\n", "operator", "opsets",
                                      "reference", "C", "dynamic shapes", "accelerator", "note");
  const std::string_view format_of_row = markdown ? "| {0} | {1} | {2} | {3} | {4} | {5} | {6} | {7} |\n"
                                                  : "{0:<46} {1:<8} {3:<9} {4:<22} {5:<14} {6:<14} {7}\n";
  for (const ops::OpDef* op : ops::all_ops()) out += op_row(*op, asks(*op), format_of_row);
  for (const onnx::TakenApart& op : onnx::taken_apart()) out += taken_apart_row(op, format_of_row);
  return out;
}

}  // namespace mrvlc::driver
