// `mrvlc disasm` and the text of --emit disasm: instructions of a binary with the expressions they come from.
#include "output/disasm.h"

#include <algorithm>

#include "mrvlc/isa/header.h"
#include "mrvlc/support/diag/sim.h"
#include "mrvlc/support/file.h"
#include "output/output_folder.h"

namespace mrvlc::driver {
namespace {

constexpr const char* kSections[] = {"init", "main", "finish"};

using Section = accel::InstructionRange::Section;

// Expression of each instruction of a section; -1 where there is none.
std::vector<int64_t> expressions(const std::vector<accel::InstructionRange>& ranges, Section section,
                                 size_t count) {
  std::vector<int64_t> exprs(count, -1);
  for (const accel::InstructionRange& i : ranges) {
    if (i.section != section) continue;
    for (size_t k = i.begin; k < std::min<size_t>(i.end, count); ++k)
      exprs[k] = static_cast<int64_t>(i.expr.index());
  }
  return exprs;
}

// Of an ID map, or of null. Throws where it is none.
std::vector<accel::InstructionRange> ranges_of(const Json& map, int64_t region) {
  std::vector<accel::InstructionRange> ranges;
  if (!map.is_object() || !map.contains("instructions")) return ranges;
  for (const Json& i : map.at("instructions")) {
    if (i.at("region") != region) continue;
    const auto section = std::ranges::find(kSections, i.at("section").get<std::string>());
    if (section == std::end(kSections)) continue;
    ranges.push_back({static_cast<Section>(section - std::begin(kSections)), i.at("begin").get<uint32_t>(),
                      i.at("end").get<uint32_t>(), 0, ir::NodeId(i.at("expr_id").get<size_t>())});
  }
  return ranges;
}

// The ID map beside a file that no manifest lists, when there is one: without it the text lacks the
// expressions, nothing else.
Json map_beside(const std::filesystem::path& file) {
  auto text = read_file(file.parent_path() / "idmap.json");
  return text.ok() ? Json::parse(*text, nullptr, false) : Json();
}

struct Subject {
  std::string bytes;
  Json map;
};

// In a folder of a compile both are what it wrote; elsewhere they are taken as they are.
Result<Subject> read_subject(const std::filesystem::path& file) {
  MRVLC_ASSIGN(const std::optional<OutputFolder> folder, folder_of(file));
  Subject subject;
  if (!folder) {
    MRVLC_ASSIGN(subject.bytes, read_file(file));
    subject.map = map_beside(file);
    return subject;
  }
  MRVLC_ASSIGN(subject.bytes, folder->bytes(file.filename().string()));
  MRVLC_ASSIGN(subject.map, folder->json("idmap.json"));
  return subject;
}

}  // namespace

std::string disasm_text(const isa::Binary& b, const std::vector<accel::InstructionRange>& ranges) {
  std::string out = fmt::format("; {} tiles {} batch {} layers {} weights {} B\n", printable(b.name), b.tiles,
                                b.batch, b.layers, b.weights.size());
  const std::vector<isa::Instruction>* sections[] = {&b.init, &b.main, &b.finish};
  for (size_t s = 0; s < 3; ++s) {
    const auto& list = *sections[s];
    out += fmt::format("section {} ({} instructions)\n", kSections[s], list.size());
    auto exprs = expressions(ranges, static_cast<Section>(s), list.size());
    for (size_t k = 0; k < list.size(); ++k) {
      out += fmt::format("{:6}  {:<8} {}\n", k, exprs[k] < 0 ? "" : fmt::format("e{}", exprs[k]),
                         isa::to_text(list[k]));
    }
  }
  return out;
}

Result<std::string> disasm(const std::filesystem::path& file) {
  MRVLC_ASSIGN(const Subject subject, read_subject(file));
  MRVLC_ASSIGN(isa::Binary binary, isa::read_container(subject.bytes));
  std::string stem = file.stem().string();
  size_t at = stem.rfind(".region");
  int64_t region = at == std::string::npos ? -1 : std::atoll(stem.c_str() + at + 7);
  try {
    return disasm_text(binary, ranges_of(subject.map, region));
  } catch (const Json::exception&) {
    return disasm_text(binary, {});
  }
}

std::optional<std::string> disasm_header(const std::filesystem::path& file, Diagnostics& diagnostics) {
  const auto bytes = read_file(file);
  if (!bytes.ok()) return diagnostics.add(bytes.error()), std::nullopt;
  auto header = isa::read_header(*bytes);
  if (!header.ok()) return diagnostics.add(header.error()), std::nullopt;
  for (const std::string& fault : header->faults) diagnostics.add(make_diag<DiagCode::MRV0701>(fault));
  for (const std::string& why : header->refused) diagnostics.add(make_diag<DiagCode::MRV0717>(why));
  return std::move(header->text);
}

}  // namespace mrvlc::driver
