// The accelerator of a case: its regions compiled, and the simulator as the device that runs them.
#pragma once
#include "cases.h"
#include "mrvl/device.h"
#include "mrvlc/backends/open.h"
#include "mrvlc/partition/partition.h"

namespace mrvlc::conformance {

// What of a simplified graph runs where.
struct Placement {
  partition::Partition partition;
  std::vector<backend::RegionCode> regions;
  size_t layers = 0;  // on the accelerator
};
// Writes NAME.region<i>.mrvl into the folder. Of target "host": everything on the CPU.
Result<Placement> place(ir::Graph& graph, const std::string& target, const std::string& name,
                        const std::filesystem::path& folder);

// A simulator with the binaries of a case.
class Device {
 public:
  Device(const std::string& target, const std::string& name, const std::filesystem::path& folder,
         size_t regions);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();
  // What failed so far; empty: nothing.
  std::string error() const;
  // A stub's structure NAME_device: the device, then a handle for each region.
  const void* words() const { return words_.data(); }

 private:
  mrvl_device* device_ = nullptr;
  std::string error_;
  std::vector<void*> words_;
};

}  // namespace mrvlc::conformance
