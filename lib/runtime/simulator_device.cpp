// The simulator as a device. No exception leaves: every entry point turns one into an error code and a text.
#include "simulator_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "mrvlc/target/find.h"
#include "mrvlc/target/plugin.h"

namespace {

using namespace mrvlc::runtime;

static_assert(sizeof(mrvlc::isa::Identity) == MRVL_IDENTITY_BYTES);

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

LoadedModel& model_of(void* handle) {
  return *static_cast<LoadedModel*>(handle);
}

Ports ports_of(const mrvl_input* inputs, size_t input_count, const mrvl_output* outputs,
               size_t output_count) {
  return {{inputs, inputs + input_count}, {outputs, outputs + output_count}};
}

// The run that ended is the one that is told of.
int keep(SimulatorDevice& device, LoadedModel& model, Outcome outcome) {
  if (outcome.cycles) model.cycles = *outcome.cycles;
  model.last = std::move(outcome);
  return model.last.code == kOk ? kOk : device.fail(model.last.code, model.last.error);
}

// Behind what is in flight, where there is something.
Outcome run_in_turn(LoadedModel& model, Flights::Work work) {
  if (model.flights.none()) return work();
  return model.flights.end(model.flights.begin(std::move(work))).value();
}

int run(void* context, void* handle, const mrvl_input* inputs, size_t input_count, const mrvl_output* outputs,
        size_t output_count) {
  SimulatorDevice& device = device_of(context);
  LoadedModel& model = model_of(handle);
  return keep(device, model, guarded_outcome([&]() -> Outcome {
                auto work = prepare_run(device, model, ports_of(inputs, input_count, outputs, output_count));
                if (auto* refused = std::get_if<Outcome>(&work)) return std::move(*refused);
                return run_in_turn(model, std::get<Flights::Work>(std::move(work)));
              }));
}

int submit(void* context, void* handle, const mrvl_input* inputs, size_t input_count,
           const mrvl_output* outputs, size_t output_count, void** ticket) {
  SimulatorDevice& device = device_of(context);
  LoadedModel& model = model_of(handle);
  *ticket = nullptr;
  return guarded(device, [&]() -> int {
    auto work = prepare_run(device, model, ports_of(inputs, input_count, outputs, output_count));
    if (const auto* refused = std::get_if<Outcome>(&work)) return device.fail(refused->code, refused->error);
    *ticket = model.flights.begin(std::get<Flights::Work>(std::move(work)));
    return kOk;
  });
}

int wait(void* context, void* handle, void* ticket) {
  SimulatorDevice& device = device_of(context);
  LoadedModel& model = model_of(handle);
  return guarded(device, [&]() -> int {
    auto outcome = model.flights.end(ticket);
    if (!outcome) return device.fail(kBadTicket, "there is no such run, or it was waited for");
    return keep(device, model, std::move(*outcome));
  });
}

const unsigned char* identity(void*, void* model) {
  return model_of(model).identity.data();
}

uint64_t cycles(void*, void* model) {
  return model_of(model).cycles;
}

uint32_t flags(void*, void* model) {
  return model_of(model).last.flags;
}

uint32_t failed_at(void*, void* model) {
  return model_of(model).last.failed_at;
}

int ran(void* context, void* handle, uint32_t instruction, uint64_t* begin, uint64_t* end) {
  SimulatorDevice& device = device_of(context);
  return guarded(device, [&]() -> int {
    LoadedModel& model = model_of(handle);
    const size_t count = model.simulator ? model.simulator->binary().main.size() : 0;
    if (!model.last.ran || instruction >= count) return kRunFailed;
    if (model.times.empty()) {
      const std::lock_guard lock(model.simulates);
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
  model_of(handle).limit = microseconds;
  return kOk;
}

size_t written(void*, void* handle, size_t output) {
  const std::vector<size_t>& bytes = model_of(handle).last.written;
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
                       written,
                       submit,
                       wait};
  device->jobs = jobs();
  const mrvlc::Status found = find_target(target != nullptr ? target : "cn10ka", *device);
  if (!found.ok()) device->error = found.error().message;
  if (device->plugin) device->interface.written = nullptr;  // nothing counts there
  const char* pace = std::getenv("MRVL_SIMULATOR_PACE");
  device->pace.set(pace != nullptr && std::string_view(pace) == "1");
  if (const char* text = std::getenv("MRVL_SIMULATOR_FAULT")) {
    const auto fault = parse_fault(text);
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

__attribute__((visibility("default"))) void mrvl_simulator_pace(mrvl_device* device, int paced) {
  if (device != nullptr) device_of(device->context).pace.set(paced != 0);
}

__attribute__((visibility("default"))) const char* mrvl_simulator_error(const mrvl_device* device) {
  if (device == nullptr) return "";
  const SimulatorDevice& d = device_of(device->context);
  std::lock_guard lock(d.mutex);
  return d.error.c_str();
}

}  // extern "C"
