// Which run of a device goes wrong, and how: mrvl_simulator_fault().
#pragma once
#include <atomic>
#include <optional>
#include <string_view>

#include "mrvl/device.h"

namespace mrvlc::runtime {

// "hang@12:100+3x1", as $MRVL_SIMULATOR_FAULT has it; nothing when the text is something else.
std::optional<mrvl_fault> parse_fault(std::string_view text);

// The fault of a device. Runs may come from several threads, each on a handle of its own.
class Faults {
 public:
  void set(const mrvl_fault& fault);
  // What the next load, or the next run of a binary with so many instructions, meets.
  mrvl_fault next_load();
  mrvl_fault next_run(size_t instructions);

 private:
  mrvl_fault next();
  mrvl_fault fault_ = {};
  std::atomic<uint64_t> count_ = 0;  // of what the fault is about, since it was set
};

}  // namespace mrvlc::runtime
