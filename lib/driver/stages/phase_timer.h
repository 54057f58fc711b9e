// Seconds and memory of the phases of one compile, for --timing and the log. Never part of OUT.
#pragma once
#include <sys/resource.h>

#include <chrono>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "mrvlc/support/log.h"

namespace mrvlc::driver {

struct Phase {
  std::string name;
  double seconds = 0;      // wall
  double cpu_seconds = 0;  // of all threads
  int64_t peak_bytes = 0;  // the most memory that the process has held until the end of the phase
};

class PhaseTimer {
 public:
  explicit PhaseTimer(Log log) : log_(std::move(log)) {}
  template <class F>
  auto time(std::string name, F f) {
    Moment begin = now();
    auto result = f();
    add(std::move(name), begin);
    return result;
  }
  // In order of first use; a phase that runs more than once is one entry.
  const std::vector<Phase>& phases() const { return phases_; }
  // From the making of the timer to now; what no phase covers is in it.
  Phase total() const { return since("total", start_); }

 private:
  struct Moment {
    std::chrono::steady_clock::time_point wall;
    double cpu = 0;
  };

  static Moment now() {
    timespec t{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return {std::chrono::steady_clock::now(),
            static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9};
  }

  static int64_t peak_bytes() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return int64_t{usage.ru_maxrss} * 1024;
  }

  static Phase since(std::string name, Moment begin) {
    Moment end = now();
    std::chrono::duration<double> wall = end.wall - begin.wall;
    return {std::move(name), wall.count(), end.cpu - begin.cpu, peak_bytes()};
  }

  void tell(const Phase& p) const {
    log_.info("phase {}: {:.3f} s, {:.3f} s of the processor, {} MiB at the peak", p.name, p.seconds,
              p.cpu_seconds, p.peak_bytes >> 20);
  }

  void add(std::string name, Moment begin) {
    Phase p = since(std::move(name), begin);
    tell(p);
    for (Phase& known : phases_) {
      if (known.name != p.name) continue;
      known.seconds += p.seconds;
      known.cpu_seconds += p.cpu_seconds;
      known.peak_bytes = p.peak_bytes;
      return;
    }
    phases_.push_back(std::move(p));
  }

  Log log_;
  Moment start_ = now();
  std::vector<Phase> phases_;
};

}  // namespace mrvlc::driver
