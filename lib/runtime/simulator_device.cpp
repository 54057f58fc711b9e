// The simulator as a device. No exception leaves: every entry point turns one into an error code and a text.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fault.h"
#include "mrvl/device.h"
#include "mrvlc/isa/identity.h"
#include "mrvlc/plugin/plugin.h"
#include "mrvlc/plugin/run.h"
#include "mrvlc/sim/simulator.h"
#include "mrvlc/target/find.h"
#include "mrvlc/target/plugin.h"

namespace {

using mrvlc::Result;

enum DeviceError : int {
  kOk = 0,
  kBadBinary = 1,
  kRunFailed = 2,
  kOutOfMemory = 3,
  kBadTarget = 4,
  kBadPorts = 5,
  kTimeout = MRVL_DEVICE_TIMEOUT
};
// Without a limit of the caller's: as a driver of hardware has one.
constexpr uint64_t kDefaultLimit = 1'000'000;  // microseconds

static_assert(sizeof(mrvlc::isa::Identity) == MRVL_IDENTITY_BYTES);

struct SimulatorDevice {
  mrvl_device interface = {};
  std::optional<mrvlc::target::Machine> machine;  // empty: the target could not be read, or is a plug-in
  std::optional<mrvlc::plugin::Plugin> plugin;    // which runs its own bytes
  mutable std::mutex mutex;                       // guards error; models are the caller's to serialise
  std::string error;
  unsigned jobs = 0;
  mrvlc::runtime::Faults faults;

  int fail(int code, std::string text) {
    std::lock_guard lock(mutex);
    error = std::move(text);
    return code;
  }
};

struct LoadedModel {
  std::optional<mrvlc::sim::Simulator> simulator;
  mrvlc::plugin::File file;  // of a plug-in
  mrvlc::isa::Identity identity{};
  uint64_t cycles = 0;
  uint32_t flags = 0;
  uint32_t failed_at = MRVL_NO_INSTRUCTION;
  uint64_t limit = 0;           // of a run, microseconds; 0: none was set
  std::vector<size_t> written;  // bytes of each output in the last run
  bool ran = false;             // it did not fail
  std::vector<std::pair<uint64_t, uint64_t>> times =
      {};  // of main, the same in every run; made when asked for
};
static_assert(static_cast<uint32_t>(mrvlc::sim::Flag::Overflow) == MRVL_FLAG_OVERFLOW &&
              static_cast<uint32_t>(mrvlc::sim::Flag::Invalid) == MRVL_FLAG_INVALID);

SimulatorDevice& device_of(void* context) {
  return *static_cast<SimulatorDevice*>(context);
}

template <class F>
int guarded(SimulatorDevice& device, F body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  } catch (const std::exception& e) {
    return device.fail(kRunFailed, e.what());
  }
}

int load_plugin_file(SimulatorDevice& device, std::string_view bytes, void** model) {
  auto file = mrvlc::plugin::read_file(bytes);
  if (!file.ok()) return device.fail(kBadBinary, file.error().message);
  auto loaded = std::make_unique<LoadedModel>();
  std::memcpy(loaded->identity.data(), bytes.data() + MRVL_IDENTITY_OFFSET, loaded->identity.size());
  loaded->cycles = file->cycles;
  loaded->file = std::move(file).value();
  *model = loaded.release();
  return kOk;
}

int load(void* context, const void* binary, size_t bytes, void** model) {
  SimulatorDevice& device = device_of(context);
  return guarded(device, [&]() -> int {
    *model = nullptr;
    const std::string_view file(static_cast<const char*>(binary), bytes);
    if (device.faults.next_load().kind != MRVL_FAULT_NONE)
      return device.fail(kRunFailed, "the load failed, as was asked for");
    if (device.plugin) return load_plugin_file(device, file, model);
    if (!device.machine) return kBadTarget;
    auto container = mrvlc::isa::read_container(file);
    if (!container.ok()) return device.fail(kBadBinary, container.error().message);
    auto simulator = mrvlc::sim::Simulator::create(std::move(container).value(), *device.machine);
    if (!simulator.ok()) return device.fail(kBadBinary, simulator.error().message);
    auto loaded = std::make_unique<LoadedModel>();
    loaded->simulator = std::move(simulator).value();
    loaded->identity = mrvlc::isa::stored_identity(file);
    *model = loaded.release();
    return kOk;
  });
}

