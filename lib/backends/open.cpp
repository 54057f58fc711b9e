// Which back end a target has: a plug-in, the vendor's compiler, or the accelerator that is built in.
#include "mrvlc/backends/open.h"

#include <algorithm>

#include "cn10ka.h"
#include "mrvlc/accel/stages.h"
#include "mrvlc/plugin/plugin.h"
#include "mrvlc/target/plugin.h"
#include "plugin.h"
#include "vendor.h"

namespace mrvlc::backends {

Result<Opened> open(std::string_view name, const target::TargetText& text, const Settings& settings) {
  if (target::is_plugin(text.json)) return open_plugin(name, text, settings);
  MRVLC_ASSIGN(target::Machine machine, target::read_machine(name, text));
  return open(std::move(machine), settings);
}

Result<Opened> open(target::Machine machine, const Settings& settings) {
  if (machine.name == kVendorTarget) return open_vendor(std::move(machine), settings);
  return open_cn10ka(std::move(machine), settings);
}

Result<Opened> find(std::string_view name, const std::vector<std::filesystem::path>& search,
                    const Settings& settings) {
  MRVLC_ASSIGN(const target::TargetText text, target::find_target(name, search));
  return open(name, text, settings);
}

Result<Opened> open_default(const Settings& settings) {
  return find(kDefaultTarget, {}, settings);
}

std::vector<std::string_view> stage_names() {
  return accel::stage_names();
}

Result<std::string> disassembly(std::string_view binary, const std::vector<backend::CodeRange>& ranges) {
  if (plugin::is_file(binary)) return plugin_disassembly(binary, ranges);
  return cn10ka_disassembly(binary, ranges);
}

}  // namespace mrvlc::backends
