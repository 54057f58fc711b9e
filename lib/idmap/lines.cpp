// One line of text for a source, an expression, a layer, a range of instructions, a function or a call.
#include "lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mrvlc::idmap {

std::string location_text(const Json& source) {
  if (!source.contains("location")) return {};
  const Json& l = source.at("location");
  std::string text;
  if (l.contains("file"))
    text = fmt::format("{}:{}", l.at("file").get<std::string>(), l.at("line").get<uint32_t>());
  if (!l.contains("module")) return text;
  const auto module = l.at("module").get<std::string>(), cls = l.value("class", "");
  if (!text.empty()) text += " in ";
  text += module.empty() ? "the outermost module" : module;
  if (!cls.empty()) text += fmt::format(" ({})", cls.substr(cls.rfind('.') + 1));  // npos + 1 is 0
  return text;
}

std::string source_line(const Json& source) {
  const std::string location = location_text(source);
  return fmt::format("source {} '{}' ({}): {}{}{}{}{}\n", source.at("id").get<std::string>(),
                     source.at("name").get<std::string>(), source.at("op_type").get<std::string>(),
                     source.at("fate").get<std::string>(), source.at("reason") == "" ? "" : ", ",
                     source.at("reason").get<std::string>(), location.empty() ? "" : ", from ", location);
}

std::string expression_line(const Json& e) {
  std::vector<std::string> sources;
  for (const Json& s : e.at("sources")) sources.push_back(s.get<std::string>());
  std::vector<uint32_t> from;
  for (const Json& f : e.at("from")) from.push_back(f.get<uint32_t>());
  std::string line =
      fmt::format("expression {} {} by {}, sources {}", e.at("expr_id").get<uint32_t>(),
                  e.at("op").get<std::string>(), e.at("pass").get<std::string>(), fmt::join(sources, " "));
  if (!from.empty()) line += fmt::format(", made of {}", fmt::join(from, " "));
  if (e.contains("erased")) line += ", gone: " + e.at("erased").get<std::string>();
  return line + "\n";
}

std::string layer_line(const Json& l) {
  return fmt::format("layer {} of region {}: {} by rule {}\n", l.at("layer").get<uint32_t>(),
                     l.at("region").get<uint32_t>(), l.at("kind").get<std::string>(),
                     l.at("rule").get<std::string>());
}

std::string range_line(const Json& i) {
  return fmt::format("instructions region {} {} [{}, {})\n", i.at("region").get<uint32_t>(),
                     i.at("section").get<std::string>(), i.at("begin").get<uint32_t>(),
                     i.at("end").get<uint32_t>());
}

std::string function_line(const Json& f) {
  return fmt::format("function {} {}:{}-{}\n", f.at("symbol").get<std::string>(),
                     f.at("file").get<std::string>(), f.at("first_line").get<uint32_t>(),
                     f.at("last_line").get<uint32_t>());
}

std::string call_line(const Json& c) {
  return fmt::format("call of {} {} by rule {}, in {}\n", c.at("target").get<std::string>(),
                     c.at("function").get<std::string>(), c.at("rule").get<std::string>(),
                     c.at("symbol").get<std::string>());
}

}  // namespace mrvlc::idmap
