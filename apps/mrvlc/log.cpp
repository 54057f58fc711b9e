// The log of --log-level: lines with the time of day by spdlog, or JSON lines as all other messages.
#include "log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>

#include "mrvlc/support/diag/general.h"

namespace mrvlc::app {
namespace {

// In the order of LogLevel.
constexpr std::array<std::string_view, 4> kNames = {"off", "info", "debug", "trace"};
constexpr std::array kLevels = {spdlog::level::off, spdlog::level::info, spdlog::level::debug,
                                spdlog::level::trace};

constexpr std::string_view kPhase = "phase ";
// Of the last line of the terminal: it is there; a compile goes on, so that it may be.
std::mutex progress_mutex;
bool progress_shown = false, progress_wanted = false;

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

// The phases of a compile, in their order. One that runs for every region is one here.
constexpr auto kOrder =
    std::to_array<std::string_view>({"options", "import", "options", "rules", "passes", "partition", "probe",
                                     "host", "codegen", "simulate", "probe", "host", "hash", "write"});

// On a terminal, once a compile has taken two seconds: the phase it is in, and how many of them are behind
// it. A thread renews the line, since a phase may be long.
class PhaseLine {
 public:
  PhaseLine() : thread_([this](const std::stop_token& stop) { show_until(stop); }) {}
  ~PhaseLine() {
    thread_.request_stop();
    wake_.notify_all();
  }
  PhaseLine(const PhaseLine&) = delete;
  PhaseLine& operator=(const PhaseLine&) = delete;

  // What PhaseTimer says when a phase is done.
  void take(std::string_view line) {
    if (!line.starts_with(kPhase)) return;
    const std::string_view phase = line.substr(kPhase.size(), line.find(':') - kPhase.size());
    const std::scoped_lock lock(mutex_, progress_mutex);
    progress_wanted = true;
    const auto from = kOrder.begin() + static_cast<std::ptrdiff_t>(done_ == 0 ? 0 : done_ - 1);
    auto found = std::find(from, kOrder.end(), phase);
    // A phase once more is another region; one that was long ago is another compile of the same command.
    if (found == kOrder.end()) found = std::find(kOrder.begin(), kOrder.end(), phase);
    if (found == kOrder.end()) return;
    const auto at = static_cast<size_t>(found - kOrder.begin()) + 1;
    times_ = at == done_ ? times_ + 1 : 1;
    done_ = at;
    if (done_ == kOrder.size()) progress_wanted = false;
  }

 private:
  void show_until(const std::stop_token& stop) {
    constexpr std::chrono::milliseconds kFirst(2000), kNext(500);
    std::unique_lock lock(mutex_);
    for (auto wait = kFirst; !wake_.wait_for(lock, stop, wait, [&] { return stop.stop_requested(); });
         wait = kNext) {
      const std::lock_guard terminal(progress_mutex);
      if (!progress_wanted) continue;
      const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin_;
      const bool again = kOrder[done_ - 1] == kRegions;
      const std::string_view phase = again ? kRegions : kOrder[done_];
      std::fprintf(stderr, "\r%5.1f s, %2zu %%, %.*s%s\x1b[K", since.count(), done_ * 100 / kOrder.size(),
                   static_cast<int>(phase.size()), phase.data(),
                   again ? fmt::format(", {} region{} done", times_, times_ == 1 ? "" : "s").c_str() : "");
      progress_shown = true;
    }
  }

  static constexpr std::string_view kRegions = "codegen";
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable_any wake_;
  size_t done_ = 0, times_ = 1;
  std::jthread thread_;  // last: it uses the others
};

Log progress_log() {
  return Log(LogLevel::Info,
             [line = std::make_shared<PhaseLine>()](LogLevel, std::string_view text) { line->take(text); });
}

}  // namespace

void clear_progress() {
  const std::lock_guard lock(progress_mutex);
  if (progress_shown) std::fputs("\r\x1b[K", stderr);
  progress_shown = progress_wanted = false;  // until a compile says more
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
      logger->log(kLevels[i], printable(line, SIZE_MAX));
  });
}

}  // namespace mrvlc::app
