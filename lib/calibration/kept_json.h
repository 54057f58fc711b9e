// The samples that a calibration file holds, as JSON; docs/calibration.md.
#pragma once
#include "mrvlc/calibration/observe.h"
#include "reader.h"

namespace mrvlc::calibration {

// Characters that the elements of a tensor take in the file.
size_t encoded_size(const Tensor& tensor);

Json kept_json(const std::vector<KeptSample>& kept);
// Of `of`, whose values are known. Null: none. What is wrong is said to `r`.
std::vector<KeptSample> read_kept(const Json& json, const Calibration& of, Reader& r);

}  // namespace mrvlc::calibration
