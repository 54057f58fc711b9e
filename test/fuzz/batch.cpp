#include "batch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>
#include <sstream>

namespace mrvlc::fuzz {
namespace fs = std::filesystem;

namespace {

constexpr uint64_t kChunk = 500;
constexpr double kWallFactor = 12;  // a case that waits for something is a hang too

double seconds_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// In memory that parent and worker share.
struct Slot {
  std::atomic<uint64_t> current{0};
  std::atomic<double> cpu_at_start{0}, wall_at_start{0};
  uint64_t counts[kOutcomes] = {};
  int64_t peak_bytes = 0;
  uint64_t peak_case = 0, slowest_case = 0;
  double slowest = 0;
  uint64_t found[64] = {};
  uint8_t found_outcome[64] = {};
  char found_what[64][400] = {};
  size_t found_count = 0;
  struct Word {
    char text[32];
    uint64_t count;
  };
  Word words[64] = {};

  void count(const std::string& list) {
    std::istringstream text(list);
    for (std::string word; text >> word;)
      for (Word& w : words) {
        if (w.count == 0) std::snprintf(w.text, sizeof w.text, "%s", word.c_str());
        if (word.compare(0, sizeof w.text - 1, w.text) != 0) continue;
        ++w.count;
        break;
      }
  }
};

int64_t resident_peak() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  }
  return 0;
}

void forget_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

