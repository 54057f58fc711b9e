// The page of a batch with batch.json in its script.
#include "mrvlc/report/batch_page.h"

#include <nlohmann/json.hpp>

#include "mrvlc/support/json_document.h"
#include "pack.h"
#include "page.h"

namespace mrvlc::report {

std::string batch_page(const nlohmann::ordered_json& summary) {
  return page_with(kBatchPage, script_json(json_line(summary)));
}

}  // namespace mrvlc::report