void unload(void*, void* model) {
  delete static_cast<LoadedModel*>(model);
}

uint64_t bytes_of(const mrvlc::isa::Port& port) {
  return port.bytes();
}
uint64_t bytes_of(uint64_t bytes) {
  return bytes;
}

// Why these are not the buffers of the ports; empty when they are.
template <class Port, class Buffer>
std::string ports_fault(const char* kind, const std::vector<Port>& ports, const Buffer* buffers,
                        size_t count) {
  if (count != ports.size()) return fmt::format("{} {}s given, the binary has {}", count, kind, ports.size());
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bytes = bytes_of(ports[i]);
    if (buffers[i].bytes != bytes)
      return fmt::format("{} {} has {} bytes, the binary's has {}", kind, i, buffers[i].bytes, bytes);
    if (buffers[i].data == nullptr) return fmt::format("{} {} is null", kind, i);
  }
  return {};
}

// `Program`: what has the ports, isa::Binary or plugin::File.
template <class Program>
int check_ports(SimulatorDevice& device, const Program& program, const mrvl_input* inputs, size_t input_count,
                const mrvl_output* outputs, size_t output_count) {
  std::string fault = ports_fault("input", program.inputs, inputs, input_count);
  if (fault.empty()) fault = ports_fault("output", program.outputs, outputs, output_count);
  if (!fault.empty()) return device.fail(kBadPorts, std::move(fault));
  return kOk;
}

int run_plugin(SimulatorDevice& device, LoadedModel& model, const mrvl_input* inputs, size_t input_count,
               const mrvl_output* outputs, size_t output_count) {
  const mrvl_plugin& table = device.plugin->table();
  if (const int rc = check_ports(device, model.file, inputs, input_count, outputs, output_count); rc != kOk)
    return rc;
  if (table.run == nullptr) return device.fail(kRunFailed, "the plug-in does not run its programs");
  const auto fault = mrvlc::plugin::run(*device.plugin, table.name, model.file, {inputs, input_count},
                                        {outputs, output_count});
  return !fault ? kOk
                : device.fail(kRunFailed,
                              fmt::format("the function 'run' of the plug-in '{}' {}", table.name, *fault));
}

// A driver that waits for what does not come, as long as it may.
int time_out(SimulatorDevice& device, const LoadedModel& model, std::string_view what) {
  const uint64_t limit = model.limit != 0 ? model.limit : kDefaultLimit;
  std::this_thread::sleep_for(std::chrono::microseconds(limit));
  return device.fail(kTimeout, fmt::format("{}: gave up after {} us", what, limit));
}

// All, or what comes before the byte where a fault cuts them off.
void write_outputs(LoadedModel& model, const mrvl_fault& fault, const std::vector<std::string>& results,
                   const mrvl_output* outputs) {
  const bool cut = fault.kind == MRVL_FAULT_SHORT || fault.kind == MRVL_FAULT_UNTOLD;
  uint64_t left = cut ? fault.bytes : UINT64_MAX;
  for (size_t i = 0; i < results.size(); ++i) {
    const size_t bytes = static_cast<size_t>(std::min<uint64_t>(left, outputs[i].bytes));
    std::memcpy(outputs[i].data, results[i].data(), bytes);
    model.written.push_back(fault.kind == MRVL_FAULT_UNTOLD ? outputs[i].bytes : bytes);
    left -= bytes;
  }
}

