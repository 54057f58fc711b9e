// `mrvlc disasm` and the text of --emit disasm: instructions of a binary with the expressions they come from.
#include "folder/output_folder.h"
#include "mrvlc/backends/open.h"
#include "mrvlc/plugin/plugin.h"
#include "mrvlc/support/diag/sim.h"
#include "mrvlc/support/file.h"
#include "output/code_index.h"

namespace mrvlc::driver {
namespace {

std::vector<backend::CodeRange> ranges_of(const idmap::Map& map, int64_t region) {
  std::vector<backend::CodeRange> ranges;
  for (const idmap::Instructions& i : map.instructions)
    if (const auto section = section_of(i.section); section && i.region == region)
      ranges.push_back({*section, i.begin, i.end, 0, ir::NodeId(i.expr_id)});
  return ranges;
}

// The ID map beside a file that no manifest lists, when there is one: without it the text lacks the
// expressions, nothing else.
idmap::Map map_beside(const std::filesystem::path& file) {
  const auto text = read_file(file.parent_path() / "idmap.json");
  auto map = text.ok() ? json::parsed<idmap::Map>(Json::parse(*text, nullptr, false)) : std::nullopt;
  return map ? *std::move(map) : idmap::Map();
}

struct Subject {
  std::string bytes;
  idmap::Map map;
  std::optional<OutputFolder> folder = {};
};

// In a folder of a compile both are what it wrote; elsewhere they are taken as they are.
Result<Subject> read_subject(const std::filesystem::path& file) {
  MRVLC_ASSIGN(std::optional<OutputFolder> folder, folder_of(file));
  Subject subject;
  if (!folder) {
    MRVLC_ASSIGN(subject.bytes, read_file(file));
    subject.map = map_beside(file);
    return subject;
  }
  MRVLC_ASSIGN(subject.bytes, folder->bytes(file.filename().string()));
  MRVLC_ASSIGN(subject.map, folder->read<idmap::Map>("idmap.json"));
  subject.folder = std::move(folder);
  return subject;
}

// Of a region of a folder: the accelerator that it is of; "": the ID map says none.
std::string target_of(const idmap::Map& map, int64_t region) {
  for (const idmap::Target& t : map.targets)
    for (const uint32_t r : t.regions.value_or(std::vector<uint32_t>()))
      if (r == region) return t.name;
  return {};
}

// Who compiled it knows its instructions; where that cannot be opened, the bytes are shown, and why.
Result<std::string> disassembly_in(const Subject& subject, int64_t region) {
  const auto ranges = ranges_of(subject.map, region);
  const std::string target = subject.folder ? target_of(subject.map, region) : "";
  if (target.empty() || !plugin::is_file(subject.bytes)) return backends::disassembly(subject.bytes, ranges);
  const auto backend =
      subject.folder->backend(target, target::path_of_environment(), OutputFolder::Libraries::OfPackages);
  if (backend.ok()) return (*backend)->disassembly(subject.bytes, ranges);
  MRVLC_ASSIGN(const std::string bytes, backends::disassembly(subject.bytes, ranges));
  return fmt::format("; {}: {}\n{}", printable(target), backend.error().message, bytes);
}

}  // namespace

Result<std::string> disasm(const std::filesystem::path& file) {
  MRVLC_ASSIGN(const Subject subject, read_subject(file));
  std::string stem = file.stem().string();
  size_t at = stem.rfind(".region");
  int64_t region = at == std::string::npos ? -1 : std::atoll(stem.c_str() + at + 7);
  return disassembly_in(subject, region);
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
