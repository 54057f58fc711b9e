// One run of a handle: its outcome, whoever waits for it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <thread>

#include "simulator_device.h"

namespace mrvlc::runtime {
namespace {

// Without a limit of the caller's: as a driver of hardware has one.
constexpr uint64_t kDefaultLimit = 1'000'000;  // microseconds

static_assert(static_cast<uint32_t>(sim::Flag::Overflow) == MRVL_FLAG_OVERFLOW &&
              static_cast<uint32_t>(sim::Flag::Invalid) == MRVL_FLAG_INVALID);

uint64_t bytes_of(const isa::Port& port) {
  return port.bytes();
}
uint64_t bytes_of(uint64_t bytes) {
  return bytes;
}

// Why these are not the buffers of the ports; empty when they are.
template <class Port, class Buffer>
std::string ports_fault(const char* kind, const std::vector<Port>& ports,
                        const std::vector<Buffer>& buffers) {
  if (buffers.size() != ports.size())
    return fmt::format("{} {}s given, the binary has {}", buffers.size(), kind, ports.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    const uint64_t bytes = bytes_of(ports[i]);
    if (buffers[i].bytes != bytes)
      return fmt::format("{} {} has {} bytes, the binary's has {}", kind, i, buffers[i].bytes, bytes);
    if (buffers[i].data == nullptr) return fmt::format("{} {} is null", kind, i);
  }
  return {};
}

// `Program`: what has the ports, isa::Binary or plugin::File. Empty: they are these.
template <class Program>
std::string program_fault(const Program& program, const Ports& ports) {
  std::string fault = ports_fault("input", program.inputs, ports.inputs);
  return fault.empty() ? ports_fault("output", program.outputs, ports.outputs) : fault;
}

// A run of the simulator, with all that was settled when it was asked for.
class Job {
 public:
  Job(SimulatorDevice& device, LoadedModel& model, Ports ports)
      : device_(device),
        model_(model),
        ports_(std::move(ports)),
        fault_(device.faults.next_run(model.simulator->binary().main.size())),
        limit_(model.limit) {
    if (!device.pace.on()) return;
    const std::chrono::duration<double> takes(seconds(cycles_alone()));
    end_ = device.pace.enqueue(std::chrono::duration_cast<Clock::duration>(takes));
  }

  Outcome run() {
    if (fault_.kind == MRVL_FAULT_ERROR || fault_.kind == MRVL_FAULT_HANG) return fail_at_instruction();
    Outcome out;
    const Seen::Result* seen =
        end_ && fault_.kind == MRVL_FAULT_NONE ? model_.seen.find(ports_.inputs) : nullptr;
    Seen::Result computed;
    if (seen == nullptr) {
      out = simulate(computed);
      if (out.code != kOk) return out;
    }
    const Seen::Result& result = seen != nullptr ? *seen : computed;
    out.cycles = seen != nullptr ? model_.cycles_alone : out.cycles;
    if (limit_ != 0 && 1e6 * seconds(*out.cycles) > static_cast<double>(limit_))
      return {.code = kTimeout,
              .error = fmt::format("the run takes {:.1f} us, the time limit is {} us",
                                   1e6 * seconds(*out.cycles), limit_),
              .cycles = out.cycles};
    write_outputs(result.outputs, out);
    if (end_) Pace::sleep_until(*end_);
    if (fault_.kind == MRVL_FAULT_INTERRUPT) return time_out("the interrupt was lost, as was asked for", out);
    out.flags = result.flags;
    out.ran = true;
    if (end_ && seen == nullptr) model_.seen.add(ports_.inputs, std::move(computed));
    return out;
  }

 private:
  uint64_t cycles_alone() {
    if (model_.cycles_alone != 0) return model_.cycles_alone;
    const std::lock_guard lock(model_.simulates);
    auto timed = model_.simulator->time_only();
    if (timed.ok()) model_.cycles_alone = timed->total_cycles();
    return model_.cycles_alone;
  }

