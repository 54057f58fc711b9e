// The members of report.json, and lines for people made of them.
#include "size/size_report.h"

#include <algorithm>
#include <map>

#include "mrvlc/idmap/idmap.h"
#include "mrvlc/report/numbers.h"

namespace mrvlc::driver {
namespace {

// Frames in report.json, and in report.txt.
constexpr size_t kFrames = 64, kTold = 5;

// Compilers write m_f.constprop.0 for a copy of m_f.
std::string symbol_of(const std::string& function) {
  return function.substr(0, function.find('.'));
}

Json stack_json(const CompiledModel& m, const std::vector<Frame>& frames) {
  std::map<std::string, uint32_t> exprs;
  for (const chost::HostFunction& f : m.host.functions)
    if (f.expr.valid()) exprs.emplace(f.symbol, f.expr.index());
  Json list = Json::array();
  for (size_t i = 0; i < std::min(kFrames, frames.size()); ++i) {
    Json frame = {{"function", frames[i].function}, {"bytes", frames[i].bytes}};
    if (!frames[i].fixed) frame["fixed"] = false;
    const auto expr = exprs.find(symbol_of(frames[i].function));
    if (expr != exprs.end()) frame["expr_id"] = expr->second;
    list.push_back(std::move(frame));
  }
  return {{"worst_frame_bytes", frames.empty() ? 0 : frames[0].bytes},
          {"worst_function", frames.empty() ? "" : frames[0].function},
          {"functions", frames.size()},
          {"frames", std::move(list)}};
}

Json sections_json(const Sections& s) {
  return {{"text_bytes", s.text}, {"rodata_bytes", s.rodata}, {"data_bytes", s.data}, {"bss_bytes", s.bss}};
}

std::string worst_frame(const Json& size) {
  if (!size.contains("stack")) return "stack not told by the compiler";
  const Json& stack = size.at("stack");
  return fmt::format("worst stack frame {} B in {}", stack.at("worst_frame_bytes").get<int64_t>(),
                     stack.at("worst_function").get<std::string>());
}

}  // namespace

Json code_size_json(const CompiledModel& m) {
  const CodeSize& size = *m.size;
  Sections all = size.all();
  Json out = {{"compiler", idmap::json_text(size.compiler)}};
  out.update(sections_json(all));
  out["ram_bytes"] = m.host.arena_bytes + all.data + all.bss;
  Json files = Json::array();
  for (const auto& [name, sections] : size.files) {
    Json file = {{"file", idmap::json_text(name)}};
    file.update(sections_json(sections));
    files.push_back(std::move(file));
  }
  out["files"] = std::move(files);
  if (size.frames) out["stack"] = stack_json(m, *size.frames);
  return out;
}

std::string code_size_lines(const Json& host) {
  const Json& size = host.at("size");
  std::string out = fmt::format(
      "size: code {} B, constants {} B, data {} B, zeros {} B; RAM {} B with the arena, without the stack "
      "({})\n",
      size.at("text_bytes").get<int64_t>(), size.at("rodata_bytes").get<int64_t>(),
      size.at("data_bytes").get<int64_t>(), size.at("bss_bytes").get<int64_t>(),
      size.at("ram_bytes").get<int64_t>(), size.at("compiler").get<std::string>());
  if (!size.contains("stack")) return out + "stack: not told by the compiler\n";
  const Json& frames = size.at("stack").at("frames");
  out += "stack frames:";
  for (size_t i = 0; i < std::min(kTold, frames.size()); ++i)
    out += fmt::format("{} {} {} B", i == 0 ? "" : ",", frames[i].at("function").get<std::string>(),
                       frames[i].at("bytes").get<int64_t>());
  return out + "\n";
}

std::string code_size_line(const Json& host) {
  const Json& size = host.at("size");
  return fmt::format("code {}, constants {}, RAM {}, {} ({})",
                     report::bytes_text(size.at("text_bytes").get<int64_t>()),
                     report::bytes_text(size.at("rodata_bytes").get<int64_t>()),
                     report::bytes_text(size.at("ram_bytes").get<int64_t>()), worst_frame(size),
                     size.at("compiler").get<std::string>());
}

}  // namespace mrvlc::driver
