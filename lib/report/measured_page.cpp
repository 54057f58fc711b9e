// The page's script shows what stands under "measured" in its data, and nothing where there is none.
#include "mrvlc/report/measured_page.h"

#include "mrvlc/support/json_document.h"
#include "pack.h"

namespace mrvlc::report {

std::optional<std::string> measured_page(std::string report, const nlohmann::ordered_json& measured) {
  constexpr std::string_view kSection = "<section id=\"measured\"";
  constexpr std::string_view kData = "id=\"data\">{\"schema\":\"mrvlc-page-1\"";
  const size_t section = report.find(kSection), data = report.rfind(kData);
  if (section == report.npos || data == report.npos) return std::nullopt;
  report.insert(data + kData.size(), ",\"measured\":" + script_json(json_line(measured)));
  return report;
}

}  // namespace mrvlc::report
