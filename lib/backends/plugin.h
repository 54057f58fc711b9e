// A target behind a plug-in (mrvl/plugin.h), as a back end.
#pragma once
#include "mrvlc/backends/open.h"

namespace mrvlc::backends {

// `text`: a package of kind `plugin`, whose library and rules lie beside it. MRV0355, or what is wrong with
// the package; MRV0004 for settings that no plug-in takes.
Result<Opened> open_plugin(std::string_view name, const target::TargetText& text, const Settings& settings);

// mrvlc cannot read its instructions: whose they are, and the bytes.
Result<std::string> plugin_disassembly(std::string_view binary,
                                       const std::vector<backend::CodeRange>& ranges);

}  // namespace mrvlc::backends
