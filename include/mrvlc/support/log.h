// What the compiler tells of its own work: to look for the cause of a decision or of a time. Never what a
// user must read (that is a diagnostic), and never part of OUT. Whoever tells something is handed a Log;
// there is no global one, and who writes the lines is not known here.
#pragma once
#include <fmt/format.h>

#include <functional>
#include <string_view>

namespace mrvlc {

// A level shows what those before it show, too.
enum class LogLevel : uint8_t { Off, Info, Debug, Trace };

class Log {
 public:
  // Gets one line at a time, from any thread. Names of a model are printable already (diag.h).
  using Sink = std::function<void(LogLevel, std::string_view)>;

  Log() = default;  // says nothing
  Log(LogLevel most, Sink sink) : most_(most), sink_(std::move(sink)) {}

  // For what costs something to find out.
  bool shows(LogLevel level) const { return level <= most_; }

  template <class... Args>
  void info(fmt::format_string<Args...> text, Args&&... args) const {
    line(LogLevel::Info, text, fmt::make_format_args(args...));
  }
  template <class... Args>
  void debug(fmt::format_string<Args...> text, Args&&... args) const {
    line(LogLevel::Debug, text, fmt::make_format_args(args...));
  }
  template <class... Args>
  void trace(fmt::format_string<Args...> text, Args&&... args) const {
    line(LogLevel::Trace, text, fmt::make_format_args(args...));
  }

 private:
  void line(LogLevel level, fmt::string_view text, fmt::format_args args) const {
    if (shows(level)) sink_(level, fmt::vformat(text, args));
  }

  LogLevel most_ = LogLevel::Off;
  Sink sink_;
};

}  // namespace mrvlc
