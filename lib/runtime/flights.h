// Runs that a handle of the simulator has taken and not given back yet: submit and wait.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "mrvl/device.h"

namespace mrvlc::runtime {

// What is known of a run when it has ended.
struct Outcome {
  int code = 0;
  std::string error = {};               // where the code is not 0
  std::optional<uint64_t> cycles = {};  // nullopt: as before
  uint32_t flags = 0, failed_at = MRVL_NO_INSTRUCTION;
  std::vector<size_t> written = {};  // bytes of each output
  bool ran = false;                  // to its end
};

// A thread of its own runs them, in their order; it begins with the first. One thread at a time calls.
class Flights {
 public:
  using Work = std::function<Outcome()>;  // throws nothing
  Flights() = default;
  Flights(const Flights&) = delete;
  Flights& operator=(const Flights&) = delete;
  // Drops what has not begun, and waits for what has.
  ~Flights();

  // Where the system gives no thread, the work is done here.
  void* begin(Work work);
  // nullopt: there is no such run.
  std::optional<Outcome> end(const void* ticket);
  bool none() const { return runs_.empty(); }

 private:
  struct Run {
    Work work;
    bool begun = false;
    std::optional<Outcome> outcome = {};
  };
  void serve();
  Run* next();
  bool has_thread();

  mutable std::mutex mutex_;  // guards the members below; `runs_` is changed by the caller alone
  std::condition_variable changed_;
  std::list<Run> runs_;  // in the order of their begin
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace mrvlc::runtime
