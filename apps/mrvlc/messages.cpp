// Diagnostics and progress on stderr: what --quiet and --verbose show, colours (NO_COLOR), lines of JSON.
#include "messages.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "log.h"
#include "mrvlc/driver/interrupt.h"
#include "mrvlc/support/json_document.h"

namespace mrvlc::app {
namespace {

bool shown(const Diag& d, const MessageOptions& options) {
  if (d.severity() == Severity::Error) return true;
  return !options.quiet && (d.severity() == Severity::Warning || options.verbose);
}

std::string to_line(const nlohmann::ordered_json& j) {
  return mrvlc::json_line(j);
}

std::string json_line(const std::string& file, const Diag& d) {
  constexpr const char* kNames[] = {"note", "warning", "error"};
  return to_line({{"file", printable(file, 4096)},
                  {"node", printable(d.node)},
                  {"op_type", printable(d.op_type)},
                  {"severity", kNames[static_cast<size_t>(d.severity())]},
                  {"code", diag_info(d.code).name},
                  {"message", d.message}});
}

}  // namespace

bool use_color(const MessageOptions& options) {
  if (options.color != "auto") return options.color == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && ::isatty(STDERR_FILENO) != 0;
}

std::string json_line(const std::string& file, std::string_view severity, std::string_view message) {
  return to_line({{"file", printable(file, 4096)},
                  {"node", ""},
                  {"op_type", ""},
                  {"severity", severity},
                  {"code", ""},
                  {"message", message}});
}

void print_diagnostics(const std::string& file, const Diagnostics& diagnostics,
                       const MessageOptions& options) {
  constexpr const char* kColors[] = {"\x1b[36m", "\x1b[33m", "\x1b[31m"};
  if (driver::interrupted() != 0) return;  // what failed then failed because of that; main says so
  clear_progress();
  bool color = use_color(options);
  for (const Diag& d : diagnostics.list()) {
    if (!shown(d, options)) continue;
    std::string line = options.format == "json" ? json_line(file, d) : format_diag(file, d);
    if (color && options.format != "json")
      line = kColors[static_cast<size_t>(d.severity())] + line + "\x1b[0m";
    std::fprintf(stderr, "%s\n", line.c_str());
  }
}

void print_progress(const std::string& file, const std::vector<std::string>& lines,
                    const MessageOptions& options) {
  const bool json = options.format == "json";
  const bool terminal = !json && ::isatty(STDERR_FILENO) != 0;
  if (options.quiet || !(options.verbose || terminal)) return;
  clear_progress();
  for (const std::string& line : lines)
    std::fprintf(stderr, "%s\n", (json ? json_line(file, "note", line) : printable(line, SIZE_MAX)).c_str());
}

}  // namespace mrvlc::app
