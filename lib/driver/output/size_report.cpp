// Sections and frames with the expressions they are of, and as text.
#include "output/size_report.h"

#include <algorithm>
#include <map>

#include "mrvlc/idmap/idmap.h"
#include "mrvlc/report/numbers.h"

namespace mrvlc::driver {
namespace {

// Frames in the report, and in report.txt.
constexpr size_t kFrames = 64, kTold = 5;

// Compilers write m_f.constprop.0 for a copy of m_f.
std::string symbol_of(const std::string& function) {
  return function.substr(0, function.find('.'));
}

ReportedStack stack_of(const CompiledModel& m, const std::vector<Frame>& frames) {
  std::map<std::string, uint32_t> exprs;
  for (const chost::HostFunction& f : m.host.functions)
    if (f.expr.valid()) exprs.emplace(f.symbol, f.expr.index());
  ReportedStack out{.functions = frames.size()};
  if (!frames.empty()) out.worst_frame_bytes = frames[0].bytes, out.worst_function = frames[0].function;
  for (size_t i = 0; i < std::min(kFrames, frames.size()); ++i) {
    ReportedFrame& frame = out.frames.emplace_back(ReportedFrame{frames[i].function, frames[i].bytes});
    if (!frames[i].fixed) frame.fixed = false;
    const auto expr = exprs.find(symbol_of(frames[i].function));
    if (expr != exprs.end()) frame.expr_id = expr->second;
  }
  return out;
}

}  // namespace

ReportedSize reported_size(const CompiledModel& m) {
  const CodeSize& size = *m.size;
  ReportedSize out{idmap::json_text(size.compiler), size.all()};
  out.ram_bytes = m.host.arena_bytes + out.sections.data + out.sections.bss;
  for (const auto& [name, sections] : size.files) out.files.push_back({idmap::json_text(name), sections});
  if (size.frames) out.stack = stack_of(m, *size.frames);
  return out;
}

std::string code_size_lines(const ReportedSize& size) {
  std::string out = fmt::format(
      "size: code {} B, constants {} B, data {} B, zeros {} B; RAM {} B with the arena, without the stack "
      "({})\n",
      size.sections.text, size.sections.rodata, size.sections.data, size.sections.bss, size.ram_bytes,
      size.compiler);
  if (!size.stack) return out + "stack: not told by the compiler\n";
  const std::vector<ReportedFrame>& frames = size.stack->frames;
  out += "stack frames:";
  for (size_t i = 0; i < std::min(kTold, frames.size()); ++i)
    out += fmt::format("{} {} {} B", i == 0 ? "" : ",", frames[i].function, frames[i].bytes);
  return out + "\n";
}

std::string code_size_line(const ReportedSize& size) {
  const std::string stack = size.stack
                                ? fmt::format("worst stack frame {} B in {}", size.stack->worst_frame_bytes,
                                              size.stack->worst_function)
                                : "stack not told by the compiler";
  return fmt::format("code {}, constants {}, RAM {}, {} ({})", report::bytes_text(size.sections.text),
                     report::bytes_text(size.sections.rodata), report::bytes_text(size.ram_bytes), stack,
                     size.compiler);
}

}  // namespace mrvlc::driver
