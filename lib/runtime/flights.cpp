// The thread behind submit and wait.
#include "flights.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace mrvlc::runtime {

Flights::~Flights() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Flights::has_thread() {
  if (thread_.joinable()) return true;
  try {
    thread_ = std::thread([this] { serve(); });
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void* Flights::begin(Work work) {
  Run* run = nullptr;
  {
    const std::lock_guard lock(mutex_);
    run = &runs_.emplace_back(Run{std::move(work)});
  }
  if (has_thread()) {
    changed_.notify_all();
  } else {
    run->begun = true;
    run->outcome = run->work();
  }
  return run;
}

std::optional<Outcome> Flights::end(const void* ticket) {
  std::unique_lock lock(mutex_);
  const auto run = std::ranges::find_if(runs_, [&](const Run& r) { return &r == ticket; });
  if (run == runs_.end()) return std::nullopt;
  changed_.wait(lock, [&] { return run->outcome.has_value(); });
  std::optional<Outcome> outcome = std::move(run->outcome);
  runs_.erase(run);
  return outcome;
}

// The first that has not begun; null: none yet.
Flights::Run* Flights::next() {
  const auto run = std::ranges::find_if(runs_, [](const Run& r) { return !r.begun; });
  return run == runs_.end() ? nullptr : &*run;
}

void Flights::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stops_ || next() != nullptr; });
    if (stops_) return;
    Run& run = *next();
    run.begun = true;
    lock.unlock();
    Outcome outcome = run.work();
    lock.lock();
    run.outcome = std::move(outcome);
    changed_.notify_all();
  }
}

}  // namespace mrvlc::runtime
