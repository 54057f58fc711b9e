// Host models: read and checked; what a node takes by one.
#include "mrvlc/partition/host_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "default_host_model.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/params.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/partition.h"
#include "mrvlc/support/strict_json.h"

namespace mrvlc::partition {
namespace {

using Json = nlohmann::ordered_json;
constexpr size_t kMaxHostModelBytes = 1 << 20;
constexpr double kMostNanoseconds = 1e9;
constexpr std::string_view kDepthwise = "depthwise", kDepthwiseAny = "depthwise-any",
                           kPointwise = "pointwise", kWide = "wide";

struct RateField {
  const char* name;
  double HostModel::*member;
};
constexpr RateField kRateFields[] = {{"call_ns", &HostModel::call_ns},
                                     {"constant_byte_ns", &HostModel::constant_byte_ns},
                                     {"to_device_ns", &HostModel::to_device_ns},
                                     {"from_device_ns", &HostModel::from_device_ns}};
// Of files that lack them, the rate of casting and permuting stands for both.
struct BorderField {
  RateField field;
  double HostModel::*otherwise;
};
constexpr BorderField kBorderFields[] = {
    {{"cast_to_device_ns", &HostModel::cast_to_device_ns}, &HostModel::to_device_ns},
    {{"cast_from_device_ns", &HostModel::cast_from_device_ns}, &HostModel::from_device_ns},
    {{"permute_ns", &HostModel::permute_ns}, &HostModel::from_device_ns}};

double HostModel::*member_of(std::string_view field) {
  for (const RateField& f : kRateFields)
    if (field == f.name) return f.member;
  for (const BorderField& f : kBorderFields)
    if (field == f.field.name) return f.field.member;
  return nullptr;
}

class HostModelReader {
 public:
  explicit HostModelReader(std::string_view shown) : shown_(printable(shown)) {}

  Result<HostModel> run(std::string_view text) {
    if (text.size() > kMaxHostModelBytes)
      return make_diag<DiagCode::MRV0414>(shown_, "is larger than it may be");
    MRVLC_TRY(parse_json(text));
    if (!root_.is_object()) return make_diag<DiagCode::MRV0414>(shown_, "is not a JSON object");
    for (const auto& [key, value] : root_.items()) MRVLC_TRY(host_entry(key, value));
    for (const RateField& f : kRateFields) {
      if (!root_.contains(f.name)) return bad(f.name, "is missing");
    }
    for (const BorderField& f : kBorderFields) {
      if (!root_.contains(f.field.name)) model_.*(f.field.member) = model_.*(f.otherwise);
    }
    if (!model_.rates.contains("default")) return bad("operators", "has no rate called default");
    return std::move(model_);
  }

 private:
  Diag bad(std::string_view field, std::string_view what) const {
    return make_diag<DiagCode::MRV0415>(shown_, printable(field), what);
  }

  Status parse_json(std::string_view text) {
    std::string twice;
    root_ = parse_strict<Json>(text, twice);
    if (root_.is_discarded()) return make_diag<DiagCode::MRV0414>(shown_, "is not valid JSON");
    return twice.empty() ? Status() : bad(twice, "is given twice");
  }

  Status host_entry(const std::string& key, const Json& value) {
    if (key == "name" || key == "description") {
      if (!value.is_string()) return bad(key, "is not a string");
      (key == "name" ? model_.name : model_.description) = value.get<std::string>();
      return {};
    }
    if (key == "operators") return operators(value);
    const auto member = member_of(key);
    if (member == nullptr) return bad(key, "is unknown");
    return nanoseconds(key, value, model_.*member);
  }

  Status nanoseconds(const std::string& field, const Json& value, double& out) const {
    if (!value.is_number()) return bad(field, "is not a number");
    out = value.get<double>();
    return out >= 0 && out <= kMostNanoseconds ? Status() : bad(field, "must be between 0 and 1e9");
  }

  Status operators(const Json& list) {
    if (!list.is_object()) return bad("operators", "is not an object");
    for (const auto& [op, rates] : list.items()) {
      if (!rates.is_object()) return bad(op, "is not an object");
      HostModel::Rate& rate = model_.rates[op];
      for (const auto& [key, value] : rates.items()) {
        if (key != "mac_ns" && key != "step_ns") return bad(op + "." + key, "is unknown");
        MRVLC_TRY(nanoseconds(op + "." + key, value, key == "mac_ns" ? rate.mac_ns : rate.step_ns));
      }
    }
    return {};
  }

