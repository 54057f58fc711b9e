// The errors of layers, from runs of a layered model beside a reference.
#pragma once
#include "mrvlc/driver/compare.h"
#include "mrvlc/driver/data_set.h"
#include "verify/layered_model.h"

namespace mrvlc::driver {

// Holds the model by reference.
class LayerJudge {
 public:
  // `limits`: of outputs. A layer in fp16 that loses more by itself is told of; on the CPU they are its own.
  LayerJudge(const LayeredModel& model, const Limits& limits, bool given);
  // One set of inputs: what the layers made of it, and what the reference did (by value; what is missing is
  // not compared).
  void add(const std::string& set, const LayeredModel::Values& actual, const LayeredModel::Values& reference);
  LayerErrors result(std::string reference);

 private:
  void judge(const LayerUnit& unit, const LayeredModel::Values& actual, const LayeredModel::Values& reference,
             LayerError& out) const;
  double limit_in_fp16(const LayerUnit& unit, const LayeredModel::Values& actual,
                       const LayeredModel::Values& exact, double own, bool& overflows) const;
  void judge_in_fp16(const LayerUnit& unit, const LayeredModel::Values& actual,
                     const LayeredModel::Values& exact, LayerError& out) const;
  void judge_on_cpu(const LayerUnit& unit, const LayeredModel::Values& actual,
                    const LayeredModel::Values& exact, LayerError& out) const;
  double lost_by_weights(const LayerUnit& unit, const LayeredModel::Values& actual,
                         const LayeredModel::Values& exact) const;

  const LayeredModel& model_;
  Limits limits_, on_cpu_;
  std::vector<std::string> sets_;
  std::vector<LayerError> layers_;
};

// What verify was told beside the layers: limits of outputs, whether they were given, how programs are built.
struct LayerTerms {
  Limits limits;
  bool given = false;
  RunOptions run;
};

// All of it: compiles into `folder`, runs every set, judges, and says which layer is the first that is bad.
// nullopt: `diagnostics` say why.
Result<std::optional<LayerErrors>> layer_errors(const CompileOptions& compile, const LayerOptions& options,
                                                const std::vector<DataSet>& sets, const LayerTerms& terms,
                                                const std::filesystem::path& folder,
                                                Diagnostics& diagnostics);

}  // namespace mrvlc::driver