int64_t resident_now(pid_t pid) {
  std::ifstream statm("/proc/" + std::to_string(pid) + "/statm");
  int64_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

Outcome guarded(const Case& one, uint64_t n, const fs::path& folder, std::string& what) {
  try {
    return one(n, folder, what);
  } catch (const std::bad_alloc&) {
    what = "out of memory";
    return Outcome::Memory;
  } catch (const std::exception& e) {
    what = e.what();
    return Outcome::Crash;
  }
}

class Worker {
 public:
  Worker(const Case& one, const BatchOptions& options) : one_(one), options_(options) {
    void* memory = mmap(nullptr, sizeof(Slot), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    slot_ = new (memory) Slot;
    std::string pattern = (fs::temp_directory_path() / "mrvlc-mutate-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::perror("mkdtemp");
    folder_ = pattern;
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    munmap(slot_, sizeof(Slot));
    std::error_code ec;
    fs::remove_all(folder_, ec);
  }

  bool idle() const { return pid_ < 0; }
  Slot& slot() { return *slot_; }

  void start(uint64_t first, uint64_t end) {
    end_ = end;
    begin(first);
    pid_ = fork();
    if (pid_ != 0) return;
    work(first, end);
    std::fflush(nullptr);
    _exit(0);
  }

  // Looks after the process. What went wrong goes to `report`; a worker whose case failed goes on behind it.
  void look(BatchReport& report) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == 0) return check_limits(report);
    pid_ = -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    std::string what = WIFSIGNALED(status) ? std::string("signal ") + strsignal(WTERMSIG(status))
                                           : "exit code " + std::to_string(WEXITSTATUS(status));
    lost(report, Outcome::Crash, what + "\n" + log_tail());
  }

 private:
  fs::path log() const { return folder_.string() + ".log"; }

  std::string log_tail() const {
    std::ifstream file(log(), std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    return text.substr(0, 6000);
  }

  void begin(uint64_t n) {
    slot_->cpu_at_start = pid_ == 0 ? seconds_of(CLOCK_PROCESS_CPUTIME_ID) : 0;
    slot_->wall_at_start = seconds_of(CLOCK_MONOTONIC);
    slot_->current = n;
  }

  void work(uint64_t first, uint64_t end) {
    pid_ = 0;
    const int fd = open(log().c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_APPEND, 0600);
    dup2(fd, 2);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    for (uint64_t n = first; n < end; ++n) {
      begin(n);
      forget_peak();
      std::string what;
      const double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
      const Outcome outcome = guarded(one_, n, folder_, what);
      note(n, outcome, what, seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    }
  }

  void note(uint64_t n, Outcome outcome, const std::string& what, double seconds) {
    ++slot_->counts[static_cast<size_t>(outcome)];
    if (int64_t peak = resident_peak(); peak > slot_->peak_bytes)
      slot_->peak_bytes = peak, slot_->peak_case = n;
    if (seconds > slot_->slowest) slot_->slowest = seconds, slot_->slowest_case = n;
    if (outcome < Outcome::Internal) slot_->count(what);
    if (outcome < Outcome::Internal || slot_->found_count == std::size(slot_->found)) return;
    const size_t k = slot_->found_count;
    slot_->found[k] = n;
    slot_->found_outcome[k] = static_cast<uint8_t>(outcome);
    std::snprintf(slot_->found_what[k], sizeof slot_->found_what[k], "%s", what.c_str());
    slot_->found_count = k + 1;
  }

  void check_limits(BatchReport& report) {
    clockid_t clock = 0;
    if (clock_getcpuclockid(pid_, &clock) != 0) return;
    const double cpu = seconds_of(clock) - slot_->cpu_at_start;
    const double wall = seconds_of(CLOCK_MONOTONIC) - slot_->wall_at_start;
    const bool hang = cpu > options_.seconds || wall > options_.seconds * kWallFactor;
    const bool memory = resident_now(pid_) > options_.max_bytes;
    if (!hang && !memory) return;
    const int64_t bytes = resident_now(pid_);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
    lost(report, hang ? Outcome::Hang : Outcome::Memory,
         hang ? std::to_string(cpu) + " s of processor time, " + std::to_string(wall) + " s in all"
              : std::to_string(bytes) + " bytes resident");
  }

  void lost(BatchReport& report, Outcome outcome, std::string what) {
    const uint64_t n = slot_->current;
    ++report.counts[static_cast<size_t>(outcome)];
    report.found.push_back({n, outcome, std::move(what)});
    if (n + 1 < end_) start(n + 1, end_);
  }

  const Case& one_;
  const BatchOptions& options_;
  Slot* slot_ = nullptr;
  fs::path folder_;
  pid_t pid_ = -1;
  uint64_t end_ = 0;
};

void add(Slot& slot, BatchReport& report) {
  for (size_t i = 0; i < kOutcomes; ++i) report.counts[i] += slot.counts[i];
  for (size_t k = 0; k < slot.found_count; ++k)
    report.found.push_back({slot.found[k], static_cast<Outcome>(slot.found_outcome[k]), slot.found_what[k]});
  if (slot.peak_bytes > report.peak_bytes)
    report.peak_bytes = slot.peak_bytes, report.peak_case = slot.peak_case;
  if (slot.slowest > report.slowest_seconds)
    report.slowest_seconds = slot.slowest, report.slowest_case = slot.slowest_case;
  for (const Slot::Word& w : slot.words)
    if (w.count > 0) report.words[w.text] += w.count;
}

}  // namespace

const char* to_string(Outcome outcome) {
  constexpr const char* names[kOutcomes] = {"accepted", "rejected", "usage", "io",   "limit", "gate",
                                            "internal", "wrong",    "crash", "hang", "memory"};
  return names[static_cast<size_t>(outcome)];
}

uint64_t BatchReport::mistakes() const {
  uint64_t all = 0;
  for (size_t i = static_cast<size_t>(Outcome::Internal); i < kOutcomes; ++i) all += counts[i];
  return all;
}

BatchReport run_batch(const Case& one, const BatchOptions& options) {
  BatchReport report;
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned j = 0; j < std::max(1u, options.jobs); ++j)
    workers.push_back(std::make_unique<Worker>(one, options));
  uint64_t next = options.first;
  const uint64_t end = options.first + options.count;
  for (bool busy = true; busy;) {
    busy = false;
    for (auto& worker : workers) {
      if (!worker->idle()) worker->look(report);
      if (worker->idle() && next < end) {
        const uint64_t stop = std::min(end, next + kChunk);
        worker->start(next, stop);
        next = stop;
        if (options.progress) std::fprintf(stderr, "%lu of %lu\n", next - options.first, options.count);
      }
      busy = busy || !worker->idle();
    }
    usleep(20000);
  }
  for (auto& worker : workers) add(worker->slot(), report);
  return report;
}

std::string outcomes_text(const BatchReport& report) {
  std::string text;
  for (size_t i = 0; i < kOutcomes; ++i)
    text += fmt::format(" {} {}", to_string(static_cast<Outcome>(i)), report.counts[i]);
  return text;
}

std::string extremes_text(const BatchReport& report, std::string_view one) {
  return fmt::format("at most {} MiB ({} {}) and {:.2f} s ({} {}); mistakes: {}", report.peak_bytes >> 20,
                     one, report.peak_case, report.slowest_seconds, one, report.slowest_case,
                     report.mistakes());
}

}  // namespace mrvlc::fuzz
