// What the host takes for an operator: numbers of a file (docs/partition.md), of which one is built in.
#pragma once
#include <map>

#include "mrvlc/ir/graph.h"
#include "mrvlc/support/result.h"

namespace mrvlc::partition {

struct HostModel {
  // Nanoseconds of a multiply-accumulate, and of an element read or written (a step, of operators that do
  // more).
  struct Rate {
    double mac_ns = 0, step_ns = 0;
  };
  std::string name, description;
  double call_ns = 0;           // of every operator
  double constant_byte_ns = 0;  // of weights that come from memory
  // Of an element at a border: cast and permuted, cast alone, permuted alone.
  double to_device_ns = 0, from_device_ns = 0;
  double cast_to_device_ns = 0, cast_from_device_ns = 0;
  double permute_ns = 0;
  std::map<std::string, Rate, std::less<>> rates;  // by operator, "Operator/form", or "default"
};

// The text of the built-in file.
std::string_view default_host_model();
// Every field is checked: MRV0414, MRV0415. `shown`: the file's name in messages.
Result<HostModel> parse_host_model(std::string_view json, std::string_view shown);

// The forms of an operator that kernels differ in: "depthwise" (kernels of 3x3), "depthwise-any",
// "pointwise", "grouped", "row"; else empty.
std::string_view host_form(const ir::Graph& graph, const ir::Node& node);
// Seconds of a node by itself; bodies count as often as they run.
double host_seconds(const HostModel& model, const ir::Graph& graph, const ir::Node& node);

}  // namespace mrvlc::partition
