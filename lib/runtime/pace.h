// A device that takes the time of its cycles: mrvl_simulator_pace().
#pragma once
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "mrvl/device.h"

namespace mrvlc::runtime {

using Clock = std::chrono::steady_clock;

// When the one job at a time ends, in the order in which jobs come.
class Pace {
 public:
  void set(bool on) { on_ = on; }
  bool on() const { return on_; }
  // When a job that comes now and takes so long ends.
  Clock::time_point enqueue(Clock::duration takes);
  // Sleeps until then, to a few microseconds.
  static void sleep_until(Clock::time_point end);

 private:
  std::atomic<bool> on_ = false;
  std::mutex mutex_;
  Clock::time_point free_ = {};  // when the last job ends
};

// Results of the last few different inputs of a handle.
class Seen {
 public:
  struct Result {
    std::vector<std::string> outputs;
    uint32_t flags = 0;
  };
  // Null: these inputs were not met.
  const Result* find(const std::vector<mrvl_input>& inputs) const;
  void add(const std::vector<mrvl_input>& inputs, Result result);

 private:
  std::deque<std::pair<std::vector<std::string>, Result>> known_;
};

}  // namespace mrvlc::runtime
