// What the outputs of one run are worth: right, right as far as arithmetic goes, or wrong.
#pragma once
#include "mrvlc/driver/data_set.h"
#include "mrvlc/driver/driver.h"
#include "mrvlc/onnx/importer.h"
#include "verify/fp16_ideal.h"

namespace mrvlc::driver {

// Everything computed on the CPU, in C?
bool is_host(const CompileOptions& compile);
// The tolerances that were given, or those of the target.
Limits limits_of(const VerifyOptions& options, const CompileOptions& compile);

class OutputJudge {
 public:
  // Holds all of it by reference. `compile`: with the shapes that the data brought.
  OutputJudge(const VerifyOptions& options, const CompileOptions& compile, Diagnostics& diagnostics)
      : options_(options), compile_(compile), diagnostics_(diagnostics) {}

  // The model as imported, before any pass.
  Result<const ir::Graph*> graph();
  // `names` of the outputs. What differs is said.
  Status judge(const DataSet& set, const std::vector<Tensor>& actual, const std::vector<std::string>& names);
  std::vector<Comparison> take() { return std::move(comparisons_); }

 private:
  struct Judged {
    Difference difference;
    Comparison::Limit limit = Comparison::Limit::Default;
    std::string overflow = {};  // of 16 bits, on the host
  };
  Status judge_draws(const DataSet& set, const std::vector<Tensor>& actual, std::vector<Judged>& judged);
  Status judge_condition(const DataSet& set, const std::vector<Tensor>& actual, std::vector<Judged>& judged);
  Result<std::vector<Tensor>> still(const ir::Graph& model, const DataSet& set) const;
  std::vector<Fp16Error> ideal(const DataSet& set);
  bool is_beyond(const Tensor& actual, const Tensor& expected, const Difference& d,
                 const Fp16Error& ideal) const;
  void report(const DataSet& set, size_t i, const std::string& output, const Judged& judged,
              const Fp16Error& ideal, bool beyond);
  void say(const DataSet& set, size_t i, const Comparison& c, const std::string& overflow);
  Diag at_output(size_t i, Diag diag);

  const VerifyOptions& options_;
  const CompileOptions& compile_;
  Diagnostics& diagnostics_;
  std::optional<onnx::Model> model_;
  std::vector<Comparison> comparisons_;
};

}  // namespace mrvlc::driver
