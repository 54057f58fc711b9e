// Ctrl-C and SIGTERM, and SIGHUP and SIGQUIT if they are not ignored. With nothing half-done the process ends
// at once; while a Guard lives a first signal only sets a flag, so that its owner cleans up and main returns
// 130; a further one ends the process in any case.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace mrvlc::driver {

// `message` is written to stderr when a signal ends the process; it must live as long as the process.
void handle_interrupts(const char* message);

// A mapped input file that another process cuts short shows as SIGBUS when what is gone is read: `message`
// goes to stderr and the process ends with exit code 3. Any other SIGBUS is a crash as without this.
void handle_lost_input(const char* message);

// abort(), by a check of the C++ library above all: `message` goes to stderr and the process ends with exit
// code 70.
void handle_abort(const char* message);

// The exit code that a signal seen under a Guard asks for, 128 + its number; 0 without one.
int interrupted();

class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  // What was asked for is complete. When this is the only guard, a signal seen is dropped: the process goes
  // on to its end as if none had come, and a further one, half a second later, ends it.
  void done();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

// Under a Guard, while work in memory goes on that does not ask interrupted(), an evaluation of a large model
// say: a signal ends the process within a tenth of a second, after `clean_up`, which runs on another thread
// and must take away nothing that the work reads.
class EndOnInterrupt {
 public:
  explicit EndOnInterrupt(std::function<void()> clean_up);
  ~EndOnInterrupt();
  EndOnInterrupt(const EndOnInterrupt&) = delete;
  EndOnInterrupt& operator=(const EndOnInterrupt&) = delete;

 private:
  void watch(const std::function<void()>& clean_up);

  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread watcher_;
};

}  // namespace mrvlc::driver
