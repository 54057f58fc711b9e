// Messages to stderr: as text with colour, or one JSON object a line.
#pragma once
#include <string>
#include <vector>

#include "mrvlc/support/diag.h"

namespace mrvlc::app {

struct MessageOptions {
  std::string format = "text";  // text, json
  std::string color = "auto";   // auto, always, never; NO_COLOR wins over auto
  bool quiet = false;           // errors only
  bool verbose = false;         // notes too
  std::string log_level;        // off, info, debug, trace; empty: off
};

bool use_color(const MessageOptions& options);
// A line of `--log-format json` about no node.
std::string json_line(const std::string& file, std::string_view severity, std::string_view message);
void print_diagnostics(const std::string& file, const Diagnostics& diagnostics,
                       const MessageOptions& options);
// Lines that tell how it went: on a terminal, or with -v; never with -q.
void print_progress(const std::string& file, const std::vector<std::string>& lines,
                    const MessageOptions& options);
inline void print_error(const std::string& file, const Diag& diag, const MessageOptions& options) {
  Diagnostics list;
  list.add(diag);
  print_diagnostics(file, list, options);
}

}  // namespace mrvlc::app
