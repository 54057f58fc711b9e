// The simulator as a device: what it and its handles consist of, and a run of a handle.
#pragma once
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fault.h"
#include "flights.h"
#include "mrvl/device.h"
#include "mrvlc/isa/identity.h"
#include "mrvlc/plugin/plugin.h"
#include "mrvlc/plugin/run.h"
#include "mrvlc/sim/simulator.h"
#include "pace.h"

namespace mrvlc::runtime {

enum DeviceError : int {
  kOk = 0,
  kBadBinary = 1,
  kRunFailed = 2,
  kOutOfMemory = 3,
  kBadTarget = 4,
  kBadPorts = 5,
  kBadTicket = 6,
  kTimeout = MRVL_DEVICE_TIMEOUT
};

struct SimulatorDevice {
  mrvl_device interface = {};
  std::optional<target::Machine> machine;  // empty: the target could not be read, or is a plug-in
  std::optional<plugin::Plugin> plugin;    // which runs its own bytes
  mutable std::mutex mutex;                // guards error; models are the caller's to serialise
  std::string error;
  unsigned jobs = 0;
  Faults faults;
  Pace pace;

  int fail(int code, std::string text) {
    std::lock_guard lock(mutex);
    error = std::move(text);
    return code;
  }
};

struct LoadedModel {
  std::optional<sim::Simulator> simulator;
  std::mutex simulates;  // guards simulator: runs in flight have a thread of their own
  plugin::File file;     // of a plug-in
  isa::Identity identity{};
  uint64_t limit = 0;         // of a run, microseconds; 0: none was set
  uint64_t cycles_alone = 0;  // of a run, the same in every one; of a paced device
  Seen seen;                  // the same
  std::vector<std::pair<uint64_t, uint64_t>> times =
      {};  // of main, the same in every run; made when asked for
  uint64_t cycles = 0;
  Outcome last;     // of the run that ended last
  Flights flights;  // behind what it uses, so that it ends first
};

// A run as the caller asked for it.
struct Ports {
  std::vector<mrvl_input> inputs;
  std::vector<mrvl_output> outputs;
};

// The run, whose fault, time limit and turn on the device are settled now; or why there is none.
std::variant<Flights::Work, Outcome> prepare_run(SimulatorDevice& device, LoadedModel& model, Ports ports);

// What `body`, which gives an Outcome, does; an exception is an outcome.
template <class F>
Outcome guarded_outcome(F body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return {.code = kOutOfMemory, .error = "memory is short"};
  } catch (const std::exception& e) {
    return {.code = kRunFailed, .error = e.what()};
  }
}

}  // namespace mrvlc::runtime
