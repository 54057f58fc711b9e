// The metric of `mrvlc quantize --metric`: what the user judges a network by (docs/quantization.md).
#pragma once
#include <filesystem>
#include <string>

#include "mrvlc/quantize/quantize.h"

namespace mrvlc::driver {

// `name`: "top1", "iou", or a command for sh, which gets a folder of outputs as its argument and prints a
// number. `labels`: .npy file, a label or a mask of integers for each sample; empty: what the network in
// floats says is right. Errors: the file cannot be read; MRV0952: it holds no integers, or a command is given
// labels; MRV0004: `max_drop` is neither empty nor a share ("0.5%", "0.005"), or of a command a number. The
// metric itself ends with MRV0952 where outputs have no form that it takes.
Result<quantize::Metric> make_metric(const std::string& name, const std::filesystem::path& labels,
                                     const std::string& max_drop);

}  // namespace mrvlc::driver
