// What a compile knows about the accuracy of its output: found by a probe (probe.h), told by warnings and
// reports.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "model/accuracy_choice.h"
#include "model/report.h"
#include "mrvlc/chost/chost.h"
#include "mrvlc/driver/options.h"
#include "mrvlc/range/known.h"
#include "mrvlc/support/diag.h"

namespace mrvlc::driver {

// How near outputs come to float32 on the accelerator. Errors are |a-b| / (1+|b|); infinite where an output
// is not finite that is in float32. Names are those of the ONNX model.
struct Accuracy {
  // What the probe's inputs were drawn from: seeds alone, ranges that the user named, or the distribution of
  // calibration data.
  enum class How : uint8_t { None, Probe, InputRange, Calibration } how = How::None;
  std::string reason;           // how it was found, or why it was not
  double mac_share = 0;         // of the multiply-accumulates, that run on accelerators
  bool on_data = false;         // the inputs were samples of calibration data themselves
  size_t samples = 0;           // runs of the probe; 0: nothing is known of errors
  bool on_accelerator = false;  // anything of the model; else there is nothing to lose
  bool calibrated = false;      // stored values were looked for in calibration data
  struct Output {
    std::string name;
    double error = 0;                    // of floats, the largest of all samples
    int64_t elements = 0;                // of all other types, that come out otherwise
    std::vector<double> by_sample = {};  // what of `error` each sample has
    // In front of what hides errors, times the largest slope behind it, and where that is: what it would be
    // on inputs that are not at the ends of a Sigmoid, say. 0: nothing hides any, or it is not known.
    double in_front = 0;
    std::string front = {};
    bool blind = false;  // it hardly moved over all samples
    // Of floats: the largest magnitude, and the largest difference as it is.
    double magnitude = 0, difference = 0;

    // The difference by the magnitude, of outputs that are so small that `error` says little of it; else 0.
    double relative() const;
    double expected() const { return std::max(error, in_front); }
  };
  std::vector<Output> outputs;  // of the model; of its regions where the model's hold no floats
  // A stored value that leaves fp16.
  struct Beyond {
    ir::ValueId id;
    std::string value, node, op_type;  // of inputs of the model without a node
    double magnitude = 0;              // the largest seen
    bool wide = false;                 // it is stored as fp32
    bool input_range = false;          // an input of the model in whose range, named or of data, this is
    bool calibrated = false;           // seen in the calibration data, not by the probe
  };
  std::vector<Beyond> beyond;  // in the order of the program
  // What regions store, in the order of the program, and what is known of its magnitude: proved or observed
  // in calibration data (range/known.h), else observed by the probe.
  struct Stored {
    ir::ValueId id;
    std::string value;
    ElementType type = ElementType::F16;
    range::Known known;
  };
  std::vector<Stored> stored;
  std::optional<AccuracyChoice> choice;  // of --accuracy
  // What the program checks of its inputs: values beyond were not tried, or not stated, or the outputs are
  // not as accurate there.
  struct Limit {
    std::string input;
    chost::InputLimit limit;
  };
  std::vector<Limit> limits;
  std::string
      worst_value;  // the first of these that is stored in fp16; else the output with the largest error

  bool known() const { return samples > 0; }
  double expected_error() const;
  // What warnings go by: on data that which 95 of 100 samples do not exceed, else the largest.
  double judged_error() const;
  // Of the errors of samples that which `share` of them do not exceed.
  double error_of_share(double share) const;
};

// Warnings about what is worse than `options` allow, and notes. With --fail-on-accuracy an error (MRV0009)
// for each warning about a loss; false when there is one.
bool judge(const Accuracy& accuracy, const CompileOptions& options, Diagnostics& diagnostics);

// placement.json's `ranges`: a value that regions store, and what is known of its magnitude.
struct StoredRange {
  std::string value, known;
  std::optional<double> max_abs = {};  // nullopt: unknown
  std::string stored;
  static void fields(auto& f, auto& r) {
    f("value", r.value)("known", r.known).shortest("max_abs", r.max_abs)("stored", r.stored);
  }
};
std::vector<StoredRange> stored_ranges(const Accuracy& accuracy);

// The report's `accuracy`, and what people read of it: "0.0007", "infinite" or "not known", how that was
// found, and both in a line.
ReportedAccuracy reported(const Accuracy& accuracy, const CompileOptions& options);
std::string expected_error_text(const ReportedAccuracy& accuracy);
std::string accuracy_detail(const ReportedAccuracy& accuracy);
std::string accuracy_line(const ReportedAccuracy& accuracy);

}  // namespace mrvlc::driver
