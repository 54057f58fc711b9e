// A region of a plug-in as an executor: its ports as strings.
#include "plugin_run.h"

#include "mrvlc/plugin/run.h"
#include "mrvlc/support/diag/target.h"

namespace mrvlc::backends {
namespace {

class Run : public backend::Executor {
 public:
  Run(plugin::Plugin plugin, std::string target, plugin::File file)
      : plugin_(std::move(plugin)), target_(std::move(target)), file_(std::move(file)) {}

  Result<std::vector<std::string>> run(const std::vector<std::string>& inputs) override {
    std::vector<std::string> results;
    for (const uint64_t bytes : file_.outputs) results.emplace_back(bytes, '\0');
    std::vector<mrvl_input> in;
    std::vector<mrvl_output> out;
    for (const std::string& i : inputs) in.push_back({i.data(), i.size()});
    for (std::string& r : results) out.push_back({r.data(), r.size()});
    if (const auto fault = plugin::run(plugin_, target_, file_, in, out))
      return make_diag<DiagCode::MRV0356>(target_, "run", *fault);
    return results;
  }

 private:
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
