// Errors as calibration files have them.
#pragma once

namespace mrvlc::calibration {

// To three digits: others depend on the machine. kInfinite where it is not finite.
double to_three_digits(double error);

}  // namespace mrvlc::calibration
