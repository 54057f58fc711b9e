// `mrvlc disasm` and the text of --emit disasm: instructions of a binary with the expressions they come from.
#include "disasm.h"

#include "mrvlc/support/file.h"

namespace mrvlc::driver {
namespace {

constexpr const char* kSections[] = {"init", "main", "finish"};

// Expression of each instruction of a section; -1 where the map has none.
std::vector<int64_t> expressions(const Json& map, int64_t region, std::string_view section, size_t count) {
  std::vector<int64_t> exprs(count, -1);
  if (!map.is_object() || !map.contains("instructions")) return exprs;
  for (const Json& i : map.at("instructions")) {
    if (i.at("region") != region || i.at("section") != section) continue;
    for (auto k = i.at("begin").get<size_t>(); k < std::min(i.at("end").get<size_t>(), count); ++k) {
      exprs[k] = i.at("expr_id").get<int64_t>();
    }
  }
  return exprs;
}

// The ID map beside the file, when there is one of ours: without it the text lacks the expressions, nothing
// else.
Json map_beside(const std::filesystem::path& file) {
  auto text = read_file(file.parent_path() / "idmap.json");
  return text.ok() ? Json::parse(*text, nullptr, false) : Json();
}

}  // namespace

std::string disasm_text(const isa::Binary& b, const Json& map, int64_t region) {
  std::string out = fmt::format("; {} tiles {} batch {} layers {} weights {} B\n", printable(b.name), b.tiles,
                                b.batch, b.layers, b.weights.size());
  const std::vector<isa::Instruction>* sections[] = {&b.init, &b.main, &b.finish};
  for (size_t s = 0; s < 3; ++s) {
    const auto& list = *sections[s];
    out += fmt::format("section {} ({} instructions)\n", kSections[s], list.size());
    auto exprs = expressions(map, region, kSections[s], list.size());
    for (size_t k = 0; k < list.size(); ++k) {
      out += fmt::format("{:6}  {:<8} {}\n", k, exprs[k] < 0 ? "" : fmt::format("e{}", exprs[k]),
                         isa::to_text(list[k]));
    }
  }
  return out;
}

Result<std::string> disasm(const std::filesystem::path& file) {
  MRVLC_ASSIGN(std::string bytes, read_file(file));
  MRVLC_ASSIGN(isa::Binary binary, isa::read_container(bytes));
  std::string stem = file.stem().string();
  size_t at = stem.rfind(".region");
  int64_t region = at == std::string::npos ? -1 : std::atoll(stem.c_str() + at + 7);
  try {
    return disasm_text(binary, map_beside(file), region);
  } catch (const Json::exception&) {
    return disasm_text(binary, Json(), region);
  }
}

}  // namespace mrvlc::driver
