// What can be said of a program whose instructions only a plug-in knows.
#include "mrvlc/plugin/plugin.h"
#include "plugin.h"

namespace mrvlc::backends {

Result<std::string> plugin_disassembly(std::string_view binary,
                                       const std::vector<backend::CodeRange>& ranges) {
  constexpr size_t kRow = 16;
  MRVLC_ASSIGN(const plugin::File file, plugin::read_file(binary));
  std::string out = fmt::format("; of a plug-in: {} inputs, {} outputs, {} B\nsection main\n",
                                file.inputs.size(), file.outputs.size(), file.bytes.size());
  for (const backend::CodeRange& r : ranges)
    out += fmt::format("{:6} to {:<6} e{}\n", r.begin, r.end - 1, r.expr.index());
  out += "bytes\n";
  for (size_t at = 0; at < file.bytes.size(); ++at) {
    if (at % kRow == 0) out += fmt::format("{}{:06x} ", at == 0 ? "" : "\n", at);
    out += fmt::format(" {:02x}", static_cast<uint8_t>(file.bytes[at]));
  }
  return out + "\n";
}

}  // namespace mrvlc::backends
