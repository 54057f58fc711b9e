// Instructions of a region as its plug-in says them; else whose they are, and the bytes.
#include <algorithm>

#include "mrvlc/plugin/call.h"
#include "mrvlc/support/diag/target.h"
#include "plugin.h"

namespace mrvlc::backends {
namespace {

constexpr uint32_t kMostListed = 1u << 20;  // instructions of a region

std::string head_of(const plugin::File& file) {
  return fmt::format("; of a plug-in: {} inputs, {} outputs, {} B\nsection main\n", file.inputs.size(),
                     file.outputs.size(), file.bytes.size());
}

class Listing {
 public:
  Listing(const plugin::Plugin& plugin, const std::string& target, const plugin::File& file)
      : plugin_(plugin), target_(target), file_(file) {}

  Result<std::string> run(const std::vector<backend::CodeRange>& ranges) {
    out_ = head_of(file_);
    for (const backend::CodeRange& r : ranges) {
      const uint32_t end = std::min(r.end, kMostListed);
      MRVLC_TRY(list(r, end));
      if (end < r.end) return out_ + "; more instructions are not listed\n";
    }
    return std::move(out_);
  }

 private:
  // One guard for all of a range: a call for each of a million instructions would take long.
  Status list(const backend::CodeRange& r, uint32_t end) {
    uint32_t i = r.begin;
    int code = 0;
    std::string fault;
    {
      const plugin::Call guest(target_, "disassemble");
      for (; i < end; ++i) {
        fault = add(r, i, code);
        if (code != 0 || !fault.empty()) break;
      }
    }
    if (fault.empty() && code == 0) return {};
    fault = fault.empty() ? fmt::format("fails at instruction {}: {}", i, plugin_.said(code))
                          : fmt::format("{} instruction {}", fault, i);
    return make_diag<DiagCode::MRV0356>(printable(target_), "disassemble", fault);
  }

  // Empty, or what it does that it must not.
  std::string add(const backend::CodeRange& r, uint32_t i, int& code) {
    constexpr size_t kRoom = 512, kGuard = 64;
    constexpr char kMark = 0x5b;
    std::string memory(kRoom + kGuard, kMark);
    const mrvl_plugin& table = plugin_.table();
    code = table.disassemble(table.context, file_.bytes.data(), file_.bytes.size(), i, memory.data(), kRoom);
    if (memory.find_first_not_of(kMark, kRoom) != std::string::npos) return "writes beyond its text of";
    const size_t end = memory.find('\0');
    if (code == 0 && end >= kRoom) return "writes no end of its text of";
    if (code == 0)
      out_ += fmt::format("{:6}  {:<8} {}\n", i, fmt::format("e{}", r.expr.index()),
                          printable(std::string_view(memory).substr(0, end), kRoom));
    return {};
  }

  const plugin::Plugin& plugin_;
  const std::string& target_;
  const plugin::File& file_;
  std::string out_;
};

}  // namespace

Result<std::string> plugin_disassembly(std::string_view binary,
                                       const std::vector<backend::CodeRange>& ranges) {
  constexpr size_t kRow = 16;
  MRVLC_ASSIGN(const plugin::File file, plugin::read_file(binary));
  std::string out = head_of(file);
  for (const backend::CodeRange& r : ranges)
    out += fmt::format("{:6} to {:<6} e{}\n", r.begin, r.end - 1, r.expr.index());
  out += "bytes\n";
  for (size_t at = 0; at < file.bytes.size(); ++at) {
    if (at % kRow == 0) out += fmt::format("{}{:06x} ", at == 0 ? "" : "\n", at);
    out += fmt::format(" {:02x}", static_cast<uint8_t>(file.bytes[at]));
  }
  return out + "\n";
}

Result<std::string> plugin_listing(const plugin::Plugin& plugin, const std::string& target,
                                   std::string_view binary, const std::vector<backend::CodeRange>& ranges) {
  if (plugin.table().disassemble == nullptr) return plugin_disassembly(binary, ranges);
  MRVLC_ASSIGN(const plugin::File file, plugin::read_file(binary));
  return Listing(plugin, target, file).run(ranges);
}

}  // namespace mrvlc::backends