int run(void* context, void* handle, const mrvl_input* inputs, size_t input_count, const mrvl_output* outputs,
        size_t output_count) {
  SimulatorDevice& device = device_of(context);
  return guarded(device, [&]() -> int {
    auto& model = *static_cast<LoadedModel*>(handle);
    model.flags = 0;
    model.failed_at = MRVL_NO_INSTRUCTION;
    model.ran = false;
    model.written.clear();
    if (device.plugin) return run_plugin(device, model, inputs, input_count, outputs, output_count);
    const mrvlc::isa::Binary& binary = model.simulator->binary();
    if (const int rc = check_ports(device, binary, inputs, input_count, outputs, output_count); rc != kOk)
      return rc;
    const mrvl_fault fault = device.faults.next_run(binary.main.size());
    if (fault.kind == MRVL_FAULT_ERROR || fault.kind == MRVL_FAULT_HANG) {
      model.failed_at = fault.instruction;
      if (fault.kind == MRVL_FAULT_HANG) return time_out(device, model, "hung, as was asked for");
      return device.fail(kRunFailed,
                         fmt::format("instruction {} failed, as was asked for", fault.instruction));
    }
    std::vector<std::span<const std::byte>> given;
    for (size_t i = 0; i < input_count; ++i)
      given.emplace_back(static_cast<const std::byte*>(inputs[i].data), inputs[i].bytes);
    std::vector<std::string> results;
    mrvlc::sim::Options options;
    options.keep_events = false;
    options.jobs = device.jobs;
    auto report = model.simulator->run(given, results, options);
    if (!report.ok()) return device.fail(kRunFailed, report.error().message);
    if (!report->hazards.empty()) {
      const mrvlc::sim::Hazard& hazard = report->hazards.front();
      if (hazard.section == mrvlc::sim::Section::Main) model.failed_at = hazard.second;
      return device.fail(kRunFailed, "hazard: " + hazard.what);
    }
    model.cycles = report->total_cycles();
    const double microseconds = static_cast<double>(model.cycles) / (device.machine->clock_ghz * 1e3);
    if (model.limit != 0 && microseconds > static_cast<double>(model.limit))
      return device.fail(kTimeout, fmt::format("the run takes {:.1f} us, the time limit is {} us",
                                               microseconds, model.limit));
    write_outputs(model, fault, results, outputs);
    if (fault.kind == MRVL_FAULT_INTERRUPT)
      return time_out(device, model, "the interrupt was lost, as was asked for");
    model.flags = report->flags;
    model.ran = true;
    return kOk;
  });
}

const unsigned char* identity(void*, void* model) {
  return static_cast<LoadedModel*>(model)->identity.data();
}

uint64_t cycles(void*, void* model) {
  return static_cast<LoadedModel*>(model)->cycles;
}

uint32_t flags(void*, void* model) {
  return static_cast<LoadedModel*>(model)->flags;
}

uint32_t failed_at(void*, void* model) {
  return static_cast<LoadedModel*>(model)->failed_at;
}

int ran(void* context, void* handle, uint32_t instruction, uint64_t* begin, uint64_t* end) {
  SimulatorDevice& device = device_of(context);
  return guarded(device, [&]() -> int {
    auto& model = *static_cast<LoadedModel*>(handle);
    const size_t count = model.simulator ? model.simulator->binary().main.size() : 0;
    if (!model.ran || instruction >= count) return kRunFailed;
    if (model.times.empty()) {
      auto report = model.simulator->time_only();
      if (!report.ok()) return device.fail(kRunFailed, report.error().message);
      model.times.resize(count);
      for (const mrvlc::sim::Event& e : report->events)
        if (e.section == mrvlc::sim::Section::Main) model.times[e.instruction] = {e.start, e.end};
    }
    *begin = model.times[instruction].first;
    *end = model.times[instruction].second;
    return kOk;
  });
}

int limit_time(void* context, void* handle, uint64_t microseconds) {
  SimulatorDevice& device = device_of(context);
  if (device.plugin && microseconds != 0)
    return device.fail(kRunFailed, "how long a plug-in runs cannot be limited");
  static_cast<LoadedModel*>(handle)->limit = microseconds;
  return kOk;
}

