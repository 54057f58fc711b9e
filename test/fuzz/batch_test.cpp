// Whoever looks for crashes must see them.
#include "batch.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <vector>

namespace mrvlc::fuzz {

TEST_CASE("a crash, a hang and too much memory are put down to their cases", "[batch]") {
  BatchOptions options;
  options.count = 20;
  options.jobs = 2;
  options.seconds = 0.3;
  options.max_bytes = int64_t{300} << 20;
  const BatchReport report = run_batch(
      [](uint64_t n, const std::filesystem::path&, std::string& what) {
        if (n == 3) {
          std::signal(SIGABRT, SIG_DFL);  // the test's own handler must not see it
          std::abort();
        }
        if (n == 7) {
          for (std::atomic<int> spin = 0;;) ++spin;
        }
        if (n == 11) {
          std::vector<char> much(size_t{600} << 20, 'x');
          for (std::atomic<char> last = much.back();;) last = much.front();
        }
        if (n == 15) what = "not so";
        return n == 15 ? Outcome::Wrong : n % 2 == 0 ? Outcome::Accepted : Outcome::Rejected;
      },
      options);
  CHECK(report.counts[static_cast<size_t>(Outcome::Crash)] == 1);
  CHECK(report.counts[static_cast<size_t>(Outcome::Hang)] +
            report.counts[static_cast<size_t>(Outcome::Memory)] ==
        2);
  CHECK(report.counts[static_cast<size_t>(Outcome::Accepted)] == 10);
  CHECK(report.mistakes() == 4);
  std::vector<uint64_t> cases;
  for (const Found& f : report.found) cases.push_back(f.n);
  std::sort(cases.begin(), cases.end());
  CHECK(cases == std::vector<uint64_t>{3, 7, 11, 15});
}

}  // namespace mrvlc::fuzz
