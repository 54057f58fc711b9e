// One line of text for a source, an expression, a layer, a range of instructions, a function or a call.
#include "lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mrvlc::idmap {

std::string location_text(const Source& source) {
  if (!source.location) return {};
  const Location& l = *source.location;
  std::string text;
  if (l.file) text = fmt::format("{}:{}", *l.file, l.line.value_or(0));
  if (!l.module) return text;
  const std::string cls = l.class_name.value_or("");
  if (!text.empty()) text += " in ";
  text += l.module->empty() ? "the outermost module" : *l.module;
  if (!cls.empty()) text += fmt::format(" ({})", cls.substr(cls.rfind('.') + 1));  // npos + 1 is 0
  return text;
}

std::string line_of(const Source& s) {
  const std::string location = location_text(s);
  return fmt::format("source {} '{}' ({}): {}{}{}{}{}\n", s.id, s.name, s.op_type, s.fate,
                     s.reason.empty() ? "" : ", ", s.reason, location.empty() ? "" : ", from ", location);
}

std::string line_of(const Expression& e) {
  std::string line =
      fmt::format("expression {} {} by {}, sources {}", e.expr_id, e.op, e.pass, fmt::join(e.sources, " "));
  if (!e.from.empty()) line += fmt::format(", made of {}", fmt::join(e.from, " "));
  if (e.erased) line += ", gone: " + *e.erased;
  return line + "\n";
}

std::string line_of(const Layer& l) {
  return fmt::format("layer {} of region {}: {} by rule {}\n", l.layer, l.region, l.kind, l.rule);
}

std::string line_of(const Instructions& i) {
  return fmt::format("instructions region {} {} [{}, {})\n", i.region, i.section, i.begin, i.end);
}

std::string line_of(const Function& f) {
  return fmt::format("function {} {}:{}-{}\n", f.symbol, f.file, f.first_line, f.last_line);
}

std::string line_of(const Call& c) {
  return fmt::format("call of {} {} by rule {}, in {}\n", c.target, c.function, c.rule, c.symbol);
}

}  // namespace mrvlc::idmap
