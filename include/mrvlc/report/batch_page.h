// batch.html of `mrvlc batch`: the summary as a page, one file that needs no network.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace mrvlc::report {

// `summary`: batch.json (docs/schemas/batch.schema.json). Texts may hold anything. The same summary gives the
// same bytes.
std::string batch_page(const nlohmann::ordered_json& summary);

}  // namespace mrvlc::report
