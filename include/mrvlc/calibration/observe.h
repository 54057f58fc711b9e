// What the values of a model are on given data: runs of the reference interpreter, looked at value by value.
#pragma once
#include "mrvlc/calibration/statistics.h"
#include "mrvlc/ir/graph.h"

namespace mrvlc::calibration {

// A value's name as calibration files have it: as messages show it, but not shortened.
std::string recorded_name(const std::string& name);

struct ValueRecord {
  std::string name;  // recorded_name of ONNX's
  bool input = false;
  ElementType elem = ElementType::F32;
  Summary summary;
  // How far outputs move when it is rounded to fp16, and when the constants of the node that makes it are;
  // kInfinite for infinitely. nullopt: not known.
  std::optional<double> sensitivity, constants_sensitivity;
  bool operator==(const ValueRecord&) const = default;
};
inline constexpr double kInfinite = 1e300;

// A sample of the data, whole.
struct KeptSample {
  using Input = std::pair<std::string, Tensor>;  // recorded_name of the input
  int64_t sample = 0;                            // which of the data's, from 0
  // How far outputs move when every float32 value and constant is rounded to fp16; nullopt: not known.
  std::optional<double> rounding_error;
  std::vector<Input> inputs;
  bool operator==(const KeptSample&) const = default;
};

struct Calibration {
  std::string model_sha256;  // onnx::Model::sha256
  int64_t samples = 0;
  int64_t sensitivity_samples = 0;  // of these, the first ones; 0: sensitivities are not known
  std::vector<ValueRecord> values;  // inputs, then results in program order
  std::vector<KeptSample> kept;     // some of the samples, the worst first; keep.h

  const ValueRecord* find(std::string_view name) const;  // nullptr: nothing is known of it
  bool operator==(const Calibration&) const = default;
};

// Of the model as it was imported: names of values are those of the ONNX file. Looked at are floats, and
// integers that are inputs; not what lies in bodies of control flow, nor values that the importer made up.
class Observer {
 public:
  explicit Observer(const ir::Graph& graph);
  // One sample, by graph input order. Errors: those of interp::run.
  Status add(const std::vector<Tensor>& inputs);
  Calibration result(std::string model_sha256) const;

 private:
  struct Watched {
    ir::ValueId value;
    Statistics statistics;
  };
  void watch(ir::ValueId value);

  const ir::Graph& graph_;
  int64_t samples_ = 0;
  std::vector<Watched> watched_;
  std::vector<uint32_t> at_;  // by value: index into watched_, or UINT32_MAX
};

}  // namespace mrvlc::calibration
