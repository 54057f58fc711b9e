// Wall-clock seconds of the phases of one compile, for --timing. Never part of OUT.
#pragma once
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace mrvlc::driver {

class PhaseTimer {
 public:
  template <class F>
  auto time(std::string phase, F f) {
    auto begin = std::chrono::steady_clock::now();
    auto result = f();
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    phases_.emplace_back(std::move(phase), seconds.count());
    return result;
  }
  const std::vector<std::pair<std::string, double>>& phases() const { return phases_; }

 private:
  std::vector<std::pair<std::string, double>> phases_;
};

}  // namespace mrvlc::driver
