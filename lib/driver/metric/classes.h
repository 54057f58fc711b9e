// Metrics of classes: shares of right answers, overlap of areas.
#pragma once
#include "mrvlc/quantize/quantize.h"

namespace mrvlc::driver {

// By sample, what is right; its first output's classes, row after row.
using Classes = std::vector<int64_t>;

// The largest element along the last dimension, of each row.
Result<Classes> rows_of(const Tensor& output);
// Of an output N x C x ...: for each element of N x ... the largest of C. Of one channel: 1 where it is above
// the middle, .5 of values between 0 and 1, else 0.
Result<Classes> areas_of(const Tensor& output);

// The share that is the same.
double top1(const std::vector<Classes>& actual, const std::vector<Classes>& right);
// Mean over the classes, of those that occur, of intersection over union in all samples together.
double mean_iou(const std::vector<Classes>& actual, const std::vector<Classes>& right);

}  // namespace mrvlc::driver
