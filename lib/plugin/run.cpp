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
  explicit GuardedPort(size_t bytes) : bytes_(bytes), memory_(bytes + 2 * kRoom, kMark) {}
  explicit GuardedPort(const mrvl_input& input) : GuardedPort(input.bytes) {
    if (input.bytes > 0) std::memcpy(data(), input.data, input.bytes);
  }

  char* data() { return memory_.data() + kRoom; }
  const char* data() const { return memory_.data() + kRoom; }
  bool is(const mrvl_input& input) const {
    return input.bytes == 0 || std::memcmp(data(), input.data, input.bytes) == 0;
  }
  bool whole() const {
    const auto marked = [](char c) { return c == kMark; };
    return std::all_of(memory_.begin(), memory_.begin() + kRoom, marked) &&
           std::all_of(memory_.end() - kRoom, memory_.end(), marked);
  }
  size_t bytes() const { return bytes_; }

 private:
  static constexpr std::ptrdiff_t kRoom = 4096;
  static constexpr char kMark = 0x5b;
  size_t bytes_;
  std::string memory_;
};

}  // namespace

std::optional<std::string> run(const Plugin& plugin, std::string_view target, const File& file,
                               std::span<const mrvl_input> inputs, std::span<const mrvl_output> outputs) {
  const mrvl_plugin& table = plugin.table();
  if (table.run == nullptr) return "is not there";
  std::vector<GuardedPort> in(inputs.begin(), inputs.end()), out;
  for (const mrvl_output& o : outputs) out.emplace_back(o.bytes);
  std::vector<mrvl_input> given;
  std::vector<mrvl_output> made;
  for (GuardedPort& p : in) given.push_back({p.data(), p.bytes()});
  for (GuardedPort& p : out) made.push_back({p.data(), p.bytes()});
  {
    const Call guest(target, "run");
    const int code = table.run(table.context, file.bytes.data(), file.bytes.size(), given.data(),
                               given.size(), made.data(), made.size());
    if (code != 0) return "fails: " + plugin.said(code);
  }
  for (size_t i = 0; i < in.size(); ++i)
    if (!in[i].is(inputs[i]) || !in[i].whole()) return fmt::format("writes to its input {}", i);
  for (size_t i = 0; i < out.size(); ++i)
    if (!out[i].whole()) return fmt::format("writes beyond its output {}", i);
  for (size_t i = 0; i < out.size(); ++i)
    if (outputs[i].bytes > 0) std::memcpy(outputs[i].data, out[i].data(), outputs[i].bytes);
  return std::nullopt;
}

}  // namespace mrvlc::plugin
