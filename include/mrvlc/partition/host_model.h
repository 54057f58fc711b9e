// What the host takes for an operator: numbers of a file (docs/partition.md), of which one is built in.
#pragma once
#include <map>
#include <string>

#include "mrvlc/partition/host_conv.h"
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
  // Of the compile, not of the file: whether kernels use Winograd's algorithm, and what part of their bytes
  // weights are kept in.
  bool tiles = true;
  double weight_share = 1;
};

// The text of the built-in file.
std::string_view default_host_model();
// Every field is checked: MRV0414, MRV0415. `shown`: the file's name in messages.
Result<HostModel> parse_host_model(std::string_view json, std::string_view shown);
// As parse_host_model reads it; three digits of each number.
std::string host_model_text(const HostModel& model);

// What is counted of a node, to be multiplied with rates; of control flow nothing, its bodies count.
struct HostEffort {
  // Which of an operator's kernels: of convolutions "pointwise", "winograd" (tiles of 4 x 4),
  // "winograd-small" (2 x 2), "strip" (by rows), "depthwise" (windows of 3x3), "depthwise-strided",
  // "depthwise-lanes" (small channels side by side), "depthwise-any", "grouped"; of matrix products "row"; of
  // Transpose "rows"; of Softmax "columns"; of others "wide" (elements of 8 bytes); or empty.
  std::string_view form;
  double calls = 1;  // 0: another node's loop does it, or nothing is done
  // Multiply-accumulates as kernels make them: with what they add to fill vectors and panels; of "winograd"
  // those of transformed tiles.
  double products = 0;
  // Elements read or written, whichever are more, windows as often as they meet one; of depthwise
  // convolutions elements of image and result, and 16 for every row of that, but of "depthwise-lanes"; of
  // "strip" elements of image and result; of "winograd" elements transformed; of other convolutions elements
  // gathered (of integers: by four, and results).
  double steps = 0;
  double constant_bytes = 0;  // of "winograd" transformed weights, as often as they are read
};
HostEffort host_effort(const HostKernels& kernels, const ir::Node& node);
// HostEffort::form alone.
std::string_view host_form(const HostKernels& kernels, const ir::Node& node);
// "Conv/winograd-small": the entry of HostModel::rates that is a node's own, and the one that there is: its
// own, that of the form up to "-", of the operator, or "default".
std::string host_key(const ir::Node& node, std::string_view form);
std::string host_rate_of(const HostModel& model, std::string_view key);
std::string host_rate(const HostModel& model, const ir::Node& node, std::string_view form);
// Seconds of a node by itself; bodies count as often as they run.
double host_seconds(const HostModel& model, const HostKernels& kernels, const ir::Node& node);

}  // namespace mrvlc::partition
