// Machine descriptions as JSON.
#include "mrvlc/mesh/machine.h"
#include "mrvlc/support/diag/mesh.h"
#include "mrvlc/support/json_fields.h"
#include "mrvlc/support/strict_json.h"

namespace mrvlc::mesh {
namespace {

using json::Json;

// A key of `given` that what was read of it does not have; empty: none.
std::string unknown_key(const Json& given, const Json& read, const std::string& where) {
  if (!given.is_object() || !read.is_object()) return "";
  for (const auto& [key, value] : given.items()) {
    const std::string path = where.empty() ? key : where + "." + key;
    if (!read.contains(key)) return path;
    if (std::string inner = unknown_key(value, read.at(key), path); !inner.empty()) return inner;
  }
  return "";
}

struct Limit {
  const Figure* figure;
  const char* name;
  int64_t low, high;
};

// What every part of the compiler relies on.
std::string out_of_range(const Machine& m) {
  constexpr int64_t kLarge = int64_t{1} << 40;
  const Limit limits[] = {{&m.chips.columns, "chips.columns", 1, 256},
                          {&m.chips.rows, "chips.rows", 1, 256},
                          {&m.chips.pes, "chips.pes", 1, 65536},
                          {&m.chips.router_entries, "chips.router_entries", 1, kLarge},
                          {&m.pe.sram_bytes, "pe.sram_bytes", 1024, int64_t{1} << 31},
                          {&m.pe.code_bytes, "pe.code_bytes", 0, m.pe.sram_bytes.value},
                          {&m.pe.macs_per_cycle, "pe.macs_per_cycle", 1, 1 << 20},
                          {&m.pe.requantize_cycles, "pe.requantize_cycles", 1, 1 << 20},
                          {&m.pe.float_cycles, "pe.float_cycles", 1, 1 << 20},
                          {&m.pe.clock_hz, "pe.clock_hz", 1, kLarge},
                          {&m.network.noc_bytes_per_cycle, "network.noc_bytes_per_cycle", 1, 1 << 20},
                          {&m.network.noc_cycles_per_hop, "network.noc_cycles_per_hop", 0, 1 << 20},
                          {&m.network.link_bytes_per_second, "network.link_bytes_per_second", 1, kLarge},
                          {&m.network.link_nanoseconds, "network.link_nanoseconds", 0, kLarge},
                          {&m.network.host_bits_per_second, "network.host_bits_per_second", 1, kLarge}};
  for (const Limit& l : limits)
    if (l.figure->value < l.low || l.figure->value > l.high)
      return fmt::format("{} is {}, it must be from {} to {}", l.name, l.figure->value, l.low, l.high);
  if (m.chip_count() * m.chips.pes.value > 65536) return "it has more than 65536 PEs";
  return "";
}

}  // namespace

Result<Machine> parse_machine(const std::string& text) {
  std::string twice;
  const Json given = parse_strict<Json>(text, twice);
  if (given.is_discarded()) return make_diag<DiagCode::MRV1301>("it is no JSON");
  if (!twice.empty()) return make_diag<DiagCode::MRV1301>("key '" + printable(twice) + "' is there twice");
  Machine m;
  json::Fault fault;
  if (!json::read(given, m, fault))
    return make_diag<DiagCode::MRV1301>(fault.where + " " + std::string(fault.what));
  if (const std::string key = unknown_key(given, json::tree(m), ""); !key.empty())
    return make_diag<DiagCode::MRV1301>("key '" + printable(key) + "' is not known");
  const auto working = working_parts(m);
  if (!working.ok()) return working.error();
  return m;
}

Status check_figures(const Machine& machine) {
  const std::string why = out_of_range(machine);
  return why.empty() ? Status() : make_diag<DiagCode::MRV1301>(why);
}

std::string to_json(const Machine& machine) {
  return json::document(machine);
}

}  // namespace mrvlc::mesh
