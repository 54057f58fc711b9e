// Instructions in program order, or by threads that take the first one whose queue and waits allow it.
#include "execute.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <queue>
#include <system_error>
#include <thread>

#include "functional.h"
#include "mrvlc/cost/frontier.h"

namespace mrvlc::sim {
using namespace cost;
namespace {

// Every thread takes the instruction that comes first in the program among those that may execute.
class Pool {
 public:
  Pool(std::span<const isa::Instruction> program, Memory& memory)
      : program_(program), memory_(memory), frontier_(program), left_(program.size()) {
    frontier_.begin([this](size_t queue) { ready_.push(frontier_.next(queue)); });
  }

  uint32_t run(unsigned threads) {
    std::vector<std::thread> others;
    try {
      while (others.size() + 1 < threads) others.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // The system gives no more threads: those there are do the work.
    }
    work();
    for (std::thread& t : others) t.join();
    if (failure_) std::rethrow_exception(failure_);
    return flags_;
  }

 private:
  bool over() const { return left_ == 0 || failure_; }

  void work() {
    std::unique_lock lock(mutex_);
    try {
      Scratch scratch;
      while (true) {
        changed_.wait(lock, [this] { return over() || !ready_.empty(); });
        if (over()) return;
        uint32_t i = ready_.top();
        ready_.pop();
        lock.unlock();
        execute(program_[i], memory_, scratch);
        lock.lock();
        flags_ |= scratch.flags;
        complete(i);
      }
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      if (!failure_) failure_ = std::current_exception();
      changed_.notify_all();
    }
  }

  void complete(uint32_t i) {
    --left_;
    size_t found = 0;
    frontier_.complete(queue_of(program_[i]), [&](size_t queue) {
      ready_.push(frontier_.next(queue));
      ++found;
    });
    if (over()) return changed_.notify_all();
    for (; found > 1; --found) changed_.notify_one();  // this thread takes one itself
  }

  std::span<const isa::Instruction> program_;
  Memory& memory_;
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  Frontier frontier_;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready_;
  size_t left_;
  uint32_t flags_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

uint32_t execute_in_order(std::span<const isa::Instruction> program, Memory& memory) {
  Scratch scratch;
  for (const isa::Instruction& i : program) execute(i, memory, scratch);
  return scratch.flags;
}

uint32_t execute_in_parallel(std::span<const isa::Instruction> program, Memory& memory, unsigned threads) {
  if (threads <= 1 || program.size() <= 1) return execute_in_order(program, memory);
  return Pool(program, memory).run(threads);
}

}  // namespace mrvlc::sim
