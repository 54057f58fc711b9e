// Fields of a machine that are whole numbers: their bounds, what they must be together, other values for
// them.
#include "number_fields.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/nearest.h"

namespace mrvlc::target {
namespace {

// No binary's cycles depend on these: they say which binaries there can be.
constexpr std::string_view kNotTimed[] = {"max_tiles",  "ocm_bytes", "ocm_alignment",
                                          "max_layers", "max_ports", "max_batch"};
constexpr std::string_view kConservative = "conservative";

std::vector<std::string_view> timed_fields() {
  std::vector<std::string_view> out;
  for (const NumberField& f : kNumbers)
    if (std::ranges::find(kNotTimed, f.name) == std::end(kNotTimed)) out.push_back(f.name);
  return out;
}

// "FIELD=VALUE"; what is wrong with it.
std::string change(Machine& machine, std::string_view one) {
  if (one == kConservative) {
    machine = pessimistic(machine);
    return {};
  }
  const size_t equals = one.find('=');
  if (equals == std::string_view::npos)
    return fmt::format("'{}' is neither FIELD=VALUE nor '{}'", printable(one), kConservative);
  const std::string_view name = one.substr(0, equals), text = one.substr(equals + 1);
  const std::vector<std::string_view> known = timed_fields();
  if (std::ranges::find(kNotTimed, name) != std::end(kNotTimed))
    return fmt::format("the cycles of a binary do not depend on '{}'; they do on {}", name,
                       fmt::join(known, ", "));
  if (std::ranges::find(known, name) == known.end()) {
    const std::string meant = did_you_mean(name, known);
    return fmt::format("there is no field '{}'{}", printable(name),
                       meant.empty() ? fmt::format("; fields are {}", fmt::join(known, ", ")) : meant);
  }
  const NumberField& field = *number_field(name);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return fmt::format("'{}' of '{}' is not a whole number", printable(text), name);
  const std::string wrong = out_of_bounds(field, value);
  if (!wrong.empty()) return fmt::format("'{}' {}", name, wrong);
  machine.*field.member = static_cast<uint32_t>(value);
  return {};
}

}  // namespace

const NumberField* number_field(std::string_view name) {
  const auto* known = std::ranges::find(kNumbers, name, &NumberField::name);
  return known == std::end(kNumbers) ? nullptr : known;
}

std::string out_of_bounds(const NumberField& field, uint64_t value) {
  if (value >= field.min && value <= field.max) return {};
  return fmt::format("is {}; it must be between {} and {}", value, field.min, field.max);
}

std::optional<FieldFault> inconsistency(const Machine& machine) {
  if (machine.tile_counts.back() > machine.max_tiles) return FieldFault{"tile_counts", "exceeds max_tiles"};
  if ((machine.ocm_alignment & (machine.ocm_alignment - 1)) != 0)
    return FieldFault{"ocm_alignment", "is not a power of two"};
  // What the matrix unit takes at a time.
  constexpr uint32_t kBlock = 16;
  if (machine.ocm_bytes % kBlock != 0) return FieldFault{"ocm_bytes", "is no multiple of 16"};
  if (machine.accumulator_pixels % kBlock != 0)
    return FieldFault{"accumulator_pixels", "is no multiple of 16"};
  // What a layer needs at once: inputs, weights, results, each twice, and tables.
  constexpr uint32_t kLeastBuffers = 16;
  for (const Machine& m : {machine, pessimistic(machine)}) {
    if (m.ocm_bytes / m.ocm_alignment < kLeastBuffers)
      return FieldFault{"ocm_bytes",
                        fmt::format("holds no {} buffers of ocm_alignment bytes", kLeastBuffers)};
    if (m.fetch_buffer != 0 && m.fetch_buffer < kLeastFetchBuffer)
      return FieldFault{"fetch_buffer", fmt::format("is below {} bytes", kLeastFetchBuffer)};
  }
  return std::nullopt;
}

Machine pessimistic(const Machine& machine) {
  Machine out = machine;
  for (const auto& [member, value] : machine.doubts) out.*member = value;
  return out;
}

Result<Machine> changed(Machine machine, std::string_view changes, std::string_view option) {
  const auto refused = [&](std::string_view why) {
    return make_diag<DiagCode::MRV0004>(fmt::format("{}: {}", option, why));
  };
  std::set<std::string_view> seen;
  for (size_t at = 0; at <= changes.size();) {
    const size_t comma = std::min(changes.find(',', at), changes.size());
    const std::string_view one = changes.substr(at, comma - at);
    const std::string_view name = one.substr(0, one.find('='));
    if (!seen.insert(name).second) return refused(fmt::format("'{}' is given twice", printable(name)));
    const std::string wrong = change(machine, one);
    if (!wrong.empty()) return refused(wrong);
    at = comma + 1;
  }
  machine.doubts.clear();  // they are of the machine that was asked about no more
  const std::optional<FieldFault> fault = inconsistency(machine);
  if (fault) return refused(fmt::format("'{}' {}", fault->field, fault->what));
  return machine;
}

}  // namespace mrvlc::target