size_t written(void*, void* handle, size_t output) {
  const std::vector<size_t>& bytes = static_cast<LoadedModel*>(handle)->written;
  return output < bytes.size() ? bytes[output] : 0;
}

// $MRVLC_JOBS, 0 when it is none.
unsigned jobs() {
  constexpr unsigned long kMostJobs = 1024;
  const char* variable = std::getenv("MRVLC_JOBS");
  return variable == nullptr
             ? 0
             : static_cast<unsigned>(std::min(std::strtoul(variable, nullptr, 10), kMostJobs));
}

// A path when it looks like one, else the name of a target package.
mrvlc::Status find_target(const std::string& target, SimulatorDevice& device) {
  bool is_path = target.find('/') != std::string::npos || target.ends_with(".json");
  const auto search = mrvlc::target::path_of_environment();
  MRVLC_ASSIGN(const mrvlc::target::TargetText text, is_path ? mrvlc::target::read_target(target, search)
                                                             : mrvlc::target::find_target(target, search));
  if (!mrvlc::target::is_plugin(text.json)) {
    MRVLC_ASSIGN(device.machine, is_path ? mrvlc::target::parse_machine(text.json, target)
                                         : mrvlc::target::read_machine(target, text));
    return {};
  }
  MRVLC_ASSIGN(const mrvlc::target::PluginPackage package, mrvlc::target::parse_plugin(text.json, target));
  const std::string& name = package.machine.name;
  if (text.plugin != nullptr) {
    MRVLC_ASSIGN(device.plugin, mrvlc::plugin::Plugin::built_in(text.plugin, name));
    return {};
  }
  MRVLC_ASSIGN(device.plugin,
               mrvlc::plugin::Plugin::open(text.files.front().path.parent_path() / package.library, name));
  return {};
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) mrvl_device* mrvl_simulator_open(const char* target) try {
  auto device = std::make_unique<SimulatorDevice>();
  device->interface = {MRVL_DEVICE_VERSION,
                       sizeof(mrvl_device),
                       device.get(),
                       load,
                       unload,
                       run,
                       cycles,
                       identity,
                       flags,
                       failed_at,
                       ran,
                       limit_time,
                       written};
  device->jobs = jobs();
  const mrvlc::Status found = find_target(target != nullptr ? target : "cn10ka", *device);
  if (!found.ok()) device->error = found.error().message;
  if (device->plugin) device->interface.written = nullptr;  // nothing counts there
  if (const char* text = std::getenv("MRVL_SIMULATOR_FAULT")) {
    const auto fault = mrvlc::runtime::parse_fault(text);
    if (fault) device->faults.set(*fault);
    if (!fault) device->error = fmt::format("MRVL_SIMULATOR_FAULT: '{}' is no fault", text);
  }
  return &device.release()->interface;
} catch (...) {
  return nullptr;
}

__attribute__((visibility("default"))) void mrvl_simulator_close(mrvl_device* device) {
  if (device != nullptr) delete &device_of(device->context);
}

__attribute__((visibility("default"))) void mrvl_simulator_fail_at(mrvl_device* device,
                                                                   uint32_t instruction) {
  const mrvl_fault fault = {MRVL_FAULT_ERROR, instruction, 0, 0, 0};
  mrvl_simulator_fault(device, &fault);
}

__attribute__((visibility("default"))) void mrvl_simulator_fault(mrvl_device* device,
                                                                 const mrvl_fault* fault) {
  if (device != nullptr && fault != nullptr) device_of(device->context).faults.set(*fault);
}

__attribute__((visibility("default"))) const char* mrvl_simulator_error(const mrvl_device* device) {
  if (device == nullptr) return "";
  const SimulatorDevice& d = device_of(device->context);
  std::lock_guard lock(d.mutex);
  return d.error.c_str();
}

}  // extern "C"
