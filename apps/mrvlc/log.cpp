// The log of --log-level: lines with the time of day by spdlog, or JSON lines as all other messages.
#include "log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "mrvlc/support/diag/general.h"

namespace mrvlc::app {
namespace {

// In the order of LogLevel.
constexpr std::array<std::string_view, 4> kNames = {"off", "info", "debug", "trace"};
constexpr std::array kLevels = {spdlog::level::off, spdlog::level::info, spdlog::level::debug,
                                spdlog::level::trace};

constexpr std::string_view kPhase = "phase ";
std::atomic<bool> progress_shown = false;  // on the last line of the terminal

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

// On a terminal: which phase is done, once a compile has taken longer than a second.
Log progress_log() {
  const auto begin = std::chrono::steady_clock::now();
  return Log(LogLevel::Info, [begin](LogLevel, std::string_view line) {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin;
    if (since.count() < 1 || !line.starts_with(kPhase)) return;
    const std::string_view phase = line.substr(kPhase.size(), line.find(':') - kPhase.size());
    std::fprintf(stderr, "\r%5.1f s, %.*s is done\x1b[K", since.count(), static_cast<int>(phase.size()),
                 phase.data());
    progress_shown = true;
  });
}

}  // namespace

void clear_progress() {
  if (progress_shown.exchange(false)) std::fputs("\r\x1b[K", stderr);
}

Result<Log> make_log(const MessageOptions& options) {
  const std::string name = level_name(options);
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end())
    return make_diag<DiagCode::MRV0004>(fmt::format("MRVLC_LOG_LEVEL: '{}' is no level; levels are {}",
                                                    printable(name), fmt::join(kNames, ", ")));
  const auto most = static_cast<LogLevel>(found - kNames.begin());
  if (most == LogLevel::Off)
    return options.format == "text" && !options.quiet && ::isatty(STDERR_FILENO) != 0 ? progress_log()
                                                                                      : Log();
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
