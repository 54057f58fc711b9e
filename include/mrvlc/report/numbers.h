// Numbers as people read them, in reports and pages. page/format.js has the same for what scripts draw.
#pragma once
#include <cstdint>
#include <string>

namespace mrvlc::report {

// "1.24 ms", "340.0 µs", "-2.00 s".
std::string duration(double seconds);
// "512 B", "6.2 KiB", "1.50 MiB"; multiples of 1024.
std::string bytes_text(int64_t bytes);
// "1 265 280", with narrow spaces.
std::string grouped(int64_t number);

}  // namespace mrvlc::report
