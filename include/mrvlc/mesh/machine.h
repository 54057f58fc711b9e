// Machines that are meshes of small processing elements (PEs): chips on a grid, PEs on each chip, links
// between neighbouring chips. Descriptions are JSON (docs/mesh.md) or built in.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "mrvlc/support/result.h"

namespace mrvlc::mesh {

// A number of the description and where it is from; "assumed": no public figure is known.
struct Figure {
  int64_t value = 0;
  std::string source;
  static void fields(auto& f, auto& s) { f("value", s.value)("source", s.source); }
};

struct Parts {
  Figure columns, rows;   // of the grid of chips
  Figure pes;             // of each chip
  Figure router_entries;  // of each chip: multicast trees that pass it
  static void fields(auto& f, auto& s) {
    f("columns", s.columns)("rows", s.rows)("pes", s.pes)("router_entries", s.router_entries);
  }
};

struct Pe {
  Figure sram_bytes;         // code and data
  Figure code_bytes;         // what of it code, stack and tables take
  Figure macs_per_cycle;     // of the MAC array
  Figure requantize_cycles;  // of the core, for one 8-bit result
  Figure float_cycles;       // of the core, for one operation in float32
  Figure clock_hz;
  static void fields(auto& f, auto& s) {
    f("sram_bytes", s.sram_bytes)("code_bytes", s.code_bytes)("macs_per_cycle", s.macs_per_cycle);
    f("requantize_cycles", s.requantize_cycles)("float_cycles", s.float_cycles)("clock_hz", s.clock_hz);
  }
};

struct Network {
  Figure noc_bytes_per_cycle, noc_cycles_per_hop;  // on a chip
  Figure link_bytes_per_second, link_nanoseconds;  // between two chips, each direction
  Figure host_bits_per_second;                     // between the host and chip 0
  static void fields(auto& f, auto& s) {
    f("noc_bytes_per_cycle", s.noc_bytes_per_cycle)("noc_cycles_per_hop", s.noc_cycles_per_hop);
    f("link_bytes_per_second", s.link_bytes_per_second)("link_nanoseconds", s.link_nanoseconds);
    f("host_bits_per_second", s.host_bits_per_second);
  }
};

// What does not work, as `--without` says it: "chip:5", "pe:3.17", "link:2-3".
struct Machine {
  std::string name;
  Parts chips;
  Pe pe;
  Network network;
  std::vector<std::string> without;
  static void fields(auto& f, auto& s) {
    f.schema("mrvlc-mesh-machine-1");
    f("name", s.name)("chips", s.chips)("pe", s.pe)("network", s.network)("without", s.without);
  }

  int64_t chip_count() const { return chips.columns.value * chips.rows.value; }
};

// What of a machine works.
struct Working {
  std::vector<bool> chips;                   // by chip
  std::vector<std::vector<uint32_t>> cores;  // by chip: numbers of its PEs, ascending
  std::vector<std::vector<uint32_t>> links;  // by chip: neighbours that it reaches, ascending
  size_t pe_count() const;
};

// The names of the built-in machines; besides, "mesh-N" is a chip of N PEs, "mesh-RxCxN" R rows of C such
// chips.
std::vector<std::string> machine_names();
// Whether `--target NAME` means a mesh.
bool is_machine(const std::string& name);
// MRV1300: there is none of this name.
Result<Machine> find_machine(const std::string& name);
// A description as JSON. MRV1301: what is wrong with it; unknown keys are.
Result<Machine> parse_machine(const std::string& text);
std::string to_json(const Machine& machine);

// MRV1301: a number that is out of its range.
Status check_figures(const Machine& machine);
// What is left without the parts of `machine.without`; MRV1301, as above; MRV1302: one that the machine does
// not have.
Result<Working> working_parts(const Machine& machine);
// Leaves the first `count` chips; MRV1302.
Status keep_chips(Machine& machine, int64_t count);

}  // namespace mrvlc::mesh
