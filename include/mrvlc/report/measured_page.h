// report.html with times that were measured after it was written.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace mrvlc::report {

// `report`: a page made by html(), of this version or one that shows measured times; nullopt: it is none.
// `measured`: as `mrvlc profile --json` has it. The same arguments give the same bytes.
std::optional<std::string> measured_page(std::string report, const nlohmann::ordered_json& measured);

}  // namespace mrvlc::report
