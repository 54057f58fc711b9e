// Instructions as text, with the expressions they come from.
#include <algorithm>

#include "cn10ka.h"

namespace mrvlc::backends {
namespace {

using backend::Section;

// Expression of each instruction of a section; -1 where there is none.
std::vector<int64_t> expressions(const std::vector<backend::CodeRange>& ranges, Section section,
                                 size_t count) {
  std::vector<int64_t> exprs(count, -1);
  for (const backend::CodeRange& i : ranges) {
    if (i.section != section) continue;
    for (size_t k = i.begin; k < std::min<size_t>(i.end, count); ++k)
      exprs[k] = static_cast<int64_t>(i.expr.index());
  }
  return exprs;
}

}  // namespace

Result<std::string> cn10ka_disassembly(std::string_view binary,
                                       const std::vector<backend::CodeRange>& ranges) {
  MRVLC_ASSIGN(const isa::Binary b, isa::read_container(binary));
  std::string out = fmt::format("; {} tiles {} batch {} layers {} weights {} B\n", printable(b.name), b.tiles,
                                b.batch, b.layers, b.weights.size());
  const std::vector<isa::Instruction>* sections[] = {&b.init, &b.main, &b.finish};
  for (size_t s = 0; s < 3; ++s) {
    const auto& list = *sections[s];
    out += fmt::format("section {} ({} instructions)\n", backend::kSectionNames[s], list.size());
    auto exprs = expressions(ranges, static_cast<Section>(s), list.size());
    for (size_t k = 0; k < list.size(); ++k) {
      out += fmt::format("{:6}  {:<8} {}\n", k, exprs[k] < 0 ? "" : fmt::format("e{}", exprs[k]),
                         isa::to_text(list[k]));
    }
  }
  return out;
}

}  // namespace mrvlc::backends
