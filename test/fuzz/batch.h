// Runs cases by number in processes of their own, so that a crash, a hang or too much memory is put down to
// the case that did it.
#pragma once
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace mrvlc::fuzz {

enum class Outcome : uint8_t {
  Accepted,
  Rejected,  // exit code 1
  Usage,     // 2
  Io,        // 3
  Limit,     // 4
  Gate,      // 5
  // From here on each one is a mistake of the compiler.
  Internal,  // 70
  Wrong,     // e.g. a graph that the verifier does not like
  Crash,
  Hang,
  Memory
};
inline constexpr size_t kOutcomes = 11;
const char* to_string(Outcome outcome);

struct Found {
  uint64_t n = 0;
  Outcome outcome = Outcome::Crash;
  std::string what;
};

// What a case has to say of a mistake goes to `what`; of one that is none, words to be counted.
using Case = std::function<Outcome(uint64_t n, const std::filesystem::path& folder, std::string& what)>;

struct BatchOptions {
  uint64_t first = 0, count = 0;
  unsigned jobs = 1;
  double seconds = 10;                   // of processor time for a case
  int64_t max_bytes = int64_t{2} << 30;  // resident memory of the process
  bool progress = false;
};

struct BatchReport {
  std::array<uint64_t, kOutcomes> counts{};
  std::vector<Found> found;
  std::map<std::string, uint64_t> words;
  int64_t peak_bytes = 0;
  uint64_t peak_case = 0;
  double slowest_seconds = 0;
  uint64_t slowest_case = 0;

  uint64_t mistakes() const;
};

// " accepted 3 rejected 1 ...", and "at most ... MiB ... mistakes: 0" with what a case is called.
std::string outcomes_text(const BatchReport& report);
std::string extremes_text(const BatchReport& report, std::string_view one);

BatchReport run_batch(const Case& one, const BatchOptions& options);

}  // namespace mrvlc::fuzz
