// A target behind a plug-in (mrvl/plugin.h), as a back end.
#pragma once
#include "mrvlc/backends/open.h"
#include "mrvlc/plugin/plugin.h"

namespace mrvlc::backends {

// `text`: a package of kind `plugin`, whose library and rules lie beside it. MRV0355, or what is wrong with
// the package; MRV0004 for settings that no plug-in takes.
Result<Opened> open_plugin(std::string_view name, const target::TargetText& text, const Settings& settings);

// Without the plug-in nobody can read its instructions: whose they are, and the bytes.
Result<std::string> plugin_disassembly(std::string_view binary,
                                       const std::vector<backend::CodeRange>& ranges);
// Its instructions as it says them; the same as above where it has no such function. MRV0356.
Result<std::string> plugin_listing(const plugin::Plugin& plugin, const std::string& target,
                                   std::string_view binary, const std::vector<backend::CodeRange>& ranges);

}  // namespace mrvlc::backends
