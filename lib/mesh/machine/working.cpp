// Which parts of a machine work.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include "mrvlc/mesh/machine.h"
#include "mrvlc/support/diag/mesh.h"
#include "mrvlc/support/printable.h"

namespace mrvlc::mesh {
namespace {

struct Part {
  std::string_view kind;
  int64_t first = 0, second = -1;  // -1: there is no second number
};

bool take_number(std::string_view& text, int64_t& n) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || n < 0) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

// "chip:5", "pe:3.17", "link:2-3"
std::optional<Part> parse_part(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  Part p{text.substr(0, colon)};
  text.remove_prefix(colon + 1);
  if (!take_number(text, p.first)) return std::nullopt;
  if (p.kind == "chip") return text.empty() ? std::optional(p) : std::nullopt;
  const char separator = p.kind == "pe" ? '.' : p.kind == "link" ? '-' : '\0';
  if (separator == '\0' || text.empty() || text.front() != separator) return std::nullopt;
  text.remove_prefix(1);
  return take_number(text, p.second) && text.empty() ? std::optional(p) : std::nullopt;
}

Working all_parts(const Machine& m) {
  const auto chips = static_cast<size_t>(m.chip_count());
  const int64_t columns = m.chips.columns.value, rows = m.chips.rows.value;
  Working w{std::vector<bool>(chips, true), {}, std::vector<std::vector<uint32_t>>(chips)};
  std::vector<uint32_t> cores(static_cast<size_t>(m.chips.pes.value));
  std::iota(cores.begin(), cores.end(), 0u);
  w.cores.assign(chips, cores);
  for (int64_t y = 0; y < rows; ++y)
    for (int64_t x = 0; x < columns; ++x) {
      auto& links = w.links[static_cast<size_t>(y * columns + x)];
      if (y > 0) links.push_back(static_cast<uint32_t>((y - 1) * columns + x));
      if (x > 0) links.push_back(static_cast<uint32_t>(y * columns + x - 1));
      if (x + 1 < columns) links.push_back(static_cast<uint32_t>(y * columns + x + 1));
      if (y + 1 < rows) links.push_back(static_cast<uint32_t>((y + 1) * columns + x));
    }
  return w;
}

void remove_link(Working& w, size_t a, size_t b) {
  std::erase(w.links[a], static_cast<uint32_t>(b));
  std::erase(w.links[b], static_cast<uint32_t>(a));
}

void remove_chip(Working& w, size_t chip) {
  w.chips[chip] = false;
  w.cores[chip].clear();
  const auto links = w.links[chip];
  for (const uint32_t other : links) remove_link(w, chip, other);
}

// False: the machine has no such part.
bool remove_part(const Machine& m, Working& w, const Part& p) {
  if (p.first >= m.chip_count()) return false;
  const auto chip = static_cast<size_t>(p.first);
  if (p.kind == "chip") return remove_chip(w, chip), true;
  if (p.kind == "pe") {
    if (p.second >= m.chips.pes.value) return false;
    std::erase(w.cores[chip], static_cast<uint32_t>(p.second));
    return true;
  }
  if (p.second >= m.chip_count()) return false;
  const Working all = all_parts(m);
  const auto& links = all.links[chip];
  if (std::ranges::find(links, static_cast<uint32_t>(p.second)) == links.end()) return false;
  return remove_link(w, chip, static_cast<size_t>(p.second)), true;
}

}  // namespace

size_t Working::pe_count() const {
  size_t n = 0;
  for (const auto& c : cores) n += c.size();
  return n;
}

Result<Working> working_parts(const Machine& machine) {
  MRVLC_TRY(check_figures(machine));
  Working w = all_parts(machine);
  for (const std::string& text : machine.without) {
    const auto part = parse_part(text);
    if (!part || !remove_part(machine, w, *part))
      return make_diag<DiagCode::MRV1302>(printable(text), machine.name);
  }
  return w;
}

Status keep_chips(Machine& machine, int64_t count) {
  if (count < 1 || count > machine.chip_count())
    return make_diag<DiagCode::MRV1302>(fmt::format("--chips {}", count), machine.name);
  for (int64_t chip = count; chip < machine.chip_count(); ++chip)
    machine.without.push_back(fmt::format("chip:{}", chip));
  return {};
}

}  // namespace mrvlc::mesh
