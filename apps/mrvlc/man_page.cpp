// mrvlc(1), of the commands and options as the parser knows them.
#include "command_table.h"

namespace mrvlc::app {
namespace {

// Backslashes and hyphens mean something to troff, and so do dots and quotes that begin a line.
std::string troff(const std::string& text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
  for (char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string option_text(const OptionEntry& o) {
  const std::string names = CLI::detail::join(o.names, ", ");
  const std::string argument = o.argument.empty() ? "" : " \\fI" + troff(o.argument) + "\\fR";
  return ".TP\n\\fB" + troff(names) + "\\fR" + argument + "\n" + troff(o.text) + "\n";
}

std::string synopsis(const CommandEntry& c) {
  std::string text = "\\fB" + troff(c.path) + "\\fR [OPTIONS]";
  for (const std::string& operand : c.operands) text += " \\fI" + troff(operand) + "\\fR";
  return text;
}

}  // namespace

std::string man_page(const std::vector<CommandEntry>& table) {
  std::string out =
      ".TH MRVLC 1\n.SH NAME\nmrvlc \\- " + troff(table.front().text) +
      "\n.SH SYNOPSIS\n\\fBmrvlc\\fR \\fICOMMAND\\fR [OPTIONS] ...\n.SH OPTIONS OF ALL COMMANDS\n";
  for (const OptionEntry& o : table.front().options) out += option_text(o);
  out += ".SH COMMANDS\n";
  for (const CommandEntry& c : table) {
    if (&c == &table.front()) continue;
    out += ".SS " + synopsis(c) + "\n" + troff(c.text) + "\n";
    for (const OptionEntry& o : c.options)
      if (o.names.back() != "--help") out += option_text(o);
  }
  return out +
         ".SH EXIT STATUS\n0 done; 1 model rejected; 2 usage; 3 input/output; 4 a limit was exceeded; 5 a "
         "comparison or a gate failed; 70 internal error; 130 interrupted; 141 stdout was closed.\n"
         ".SH EXAMPLES\n.nf\nmrvlc compile model.onnx \\-o out\n"
         "mrvlc run out \\-\\-input image=x.npy \\-\\-output\\-dir results\nmrvlc explain MRV0131\n.fi\n";
}

}  // namespace mrvlc::app
