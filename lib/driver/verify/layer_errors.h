// The errors of layers, from runs of a layered model beside a reference.
#pragma once
#include "mrvlc/driver/data_set.h"
#include "verify/layered_model.h"

namespace mrvlc::driver {

// Holds the model by reference.
class LayerJudge {
 public:
  // `tolerance`: of a layer's own error in fp16.
  LayerJudge(const LayeredModel& model, double tolerance);
  // One set of inputs: what the layers made of it, and what the reference did (by value; what is missing is
  // not compared).
  void add(const std::string& set, const LayeredModel::Values& actual, const LayeredModel::Values& reference);
  LayerErrors result(std::string reference);

 private:
  void judge(const LayerUnit& unit, const LayeredModel::Values& actual, const LayeredModel::Values& reference,
             LayerError& out) const;
  double limit_of(const LayerUnit& unit, const LayeredModel::Values& actual,
                  const LayeredModel::Values& exact, double own, bool& overflows) const;

  const LayeredModel& model_;
  double tolerance_;
  std::vector<std::string> sets_;
  std::vector<LayerError> layers_;
};

// All of it: compiles into `folder`, runs every set, judges, and says which layer is the first that is bad.
// nullopt: `diagnostics` say why.
Result<std::optional<LayerErrors>> layer_errors(const CompileOptions& compile, const LayerOptions& options,
                                                const std::vector<DataSet>& sets, double tolerance,
                                                const std::filesystem::path& folder,
                                                Diagnostics& diagnostics);

}  // namespace mrvlc::driver
