// Diagnostics are data: a stable code, a severity, the ONNX node it is about, a text. Each component's are in
// a file of their own in mrvlc/support/diag/, so that a new one rebuilds that component only; diag/all.h has
// them all.
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace mrvlc {

enum class Severity : uint8_t { Note, Warning, Error };
// Which exit code of the command line an error of this kind leads to.
enum class ExitClass : uint8_t { Rejected = 1, Usage = 2, Io = 3, Limit = 4, Gate = 5, Internal = 70 };

struct DiagInfo {
  std::string_view name;  // "MRV0312"
  Severity severity;
  ExitClass exit_class;
  std::string_view text;  // fmt format string
};

// Identity is the address: there is one DiagInfo a code.
using DiagId = const DiagInfo*;
constexpr const DiagInfo& diag_info(DiagId id) {
  return *id;
}

// MRVLC_DIAG(code, severity, exit class, text), inside namespace mrvlc::DiagCode, defines DiagCode::MRVcode.
// Codes are stable: never renumbered, never reused. Exit classes are those of the command line contract.
#define MRVLC_DIAG(code, severity, exit_class, text)                                                      \
  inline constexpr DiagInfo kInfo##code = {"MRV" #code, Severity::severity, ExitClass::exit_class, text}; \
  inline constexpr DiagId MRV##code = &kInfo##code;

struct Diag {
  DiagId code;
  std::string message;
  std::string node;     // the ONNX node's name, or empty when the diagnostic is about the file
  std::string op_type;  // its operator

  Severity severity() const { return diag_info(code).severity; }
  ExitClass exit_class() const { return diag_info(code).exit_class; }
};

// Places for arguments in the text of a diagnostic, "{}" or "{:.3g}"; braces that are text are doubled.
constexpr size_t places_in(std::string_view text) {
  size_t places = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{') continue;
    if (i + 1 < text.size() && text[i + 1] == '{')
      ++i;
    else
      ++places;
  }
  return places;
}

// make_diag<DiagCode::MRV0201>(2, 3): the arguments are checked against the text at compile time, their
// number too: fmt itself lets one too many pass.
template <DiagId Id, class... Args>
Diag make_diag(Args&&... args) {
  static_assert(places_in(Id->text) == sizeof...(Args));
  return Diag{Id, fmt::format(fmt::format_string<Args...>(Id->text), std::forward<Args>(args)...), {}, {}};
}

inline Diag at_node(Diag diag, std::string_view node, std::string_view op_type) {
  if (diag.node.empty()) diag.node = node;
  if (diag.op_type.empty()) diag.op_type = op_type;
  return diag;
}

// "model.onnx: node 'conv_7' (Conv): error MRV0312: dilation 4, the target takes at most 2".
// Control characters and bidirectional marks in names are escaped.
std::string format_diag(std::string_view file, const Diag& diag);

// Printable form of a name that came from a model: control characters, invalid UTF-8 and bidirectional marks
// as \xNN or \u{...}, at most `max_bytes` bytes of it.
std::string printable(std::string_view name, size_t max_bytes = 200);

class Diagnostics {
 public:
  void add(Diag diag) { list_.push_back(std::move(diag)); }
  const std::vector<Diag>& list() const { return list_; }
  bool has_errors() const;
  // Exit code of the first error; 0 without errors.
  int exit_code() const;

 private:
  std::vector<Diag> list_;
};

}  // namespace mrvlc