  double seconds(uint64_t cycles) const {
    return static_cast<double>(cycles) / (device_.machine->clock_ghz * 1e9);
  }

  Outcome fail_at_instruction() const {
    Outcome out{.failed_at = fault_.instruction};
    if (fault_.kind == MRVL_FAULT_HANG) return time_out("hung, as was asked for", out);
    out.code = kRunFailed;
    out.error = fmt::format("instruction {} failed, as was asked for", fault_.instruction);
    return out;
  }

  // A driver that waits for what does not come, as long as it may.
  Outcome time_out(std::string_view what, Outcome out) const {
    const uint64_t limit = limit_ != 0 ? limit_ : kDefaultLimit;
    std::this_thread::sleep_for(std::chrono::microseconds(limit));
    out.code = kTimeout;
    out.error = fmt::format("{}: gave up after {} us", what, limit);
    return out;
  }

  Outcome simulate(Seen::Result& result) {
    std::vector<std::span<const std::byte>> given;
    for (const mrvl_input& i : ports_.inputs)
      given.emplace_back(static_cast<const std::byte*>(i.data), i.bytes);
    sim::Options options;
    options.keep_events = false;
    options.jobs = device_.jobs;
    const std::lock_guard lock(model_.simulates);
    auto report = model_.simulator->run(given, result.outputs, options);
    if (!report.ok()) return {.code = kRunFailed, .error = report.error().message};
    if (!report->hazards.empty()) {
      const sim::Hazard& hazard = report->hazards.front();
      const bool main = hazard.section == sim::Section::Main;
      return {.code = kRunFailed,
              .error = "hazard: " + hazard.what,
              .failed_at = main ? hazard.second : MRVL_NO_INSTRUCTION};
    }
    result.flags = report->flags;
    return {.cycles = report->total_cycles()};
  }

  // All, or what comes before the byte where a fault cuts them off.
  void write_outputs(const std::vector<std::string>& results, Outcome& out) const {
    const bool cut = fault_.kind == MRVL_FAULT_SHORT || fault_.kind == MRVL_FAULT_UNTOLD;
    uint64_t left = cut ? fault_.bytes : UINT64_MAX;
    for (size_t i = 0; i < results.size(); ++i) {
      const mrvl_output& to = ports_.outputs[i];
      const size_t bytes = static_cast<size_t>(std::min<uint64_t>(left, to.bytes));
      std::memcpy(to.data, results[i].data(), bytes);
      out.written.push_back(fault_.kind == MRVL_FAULT_UNTOLD ? to.bytes : bytes);
      left -= bytes;
    }
  }

  SimulatorDevice& device_;
  LoadedModel& model_;
  Ports ports_;
  mrvl_fault fault_;
  uint64_t limit_;
  std::optional<Clock::time_point> end_;  // of a paced device
};

Outcome run_plugin(const SimulatorDevice& device, const LoadedModel& model, const Ports& ports) {
  const std::string_view name = device.plugin->table().name;
  const auto fault = plugin::run(*device.plugin, name, model.file, ports.inputs, ports.outputs);
  if (!fault) return {};
  return {.code = kRunFailed,
          .error = fmt::format("the function 'run' of the plug-in '{}' {}", name, *fault)};
}

}  // namespace

std::variant<Flights::Work, Outcome> prepare_run(SimulatorDevice& device, LoadedModel& model, Ports ports) {
  const std::string fault =
      device.plugin ? program_fault(model.file, ports) : program_fault(model.simulator->binary(), ports);
  if (!fault.empty()) return Outcome{.code = kBadPorts, .error = fault};
  if (device.plugin) {
    if (device.plugin->table().run == nullptr)
      return Outcome{.code = kRunFailed, .error = "the plug-in does not run its programs"};
    return [&device, &model, ports = std::move(ports)] {
      return guarded_outcome([&] { return run_plugin(device, model, ports); });
    };
  }
  return [job = Job(device, model, std::move(ports))]() mutable {
    return guarded_outcome([&] { return job.run(); });
  };
}

}  // namespace mrvlc::runtime
