// What a plug-in's function `encode` gives, checked and copied.
#pragma once
#include "mrvlc/backend/region_code.h"
#include "mrvlc/plugin/plugin.h"
#include "plugin_region.h"

namespace mrvlc::backends {

struct EncodedRegion {
  std::string bytes;
  uint64_t cycles = 0;
  std::vector<backend::CodeRange> instructions;
  std::vector<plugin::File::RangeTime> times;  // of each of these; empty: not known
};
bool operator==(const EncodedRegion& a, const EncodedRegion& b);

// Empty, or what is wrong with it.
std::string read_code(const mrvl_plugin_code& code, const ir::Graph& graph, const PluginRegion& shown,
                      EncodedRegion& out);

}  // namespace mrvlc::backends
