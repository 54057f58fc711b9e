// What a run computed, for people: few values one by one, of many the shape and the range.
#include "run/shown_outputs.h"

#include <algorithm>
#include <cmath>

#include "mrvlc/driver/value_file.h"

namespace mrvlc::driver {
namespace {

constexpr int64_t kMostShown = 100;  // elements

std::string of_many(const Tensor& value) {
  const std::vector<double> all = value.to_doubles();
  double least = INFINITY, most = -INFINITY;
  size_t not_finite = 0;  // they are in no range
  for (const double v : all) {
    not_finite += std::isfinite(v) ? 0 : 1;
    if (std::isfinite(v)) least = std::min(least, v), most = std::max(most, v);
  }
  const std::string range = least <= most ? fmt::format(" from {:.6g} to {:.6g}", least, most) : "";
  return fmt::format("{}{}{}; --output-dir DIR writes them", to_string(value.type()), range,
                     not_finite == 0 ? "" : fmt::format(", {} not finite", not_finite));
}

}  // namespace

Result<std::string> shown_outputs(const OutputFolder& folder, const std::filesystem::path& results) {
  std::string text;
  for (const Port& port : folder.outputs) {
    const bool json = needs_json(port.type);
    MRVLC_ASSIGN(Tensor value,
                 read_value(results / (port.file + (json ? ".json" : ".npy")), port.type.wrapper));
    value = as_declared(std::move(value), port.type);
    const bool plain = !json && value.type().wrapper == Wrapper::None;
    std::string shown =
        plain && value.elements() > kMostShown ? of_many(value) : to_value_json(value, port.type);
    shown.erase(std::remove(shown.begin(), shown.end(), '\n'), shown.end());
    text += fmt::format("{}: {}\n", port.name, shown);
  }
  return text;
}

}  // namespace mrvlc::driver