  std::string shown_;
  Json root_;
  HostModel model_;
};

const HostModel::Rate& rate_of(const HostModel& model, const ir::Graph& graph, const ir::Node& node) {
  const std::string_view form = host_form(graph, node);
  auto of_form = [&](std::string_view f) { return model.rates.find(fmt::format("{}/{}", node.op->name, f)); };
  auto found = form.empty() ? model.rates.end() : of_form(form);
  if (found == model.rates.end() && form == kDepthwiseAny) found = of_form(kDepthwise);
  if (found == model.rates.end()) found = model.rates.find(node.op->name);
  if (found == model.rates.end()) found = model.rates.find("default");
  return found->second;
}

std::string_view window_form(const ops::ConvParams& p) {
  if (p.group > 1 && p.in_channels != p.group) return "grouped";
  if (p.group > 1) {
    const bool common = p.kernel == std::vector<int64_t>{3, 3} &&
                        std::ranges::all_of(p.dilations, [](int64_t d) { return d == 1; });
    return common ? kDepthwise : kDepthwiseAny;
  }
  return std::ranges::all_of(p.kernel, [](int64_t k) { return k == 1; }) ? kPointwise : "";
}

// Elements of 8 bytes: half as many in a register, and arithmetic that has no instruction for several.
bool is_wide(const ir::Graph& graph, const ir::Node& node) {
  auto wide = [&](ir::ValueId v) { return v.valid() && byte_size(graph.value(v).type.elem) == 8; };
  auto computed = [&](ir::ValueId v) { return wide(v) && !graph.is_constant(v); };
  return std::ranges::any_of(node.outputs, wide) || std::ranges::any_of(node.inputs, computed);
}

bool is_depthwise(std::string_view form) {
  return form == kDepthwise || form == kDepthwiseAny;
}

// Products that are computed: a depthwise convolution makes 16 outputs of a row at once, whatever its width.
double products_of_node(const ir::Graph& graph, const ir::Node& node) {
  constexpr int64_t kLanes = 16;
  const auto macs = static_cast<double>(ops::macs(graph, node));
  if (!is_depthwise(host_form(graph, node))) return macs;
  const auto width =
      static_cast<double>(std::max<int64_t>(graph.value(node.outputs[0]).type.shape.back(), 1));
  return macs * std::ceil(width / kLanes) * kLanes / width;
}

double rows_of(const ir::Graph& graph, ir::ValueId v) {
  const TensorType& type = graph.value(v).type;
  return static_cast<double>(type.elements()) / static_cast<double>(std::max<int64_t>(type.shape.back(), 1));
}

// Elements of the input that a convolution gathers for its products: each once, however many channels of the
// output read it.
double gathered(const ir::Graph& graph, const ir::Node& node) {
  const auto p = ops::conv_params(ops::infer_context(graph, node));
  if (!p.ok()) return 0;
  return static_cast<double>(ops::macs(graph, node)) * static_cast<double>(p->group) /
         static_cast<double>(std::max<int64_t>(p->out_channels, 1));
}

// What is read and written, windows as often as they meet an element; of a depthwise convolution rows, each
// of which is begun and ended; of others what is gathered.
double steps_of_node(const ir::Graph& graph, const ir::Node& node) {
  const std::string_view form = host_form(graph, node);
  if (is_depthwise(form)) return rows_of(graph, node.inputs[0]) + rows_of(graph, node.outputs[0]);
  if (node.is(Op::Conv) && form != kPointwise) return gathered(graph, node);
  double out = 0, in = 0, taps = 1;
  for (ir::ValueId v : node.outputs)
    if (v.valid()) out += static_cast<double>(graph.value(v).type.elements());
  for (ir::ValueId v : node.inputs)
    if (v.valid() && !graph.is_constant(v)) in += static_cast<double>(graph.value(v).type.elements());
  if (node.op->attr_index("kernel_shape") >= 0 && ops::macs(graph, node) == 0)
    for (int64_t k : node.ints_attr("kernel_shape")) taps *= static_cast<double>(k);
  return std::max(in, out * taps);
}

double constant_bytes(const ir::Graph& graph, const ir::Node& node) {
  double bytes = 0;
  for (ir::ValueId v : node.inputs)
    if (graph.is_constant(v)) bytes += static_cast<double>(graph.value(v).type.bytes());
  return bytes;
}

}  // namespace

std::string_view default_host_model() {
  return kDefaultHostModelText;
}

Result<HostModel> parse_host_model(std::string_view json, std::string_view shown) {
  return HostModelReader(shown).run(json);
}

std::string_view host_form(const ir::Graph& graph, const ir::Node& node) {
  const auto accel = ops::op_def(node).accel;
  const ops::InferContext context = ops::infer_context(graph, node);
  if (accel.has(LayerKind::Conv)) {
    auto p = ops::conv_params(context);
    return p.ok() ? window_form(*p) : "";
  }
  if (!accel.has(LayerKind::Fc) && !accel.has(LayerKind::Matmul)) return is_wide(graph, node) ? kWide : "";
  const Shape& out = graph.value(node.outputs[0]).type.shape;
  return out.size() < 2 || element_count(out) == out.back() ? "row" : "";
}

double host_seconds(const HostModel& model, const ir::Graph& graph, const ir::Node& node) {
  constexpr double kNano = 1e-9;
  const auto bodies = ir::bodies_of(node);
  double seconds = kNano * model.call_ns;
  for (const ir::Graph* body : bodies) {
    double inner = 0;
    for (ir::NodeId n : body->topological_order()) inner += host_seconds(model, *body, body->node(n));
    seconds += inner * static_cast<double>(ops::body_rounds(graph, node));
  }
  if (!bodies.empty()) return seconds;
  const HostModel::Rate& rate = rate_of(model, graph, node);
  return seconds +
         kNano * (rate.mac_ns * products_of_node(graph, node) + rate.step_ns * steps_of_node(graph, node) +
                  model.constant_byte_ns * constant_bytes(graph, node));
}

}  // namespace mrvlc::partition
