// Buffers with marked room around them, looked at behind every run.
#include "plugin_run.h"

#include <algorithm>

#include "mrvlc/plugin/call.h"
#include "mrvlc/support/diag/target.h"

namespace mrvlc::backends {
namespace {

// Memory of a port with room on both sides that nobody may write to.
class GuardedPort {
 public:
  explicit GuardedPort(uint64_t bytes) : memory_(bytes + 2 * kRoom, kMark) {}
  GuardedPort(const std::string& bytes) : GuardedPort(bytes.size()) {  // NOLINT: implicit
    std::ranges::copy(bytes, memory_.begin() + kRoom);
  }
  char* data() { return memory_.data() + kRoom; }
  std::string bytes() const { return memory_.substr(kRoom, memory_.size() - 2 * kRoom); }
  bool is(const std::string& bytes) const {
    return std::string_view(memory_).substr(kRoom, memory_.size() - 2 * kRoom) == bytes;
  }
  bool whole() const {
    const auto marked = [](std::string_view room) {
      return std::ranges::all_of(room, [](char c) { return c == kMark; });
    };
    return marked(std::string_view(memory_).substr(0, kRoom)) &&
           marked(std::string_view(memory_).substr(memory_.size() - kRoom));
  }

 private:
  static constexpr size_t kRoom = 4096;
  static constexpr char kMark = 0x5b;
  std::string memory_;
};

class Run : public backend::Executor {
 public:
  Run(plugin::Plugin plugin, std::string target, plugin::File file)
      : plugin_(std::move(plugin)), target_(std::move(target)), file_(std::move(file)) {}

  Result<std::vector<std::string>> run(const std::vector<std::string>& inputs) override {
    if (plugin_.table().run == nullptr) return faulty("is not there");
    std::vector<GuardedPort> in(inputs.begin(), inputs.end()),
        out(file_.outputs.begin(), file_.outputs.end());
    if (const int code = call(in, out); code != 0) return faulty("fails: " + plugin_.said(code));
    for (size_t i = 0; i < in.size(); ++i)
      if (!in[i].is(inputs[i]) || !in[i].whole()) return faulty(fmt::format("writes to its input {}", i));
    std::vector<std::string> results;
    for (size_t i = 0; i < out.size(); ++i) {
      if (!out[i].whole()) return faulty(fmt::format("writes beyond its output {}", i));
      results.push_back(out[i].bytes());
    }
    return results;
  }

 private:
  Diag faulty(std::string_view what) const { return make_diag<DiagCode::MRV0356>(target_, "run", what); }

  int call(std::vector<GuardedPort>& in, std::vector<GuardedPort>& out) const {
    std::vector<mrvl_input> inputs;
    std::vector<mrvl_output> outputs;
    for (size_t i = 0; i < in.size(); ++i) inputs.push_back({in[i].data(), file_.inputs[i]});
    for (size_t i = 0; i < out.size(); ++i) outputs.push_back({out[i].data(), file_.outputs[i]});
    const mrvl_plugin& table = plugin_.table();
    const plugin::Call guest(target_, "run");
    return table.run(table.context, file_.bytes.data(), file_.bytes.size(), inputs.data(), inputs.size(),
                     outputs.data(), outputs.size());
  }

  plugin::Plugin plugin_;
  std::string target_;
  plugin::File file_;
};

}  // namespace

std::unique_ptr<backend::Executor> plugin_executor(plugin::Plugin plugin, std::string target,
                                                   plugin::File file) {
  return std::make_unique<Run>(std::move(plugin), std::move(target), std::move(file));
}

}  // namespace mrvlc::backends
