#include "mrvlc/report/batch_page.h"

#include <nlohmann/json.hpp>

#include "page.h"

namespace mrvlc::report {

std::string batch_page(const nlohmann::ordered_json& summary) {
  std::string data;
  // Outside of texts JSON has none of these; in them they would end the element that holds the data.
  for (const char c : summary.dump()) {
    if (c == '<' || c == '>' || c == '&')
      data += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : "\\u0026";
    else
      data += c;
  }
  return page_with(kBatchPage, data);
}

}  // namespace mrvlc::report
