// All that the accelerator takes of a case, compiled for it; binaries loaded into a simulator of its own.
#include "device.h"

#include <fmt/format.h>

#include "mrvlc/driver/place.h"
#include "mrvlc/support/file.h"

namespace mrvlc::conformance {
namespace fs = std::filesystem;

namespace {

fs::path binary_file(const fs::path& folder, const std::string& name, size_t region) {
  return folder / fmt::format("{}.region{}.mrvl", name, region);
}

// The models of tests are too small for the accelerator to be worth the way: it gets every operator type that
// it can run all nodes of.
partition::Options all_it_takes(const ir::Graph& graph, const partition::Accelerator& accelerator) {
  partition::Options options;
  std::set<std::string> types;
  for (ir::NodeId n : graph.topological_order()) types.emplace(graph.node(n).op->name);
  for (const std::string& type : types) {
    options.accel.push_back(type);
    if (!partition::partition(graph, &accelerator, options).ok()) options.accel.pop_back();
  }
  return options;
}

}  // namespace

Result<Placement> place(ir::Graph& graph, const std::string& target, const std::string& name,
                        const fs::path& folder) {
  Placement out;
  if (target == "host") {
    out.partition = partition::host_partition(graph);
    return out;
  }
  MRVLC_ASSIGN(const backends::Opened backend, backends::find(target, {}, {}));
  MRVLC_ASSIGN(out.partition, driver::place(graph, backend.get(), all_it_takes(graph, *backend)));
  for (const partition::Region& region : out.partition.regions) {
    MRVLC_ASSIGN(backend::RegionCode code,
                 backend->compile(graph, region, fmt::format("{}_region{}", name, region.id), {}));
    MRVLC_TRY(write_file_atomic(binary_file(folder, name, out.regions.size()), code.bytes));
    out.regions.push_back(std::move(code));
    out.layers += region.layers.size();
  }
  return out;
}

Device::Device(const std::string& target, const std::string& name, const fs::path& folder, size_t regions)
    : device_(regions == 0 ? nullptr : mrvl_simulator_open(target.c_str())), words_(1 + regions) {
  if (regions == 0) return;
  words_[0] = device_;
  error_ = this->error();
  for (size_t i = 0; i < regions && error_.empty(); ++i) {
    auto bytes = read_file(binary_file(folder, name, i));
    if (!bytes.ok()) {
      error_ = bytes.error().message;
    } else if (device_->load(device_->context, bytes->data(), bytes->size(), &words_[1 + i]) != 0) {
      error_ = mrvl_simulator_error(device_);
    }
  }
}

std::string Device::error() const {
  if (!error_.empty() || words_.size() == 1) return error_;
  return device_ == nullptr ? "the simulator does not open" : mrvl_simulator_error(device_);
}

Device::~Device() {
  if (device_ == nullptr) return;
  for (size_t i = 1; i < words_.size(); ++i) {
    if (words_[i] != nullptr) device_->unload(device_->context, words_[i]);
  }
  mrvl_simulator_close(device_);
}

}  // namespace mrvlc::conformance
