// The time of a paced device, and results that need not be simulated again.
#include "pace.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>
#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace mrvlc::runtime {
namespace {

constexpr size_t kMostSeen = 4;

bool same_inputs(const std::vector<std::string>& known, const std::vector<mrvl_input>& given) {
  return std::ranges::equal(known, given, [](const std::string& k, const mrvl_input& g) {
    return k.size() == g.bytes && std::memcmp(k.data(), g.data, g.bytes) == 0;
  });
}

}  // namespace

Clock::time_point Pace::enqueue(Clock::duration takes) {
  const std::lock_guard lock(mutex_);
  free_ = std::max(free_, Clock::now()) + takes;
  return free_;
}

void Pace::sleep_until(Clock::time_point end) {
#ifdef __linux__
  // Else the system wakes up to 50 us too late, a fifth of the time of a small network.
  const int slack = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
  std::this_thread::sleep_until(end);
  if (slack > 0) prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(slack), 0UL, 0UL, 0UL);
#else
  std::this_thread::sleep_until(end);
#endif
}

const Seen::Result* Seen::find(const std::vector<mrvl_input>& inputs) const {
  const auto it = std::ranges::find_if(known_, [&](const auto& k) { return same_inputs(k.first, inputs); });
  return it == known_.end() ? nullptr : &it->second;
}

void Seen::add(const std::vector<mrvl_input>& inputs, Result result) {
  std::vector<std::string> bytes;
  for (const mrvl_input& i : inputs) bytes.emplace_back(static_cast<const char*>(i.data), i.bytes);
  if (known_.size() == kMostSeen) known_.pop_front();
  known_.emplace_back(std::move(bytes), std::move(result));
}

}  // namespace mrvlc::runtime
