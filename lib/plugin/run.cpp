// Buffers with marked room around them, looked at behind every run.
#include "mrvlc/plugin/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "mrvlc/plugin/call.h"

namespace mrvlc::plugin {
namespace {

// Memory of a port with room on both sides that nobody may write to.
class GuardedPort {
 public:
  explicit GuardedPort(size_t bytes, char mark = 0)
      : bytes_(bytes), mark_(mark), memory_(bytes + 2 * kRoom, mark) {}
  explicit GuardedPort(const mrvl_input& input) : GuardedPort(input.bytes) {
    if (input.bytes > 0) std::memcpy(data(), input.data, input.bytes);
  }

  char* data() { return memory_.data() + kRoom; }
  const char* data() const { return memory_.data() + kRoom; }
  bool is(const mrvl_input& input) const {
    return input.bytes == 0 || std::memcmp(data(), input.data, input.bytes) == 0;
  }
  bool whole() const {
    const auto marked = [this](char c) { return c == mark_; };
    return std::all_of(memory_.begin(), memory_.begin() + kRoom, marked) &&
           std::all_of(memory_.end() - kRoom, memory_.end(), marked);
  }
  // The first byte of a stretch of at least kStretch, or to the end, that still is what it was before; or
  // its size.
  size_t unwritten() const {
    const std::string_view port(data(), bytes_);
    const size_t stretch = std::min(kStretch, bytes_);
    return std::min(port.find(std::string(stretch, mark_)), bytes_);
  }
  size_t bytes() const { return bytes_; }

 private:
  static constexpr std::ptrdiff_t kRoom = 4096;
  static constexpr size_t kStretch = 16;
  size_t bytes_;
  char mark_;
  std::string memory_;
};

constexpr char kMark = 0x5b, kOtherMark = 0x24;

struct Ports {
  std::vector<GuardedPort> in, out;
};

Ports ports_of(std::span<const mrvl_input> inputs, std::span<const mrvl_output> outputs, char mark) {
  Ports ports{{inputs.begin(), inputs.end()}, {}};
  for (const mrvl_output& o : outputs) ports.out.emplace_back(o.bytes, mark);
  return ports;
}

// One call of `run`, and what it did to memory.
std::optional<std::string> call(const Plugin& plugin, std::string_view target, const File& file,
                                std::span<const mrvl_input> inputs, Ports& ports) {
  const mrvl_plugin& table = plugin.table();
  std::vector<mrvl_input> given;
  std::vector<mrvl_output> made;
  for (GuardedPort& p : ports.in) given.push_back({p.data(), p.bytes()});
  for (GuardedPort& p : ports.out) made.push_back({p.data(), p.bytes()});
  {
    const Call guest(target, "run");
    const int code = table.run(table.context, file.bytes.data(), file.bytes.size(), given.data(),
                               given.size(), made.data(), made.size());
    if (code != 0) return "fails: " + plugin.said(code);
  }
  for (size_t i = 0; i < ports.in.size(); ++i)
    if (!ports.in[i].is(inputs[i]) || !ports.in[i].whole()) return fmt::format("writes to its input {}", i);
  for (size_t i = 0; i < ports.out.size(); ++i)
    if (!ports.out[i].whole()) return fmt::format("writes beyond its output {}", i);
  return std::nullopt;
}

bool all_written(const GuardedPort& port) {
  return port.unwritten() == port.bytes();
}

// Results may have the bytes of the mark: only what is of another mark in another run was not written.
std::optional<std::string> unwritten(const Plugin& plugin, std::string_view target, const File& file,
                                     std::span<const mrvl_input> inputs, std::span<const mrvl_output> outputs,
                                     const Ports& first) {
  if (std::ranges::all_of(first.out, all_written)) return std::nullopt;
  Ports again = ports_of(inputs, outputs, kOtherMark);
  if (auto fault = call(plugin, target, file, inputs, again)) return fault;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (const size_t at = first.out[i].unwritten(); at < outputs[i].bytes && at == again.out[i].unwritten())
      return fmt::format("does not write its output {} from byte {} on", i, at);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> run(const Plugin& plugin, std::string_view target, const File& file,
                               std::span<const mrvl_input> inputs, std::span<const mrvl_output> outputs) {
  if (plugin.table().run == nullptr) return "is not there";
  Ports ports = ports_of(inputs, outputs, kMark);
  if (auto fault = call(plugin, target, file, inputs, ports)) return fault;
  if (auto fault = unwritten(plugin, target, file, inputs, outputs, ports)) return fault;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].bytes > 0) std::memcpy(outputs[i].data, ports.out[i].data(), outputs[i].bytes);
  return std::nullopt;
}

}  // namespace mrvlc::plugin
