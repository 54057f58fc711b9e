// What the generated program does about faults: a device that fails, values that leave their format.
#include <charconv>

#include "compile_options.h"
#include "mrvlc/support/characters.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::app {
namespace {

constexpr uint32_t kMostRetries = 1000;

// "retry" or "retry:N".
std::optional<uint32_t> read_retries(std::string_view word) {
  if (word == "retry") return 1;
  constexpr std::string_view kCounted = "retry:";
  if (!word.starts_with(kCounted)) return std::nullopt;
  uint32_t n = 0;
  const char* const end = word.data() + word.size();
  const auto [past, error] = std::from_chars(word.data() + kCounted.size(), end, n);
  return error == std::errc() && past == end && n >= 1 && n <= kMostRetries ? std::optional(n) : std::nullopt;
}

Result<chost::OnDeviceError> read_policy(const std::string& text) {
  const std::vector<std::string> words = CLI::detail::split(text, ',');
  const Diag wrong = make_diag<DiagCode::MRV0004>(
      fmt::format("--on-device-error: '{}' is none of error, retry, retry:N (N up to {}), cpu, or a retry "
                  "and cpu with a comma between",
                  printable(text), kMostRetries));
  chost::OnDeviceError policy;
  if (words.size() == 1 && words[0] == "error") return policy;
  if (words.empty() || words.size() > 2 || (words.size() == 2 && words[1] != "cpu")) return wrong;
  policy.cpu = words.back() == "cpu";
  if (policy.cpu && words.size() == 1) return policy;
  const auto retries = read_retries(words[0]);
  if (!retries) return wrong;
  policy.retries = *retries;
  return policy;
}

}  // namespace

void add_fault_options(CLI::App& cmd, CompileArguments& a) {
  cmd.add_option(
         "--on-overflow", a.on_overflow,
         "what NAME_run does when values leave fp16 on the device: report it in the error structure, return "
         "an error, or compute the region on the cpu (report)")
      ->type_name("report|error|cpu")
      ->check(CLI::IsMember({"report", "error", "cpu"}).description(""));
  cmd.add_option("--on-device-error", a.on_device_error,
                 "what NAME_run does when the device fails: return an error, run the region again (retry: "
                 "once, retry:N: up to N times), compute it on the cpu, or 'retry,cpu' (error)")
      ->type_name("error|retry[:N]|cpu");
}

Status read_fault_options(const CompileArguments& a, driver::CompileOptions& o) {
  o.on_overflow = a.on_overflow == "cpu"     ? chost::OnOverflow::Cpu
                  : a.on_overflow == "error" ? chost::OnOverflow::Error
                                             : chost::OnOverflow::Report;
  MRVLC_ASSIGN(o.on_device_error, read_policy(a.on_device_error));
  return {};
}

}  // namespace mrvlc::app
