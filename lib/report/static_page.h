// Pages without a script.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mrvlc::report {

// `main`: HTML; title and summary are texts.
std::string static_page(std::string_view title, std::string_view summary, std::string_view style,
                        std::string_view main);
// <tr> of <th>; `numbers`: from and to, columns that are aligned to the right, of class n.
std::string table_head(const std::vector<std::string_view>& columns,
                       std::pair<size_t, size_t> numbers = {0, 0});

}  // namespace mrvlc::report
