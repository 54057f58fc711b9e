// `mrvlc disasm` and the text of --emit disasm: instructions of a binary with the expressions they come from.
#include <algorithm>

#include "folder/output_folder.h"
#include "mrvlc/backends/open.h"
#include "mrvlc/support/diag/sim.h"
#include "mrvlc/support/file.h"

namespace mrvlc::driver {
namespace {

// Of an ID map, or of null. Throws where it is none.
std::vector<backend::CodeRange> ranges_of(const Json& map, int64_t region) {
  std::vector<backend::CodeRange> ranges;
  if (!map.is_object() || !map.contains("instructions")) return ranges;
  for (const Json& i : map.at("instructions")) {
    if (i.at("region") != region) continue;
    const auto section =
        std::ranges::find(backend::kSectionNames, i.at("section").get_ref<const std::string&>());
    if (section == backend::kSectionNames.end()) continue;
    ranges.push_back({static_cast<backend::Section>(section - backend::kSectionNames.begin()),
                      i.at("begin").get<uint32_t>(), i.at("end").get<uint32_t>(), 0,
                      ir::NodeId(i.at("expr_id").get<size_t>())});
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

Result<std::string> disasm(const std::filesystem::path& file) {
  MRVLC_ASSIGN(const Subject subject, read_subject(file));
  std::string stem = file.stem().string();
  size_t at = stem.rfind(".region");
  int64_t region = at == std::string::npos ? -1 : std::atoll(stem.c_str() + at + 7);
  try {
    return backends::disassembly(subject.bytes, ranges_of(subject.map, region));
  } catch (const Json::exception&) {
    return backends::disassembly(subject.bytes, {});
  }
}

std::optional<std::string> disasm_header(const std::filesystem::path& file, Diagnostics& diagnostics) {
  const auto bytes = read_file(file);
  if (!bytes.ok()) return diagnostics.add(bytes.error()), std::nullopt;
  auto header = backends::read_header(*bytes);
  if (!header.ok()) return diagnostics.add(header.error()), std::nullopt;
  for (const std::string& fault : header->faults) diagnostics.add(make_diag<DiagCode::MRV0701>(fault));
  for (const std::string& why : header->refused) diagnostics.add(make_diag<DiagCode::MRV0717>(why));
  return std::move(header->text);
}

}  // namespace mrvlc::driver
