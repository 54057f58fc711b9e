// Collects diagnostics up to the limits of importer.h: at most 50 errors, and as many warnings.
#pragma once
#include <utility>
#include <vector>

#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/result.h"

namespace mrvlc::onnx {

class Sink {
 public:
  explicit Sink(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void add(Diag diag) {
    if (trial_ != nullptr) {
      if (diag.severity() == Severity::Error) ++errors_;
      if (trial_->size() < kLimit) trial_->push_back(std::move(diag));
      return;
    }
    int& count = diag.severity() == Severity::Error ? errors_ : others_;
    if (count++ < kLimit) {
      diagnostics_.add(std::move(diag));
    } else if (diag.severity() == Severity::Error && errors_ == kLimit + 1) {
      diagnostics_.add(make_diag<DiagCode::MRV0119>());
    }
  }
  // Diagnostics go to a list until the end of the trial; what was said before does not count. Trials nest.
  class Trial {
   public:
    explicit Trial(Sink& sink)
        : sink_(sink), outer_(std::exchange(sink.trial_, &list_)), errors_(std::exchange(sink.errors_, 0)) {}
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;
    ~Trial() { end(); }
    std::vector<Diag> end() {
      if (std::exchange(done_, true)) return {};
      sink_.trial_ = outer_;
      sink_.errors_ = errors_;
      return std::move(list_);
    }

   private:
    Sink& sink_;
    std::vector<Diag> list_;
    std::vector<Diag>* outer_;
    int errors_;
    bool done_ = false;
  };
  // Nothing more is worth looking for.
  bool full() const { return errors_ > kLimit; }
  bool has_errors() const { return errors_ > 0; }  // since the trial began, where there is one
  bool in_trial() const { return trial_ != nullptr; }

 private:
  static constexpr int kLimit = 50;
  Diagnostics& diagnostics_;
  std::vector<Diag>* trial_ = nullptr;
  int errors_ = 0, others_ = 0;
};

}  // namespace mrvlc::onnx
