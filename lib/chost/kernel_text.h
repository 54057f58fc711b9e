// The files of kernels/, and the headers of include/mrvl that generated C may include, compiled in as text.
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
// Named as they are included: "mrvl/device.h".
extern const KernelText kHeaderTexts[];
extern const size_t kHeaderTextCount;

}  // namespace mrvlc::chost
