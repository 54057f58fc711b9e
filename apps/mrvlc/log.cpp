// The log of --log-level: lines with the time of day by spdlog, or JSON lines as all other messages.
#include "log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "mrvlc/support/diag/general.h"

namespace mrvlc::app {
namespace {

// In the order of LogLevel.
constexpr std::array<std::string_view, 4> kNames = {"off", "info", "debug", "trace"};
constexpr std::array kLevels = {spdlog::level::off, spdlog::level::info, spdlog::level::debug,
                                spdlog::level::trace};

std::string level_name(const MessageOptions& options) {
  if (!options.log_level.empty()) return options.log_level;
  const char* name = std::getenv("MRVLC_LOG_LEVEL");
  return name == nullptr || *name == '\0' ? "off" : name;
}

// Not among those that spdlog keeps for the whole process: it lives as long as the log.
std::shared_ptr<spdlog::logger> make_logger(const MessageOptions& options) {
  const bool json = options.format == "json";
  const bool color = !json && use_color(options);
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(color ? spdlog::color_mode::always
                                                                          : spdlog::color_mode::never);
  auto logger = std::make_shared<spdlog::logger>("mrvlc", std::move(sink));
  logger->set_level(spdlog::level::trace);
  logger->set_pattern(json ? "%v" : "[%H:%M:%S.%e] [%^%l%$] %v");
  return logger;
}

}  // namespace

Result<Log> make_log(const MessageOptions& options) {
  const std::string name = level_name(options);
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end())
    return make_diag<DiagCode::MRV0004>(fmt::format("MRVLC_LOG_LEVEL: '{}' is no level; levels are {}",
                                                    printable(name), fmt::join(kNames, ", ")));
  const auto most = static_cast<LogLevel>(found - kNames.begin());
  if (most == LogLevel::Off) return Log();
  const bool json = options.format == "json";
  return Log(most, [logger = make_logger(options), json](LogLevel level, std::string_view line) {
    const auto i = static_cast<size_t>(level);
    if (json)
      logger->log(kLevels[i], json_line("mrvlc", kNames[i], line));
    else
      logger->log(kLevels[i], line);
  });
}

}  // namespace mrvlc::app
