// Collects diagnostics up to the limits of importer.h: at most 50 errors, and as many warnings.
#pragma once
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/result.h"

namespace mrvlc::onnx {

class Sink {
 public:
  explicit Sink(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void add(Diag diag) {
    int& count = diag.severity() == Severity::Error ? errors_ : others_;
    if (count++ < kLimit) {
      diagnostics_.add(std::move(diag));
    } else if (diag.severity() == Severity::Error && errors_ == kLimit + 1) {
      diagnostics_.add(make_diag<DiagCode::MRV0119>());
    }
  }
  // Nothing more is worth looking for.
  bool full() const { return errors_ > kLimit; }
  bool has_errors() const { return errors_ > 0; }

 private:
  static constexpr int kLimit = 50;
  Diagnostics& diagnostics_;
  int errors_ = 0, others_ = 0;
};

}  // namespace mrvlc::onnx
