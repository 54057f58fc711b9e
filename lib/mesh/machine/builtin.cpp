// The machines that mrvlc knows by name. Figures without a public source are marked "assumed".
#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "mrvlc/mesh/machine.h"
#include "mrvlc/support/characters.h"
#include "mrvlc/support/diag/mesh.h"
#include "mrvlc/support/printable.h"

namespace mrvlc::mesh {
namespace {

constexpr const char* kDatasheet = "SpiNNaker2 datasheet 0.03 (2021)";
constexpr const char* kPaper = "arXiv 2103.08392";
constexpr const char* kMeasured = "measured: arm-none-eabi-gcc 12.2 -O3, qemu-system-arm, instructions";
constexpr const char* kAssumed = "assumed";
constexpr int64_t kMostPes = 65536;

Machine spinnaker2(std::string name, int64_t columns, int64_t rows, int64_t pes, const char* grid) {
  Machine m;
  m.name = std::move(name);
  m.chips = {{columns, grid}, {rows, grid}, {pes, grid}, {16384, kDatasheet}};
  m.pe = {{131072, kDatasheet}, {16384, kAssumed}, {64, kPaper},
          {8, kMeasured},       {1, kAssumed},     {300000000, kAssumed}};
  m.network = {
      {16, kAssumed}, {2, kAssumed}, {1500000000, kAssumed}, {200, kAssumed}, {10000000000, kAssumed}};
  return m;
}

// "8", "2x2x8": numbers above 0.
std::optional<std::vector<int64_t>> sizes_of(std::string_view text) {
  std::vector<int64_t> sizes;
  while (true) {
    int64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc() || n < 1 || n > kMostPes) return std::nullopt;
    sizes.push_back(n);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.empty()) return sizes;
    if (text.front() != 'x') return std::nullopt;
    text.remove_prefix(1);
  }
}

std::optional<Machine> grid(const std::string& name) {
  constexpr std::string_view kPrefix = "mesh-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  auto sizes = sizes_of(std::string_view(name).substr(kPrefix.size()));
  if (!sizes || (sizes->size() != 1 && sizes->size() != 3)) return std::nullopt;
  if (sizes->size() == 1) sizes->insert(sizes->begin(), {1, 1});
  // Each factor is at most kMostPes, so that this product does not overflow.
  if ((*sizes)[0] * (*sizes)[1] * (*sizes)[2] > kMostPes) return std::nullopt;
  return spinnaker2(name, (*sizes)[1], (*sizes)[0], (*sizes)[2], "the machine's name");
}

std::optional<Machine> known(const std::string& name) {
  // The grid of the board's chips is not public.
  if (name == "spinnaker2-48") return spinnaker2(name, 8, 6, 152, kDatasheet);
  if (name == "spinnaker2-1") return spinnaker2(name, 1, 1, 152, kDatasheet);
  return grid(name);
}

}  // namespace

std::vector<std::string> machine_names() {
  return {"spinnaker2-1", "spinnaker2-48", "mesh-8", "mesh-2x2x8"};
}

bool is_machine(const std::string& name) {
  return known(name).has_value();
}

Result<Machine> find_machine(const std::string& name) {
  if (auto m = known(name)) {
    if (name == "spinnaker2-48") m->chips.columns.source = m->chips.rows.source = kAssumed;
    return *std::move(m);
  }
  return make_diag<DiagCode::MRV1300>(printable(name), fmt::join(machine_names(), ", "));
}

}  // namespace mrvlc::mesh
