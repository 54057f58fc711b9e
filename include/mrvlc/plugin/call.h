// A plug-in is a guest in this process: what its functions change of it is put back when they return, and
// what they end it in is known.
#pragma once
#include <cfenv>
#include <string>
#include <string_view>

namespace mrvlc::plugin {

// While one lives, code of a plug-in runs: its library is loaded, or a function of its table is called.
// Behind it roundings, flushing to zero, the locale, the working folder, handlers of SIGINT and SIGTERM, and
// stdout and stderr are as they were; what the plug-in prints to stdout goes to stderr.
class Call {
 public:
  // Shown in messages: the target, "load" or the name of the function, and the ONNX node it is asked of with
  // its operator.
  Call(std::string_view target, std::string_view function, std::string_view node = {},
       std::string_view op = {});
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  std::fenv_t environment_;
  std::string locale_;
  int folder_ = -1;
};

// What runs now; empty names where no call does. Lies in memory that is shared with who watches over it.
struct Running {
  bool inside = false;
  long long since = 0;  // seconds of the monotonic clock
  char target[80] = {}, function[24] = {}, node[200] = {}, op[48] = {};
};

}  // namespace mrvlc::plugin
