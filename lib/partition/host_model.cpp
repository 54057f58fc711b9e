// Host models: read and checked; what a node takes by one (host_effort.cpp: what is counted of it).
#include "mrvlc/partition/host_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "default_host_model.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/partition.h"
#include "mrvlc/support/json_document.h"
#include "mrvlc/support/strict_json.h"

namespace mrvlc::partition {
namespace {

using Json = nlohmann::ordered_json;
constexpr size_t kMaxHostModelBytes = 1 << 20;
constexpr double kMostNanoseconds = 1e9;
constexpr std::string_view kDefaultRate = "default";

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
    if (!model_.rates.contains(kDefaultRate)) return bad("operators", "has no rate called default");
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

}  // namespace

std::string_view default_host_model() {
  return kDefaultHostModelText;
}

Result<HostModel> parse_host_model(std::string_view json, std::string_view shown) {
  return HostModelReader(shown).run(json);
}

std::string host_key(const ir::Node& node, std::string_view form) {
  return form.empty() ? std::string(node.op->name) : fmt::format("{}/{}", node.op->name, form);
}

std::string host_rate_of(const HostModel& model, std::string_view key) {
  const std::string_view op = key.substr(0, key.find('/'));
  const std::string_view kind = key.substr(0, key.find('-', op.size()));
  for (std::string_view entry : {key, kind, op})
    if (model.rates.contains(entry)) return std::string(entry);
  return std::string(kDefaultRate);
}

std::string host_rate(const HostModel& model, const ir::Node& node, std::string_view form) {
  return host_rate_of(model, host_key(node, form));
}

std::string host_model_text(const HostModel& model) {
  const auto number = [](double ns) { return fmt::format("{:.3g}", ns); };
  Json head;
  head["name"] = model.name;
  head["description"] = model.description;
  std::string text = escaped_json(head.dump(2, ' ', false, Json::error_handler_t::replace));
  text.resize(text.size() - 2);  // the brace, on a line of its own
  for (const RateField& f : kRateFields)
    text += fmt::format(",\n  \"{}\": {}", f.name, number(model.*(f.member)));
  for (const BorderField& f : kBorderFields)
    text += fmt::format(",\n  \"{}\": {}", f.field.name, number(model.*(f.field.member)));
  text += ",\n  \"operators\": {";
  std::string before = "\n";
  const auto entry = [&](const std::string& key, const HostModel::Rate& rate) {
    text += fmt::format("{}    {}: {{\"mac_ns\": {}, \"step_ns\": {}}}", before, json_line(Json(key)),
                        number(rate.mac_ns), number(rate.step_ns));
    before = ",\n";
  };
  for (const auto& [key, rate] : model.rates)
    if (key == kDefaultRate) entry(key, rate);
  for (const auto& [key, rate] : model.rates)
    if (key != kDefaultRate) entry(key, rate);
  return text + "\n  }\n}\n";
}

double host_seconds(const HostModel& model, const HostKernels& kernels, const ir::Node& node) {
  constexpr double kNano = 1e-9;
  const auto bodies = ir::bodies_of(node);
  if (!bodies.empty()) {
    double inner = 0;
    for (const ir::Graph* body : bodies) {
      const HostKernels of_body(*body, model.tiles);
      for (ir::NodeId n : body->topological_order()) inner += host_seconds(model, of_body, body->node(n));
    }
    return kNano * model.call_ns + inner * static_cast<double>(ops::body_rounds(kernels.graph(), node));
  }
  const HostEffort e = host_effort(kernels, node);
  const HostModel::Rate& rate = model.rates.find(host_rate(model, node, e.form))->second;
  return kNano * (model.call_ns * e.calls + rate.mac_ns * e.products + rate.step_ns * e.steps +
                  model.constant_byte_ns * model.weight_share * e.constant_bytes);
}

}  // namespace mrvlc::partition
