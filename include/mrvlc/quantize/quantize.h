// A network in floats made one of integers: QuantizeLinear and DequantizeLinear around what an integer
// machine computes, with scales from the user's data (docs/quantization.md). The arithmetic between them
// stays that of the operators in float32, so any runtime can judge the result.
#pragma once
#include <functional>
#include <optional>

#include "mrvlc/ir/graph.h"
#include "mrvlc/tensor/tensor.h"

namespace mrvlc::quantize {

// How the range of a tensor is chosen that a scale covers.
enum class RangeMethod : uint8_t {
  Best,        // of the others the one with which outputs are nearest to float32's; Mse beyond the budget
  MinMax,      // everything that was seen
  Percentile,  // all but 1 of 10 000 values at either end
  Mse,         // the least sum of squares of what rounding and cutting change
  Entropy,     // the least Kullback-Leibler divergence of the distributions
};
std::string_view name(RangeMethod method);

// What a network takes on the machine that it is for, in cycles or any other unit.
struct Times {
  struct Part {
    std::vector<ir::NodeId> nodes;
    double time = 0;
  };
  double all = 0;
  std::vector<Part> parts;  // of it, what can be told of nodes
};

// What the user judges outputs by; more is better.
struct Metric {
  std::string name;
  // `outputs` of the network for the samples that are judged, by sample, and the numbers of these in
  // `validation`, or without it in the samples.
  std::function<Result<double>(const std::vector<std::vector<Tensor>>& outputs,
                               const std::vector<size_t>& numbers)>
      measure;
  // The most that integers may lose against floats: layers stay in floats until they lose no more. nullopt:
  // it is reported, and decides nothing.
  std::optional<double> max_drop;
};

struct Options {
  ElementType activations = ElementType::I8;  // or U8, I16
  ElementType weights = ElementType::I8;      // or I4: the accelerator then computes with floats
  RangeMethod ranges = RangeMethod::Best;
  bool equalise = true;        // scale channels between two layers so that their ranges are alike
  bool learn_rounding = true;  // weights are rounded so that results are nearest; else each by itself
  bool correct_bias = true;    // what rounding moves the mean of a channel by goes into the bias
  // Samples that nothing is made of: methods are chosen, and errors measured, on them. None: every fourth of
  // the samples is held back for that; of fewer than 8 none.
  std::vector<std::vector<Tensor>> validation;
  // Largest max |a-b| / (1+|b|) of the outputs on what is held back: layers become integers that save most
  // for the error they make, as far as it goes.
  std::optional<double> accuracy;
  std::optional<Metric> metric;  // its `max_drop` not together with `accuracy`
  // What layers save is the difference of these, of networks in floats and in integers. Null: their
  // multiply-accumulates.
  std::function<Result<Times>(const ir::Graph&)> times;
  bool half = false;         // what stays in floats is stored as fp16 there, which has its part in the error
  bool may_be_none = false;  // that no layer is worth it is an answer; else MRV0913
  std::function<bool(const ir::Node&)> keep_float;  // nodes that the user keeps in floats; may be empty
  // What searches on samples may cost in all, and what evaluating a node does: multiply-accumulates.
  int64_t budget = 200'000'000'000;
  std::function<int64_t(const ir::Graph&, const ir::Node&)> cost;
  unsigned jobs = 0;  // threads, 0: one for each processor; results do not depend on it
  std::function<void(std::string_view step, size_t done, size_t of)> progress;  // may be null
};

// A tensor of integers.
struct TensorReport {
  std::string name;
  RangeMethod method = RangeMethod::MinMax;
  double seen_min = 0, seen_max = 0;
  float scale = 1;
  int64_t zero_point = 0;
  bool operator==(const TensorReport&) const = default;
};

// A layer with weights.
struct LayerReport {
  std::string node, op;
  int64_t weights = 0;    // elements
  bool integers = false;  // else `why_float`
  std::string why_float;
  bool learned = false;               // its weights were rounded together
  double equalised = 1;               // the largest factor that a channel in front of it was scaled by
  std::optional<double> sqnr_db;      // of its result in the whole network of integers, against float32
  std::optional<double> sensitivity;  // error of the outputs with this layer alone in integers
  std::optional<double> saves;        // time, or multiply-accumulates, in integers
};

// How layers were chosen for an accuracy.
struct ChoiceReport {
  double asked = 0;
  double error_of_floats = 0, error_of_integers = 0;  // of the outputs with no layer, and all, in integers
  size_t runs = 0;                                    // choices that were measured
  size_t samples = 0;                                 // that they were measured on; in the end it is all
  // In the unit of Options::times; missing without it.
  std::optional<double> time_of_floats, time_of_integers, time;
};

struct OutputReport {
  std::string name;
  double error = 0;    // max |a-b| / (1+|b|) over the samples
  double sqnr_db = 0;  // infinite for the same values
  // Share of rows (last dimension) whose largest element is the same; of outputs with one row a sample of 2
  // elements and more.
  std::optional<double> same_top1;
};

struct MetricReport {
  std::string name;
  double of_floats = 0, of_integers = 0;
  std::optional<double> max_drop;
};

struct Report {
  int64_t samples = 0;                // that it was made of
  int64_t validation = 0;             // that were held back, which errors were measured on; 0: on the others
  std::vector<size_t> held;           // the numbers of samples that were held back; of `validation` none
  std::vector<TensorReport> tensors;  // in program order
  std::vector<LayerReport> layers;
  std::vector<OutputReport> outputs;
  double error = 0;                    // the largest of the outputs
  std::optional<ChoiceReport> choice;  // with Options::accuracy, where not all layers meet it
  std::optional<MetricReport> metric;
  int64_t float_weight_bytes = 0, weight_bytes = 0;
};

// `graph` as passes::host_pipeline() leaves it. Samples by graph input order, all of one type each.
// MRV0912: there is no layer that could be one of integers; MRV0913, MRV0951: `accuracy`, or the metric's
// `max_drop`, cannot be met with even one layer in integers. Otherwise errors of the interpreter, and of
// `times`.
Result<Report> quantize(ir::Graph& graph, const std::vector<std::vector<Tensor>>& samples,
                        const Options& options);

}  // namespace mrvlc::quantize
