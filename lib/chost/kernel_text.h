// The files of kernels/, compiled in as text.
#pragma once
#include <cstddef>
#include <iterator>
#include <string_view>

namespace mrvlc::chost {

struct KernelText {
  std::string_view name, code;
};
extern const KernelText kKernelTexts[];
extern const size_t kKernelTextCount;

}  // namespace mrvlc::chost
