// How far a network of integers is from the one in floats.
#pragma once
#include "mrvlc/quantize/quantize.h"
#include "observe.h"

namespace mrvlc::quantize {

struct Judgement {
  std::vector<OutputReport> outputs;  // those that are floats
  double error = 0;                   // the largest of them
  double mean_square = 0;             // mean of relative_square over the samples
};

// What a run of the network costs, by Options::cost.
int64_t run_cost(const ir::Graph& graph, const Options& options);

// |a-b|^2 / |b|^2, the sum over the outputs that are floats.
double relative_square(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected);

// A run of the network, with what stays in floats rounded to fp16 where `half`: what is read, and what a node
// other than DequantizeLinear makes that is not rounded to integers behind it, with nothing in between or
// what is computed with it.
Result<std::vector<Tensor>> run_on_machine(const ir::Graph& integers, const Sample& sample, bool half);

// By sample.
Result<std::vector<std::vector<Tensor>>> run_all(const ir::Graph& integers,
                                                 const std::vector<Sample>& samples, const Options& options);

// `expected` by sample.
Result<Judgement> judge(const ir::Graph& integers, const std::vector<Sample>& samples,
                        const std::vector<std::vector<Tensor>>& expected, const Options& options);

// Signal to noise ratio in dB of the values, over the samples: of the network of integers against floats.
// The two have the same values, but for those that were inserted.
Result<std::vector<double>> sqnr_of(const ir::Graph& integers, const ir::Graph& floats,
                                    const std::vector<ir::ValueId>& values,
                                    const std::vector<Sample>& samples);

}  // namespace mrvlc::quantize
