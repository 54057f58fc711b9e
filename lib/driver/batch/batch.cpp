// `mrvlc batch`: the models of a shard, as many processes at a time as were asked for.
#include "mrvlc/driver/batch.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <thread>

#include "batch/lock.h"
#include "batch/names.h"
#include "batch/one_model.h"
#include "batch/store.h"
#include "folder/output_folder.h"
#include "mrvlc/driver/guests.h"
#include "mrvlc/driver/interrupt.h"
#include "mrvlc/report/batch_page.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/tools.h"
#include "mrvlc/support/file.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLook = std::chrono::milliseconds(2);

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Running {
  size_t model = 0;
  Clock::time_point begin;
  bool out_of_time = false;
};

// batch.json.
struct SummarizedModel {
  fs::path model;
  std::string name;
  int exit_code = 0;
  std::optional<std::string> out;  // its folder
  BatchTotals totals;
  std::vector<BatchMessage> messages;
  static void fields(auto& f, auto& m) {
    f("model", m.model)("name", m.name)("exit_code", m.exit_code)("out", m.out)("totals", m.totals)(
        "messages", m.messages);
  }
};
struct SummaryJson {
  size_t compiled = 0, failed = 0;
  std::vector<SummarizedModel> models;
  static void fields(auto& f, auto& s) {
    f.schema("mrvlc-batch-1")("compiled", s.compiled)("failed", s.failed)("models", s.models);
  }
};

// The record of a model, if it is of these options; `recorded` is when it was written.
std::optional<BatchRecord> record_of(const OneModel& one, int64_t* recorded = nullptr) {
  BatchFile file;
  file.path = one.record();
  if (!note_stat(file)) return std::nullopt;
  const auto text = read_file(file.path);
  auto record = text.ok() ? parse_record(*text) : std::nullopt;
  if (!record || record->asked != one.asked) return std::nullopt;
  if (recorded != nullptr) *recorded = file.changed;
  return record;
}

class Runner {
 public:
  Runner(const BatchOptions& options, Diagnostics& diagnostics) : o_(options), diagnostics_(diagnostics) {}

  std::optional<Batch> run() {
    Status begun = begin();
    if (!begun.ok()) {
      diagnostics_.add(begun.error());
      return std::nullopt;
    }
    const InterruptGuard guard;
    if (!compile_all()) return std::nullopt;
    Status written = write_summary();
    if (!written.ok()) diagnostics_.add(written.error());
    return written.ok() ? std::optional(std::move(batch_)) : std::nullopt;
  }

 private:
  Status begin() {
    MRVLC_ASSIGN(const std::vector<fs::path> models, batch_models(o_.models));
    MRVLC_ASSIGN(const std::vector<std::string> names, batch_names(models));
    if (!o_.cache.empty()) {
      auto store = Store::open(o_.cache);
      if (!store.ok()) return store.error();
      if (store->warning()) diagnostics_.add(*store->warning());
    }
    std::error_code ec;
    fs::create_directories(o_.out / ".batch", ec);
    if (ec) return make_diag<DiagCode::MRV0002>(o_.out.string(), ec.message());
    MRVLC_ASSIGN(BatchLock lock, BatchLock::take(o_));
    lock_.emplace(std::move(lock));
    const unsigned processors = std::max(1u, std::thread::hardware_concurrency());
    if (o_.jobs == 0) o_.jobs = processors;
    // Threads beside processes: as many as there are processors.
    o_.compile.jobs = std::max(1u, processors / o_.jobs);
    const std::string options_hash = hash_of_options(o_);
    for (size_t i = 0; i < models.size(); ++i) {
      all_.push_back({&o_, models[i], names[i], asked_of(options_hash, models[i]), ::getpid()});
      if (i % o_.shards == o_.shard - 1) shard_.push_back(i);
    }
    batch_.models.resize(shard_.size());
    batch_.all = all_.size();
    return {};
  }

  const OneModel& one(size_t i) const { return all_[shard_[i]]; }

  // False: interrupted.
  bool compile_all() {
    for (size_t next = 0; next < shard_.size() || !running_.empty();) {
      while (next < shard_.size() && running_.size() < o_.jobs && interrupted() == 0) start(next++);
      if (interrupted() != 0) return end_all();
      if (!collect()) std::this_thread::sleep_for(kLook);
    }
    return true;
  }

  bool is_current(size_t i) {
    int64_t recorded = 0;
    auto record = record_of(one(i), &recorded);
    if (!record || (record->exit_code != 0 && (record->again || o_.again))) return false;
    if (record->files[0].path != one(i).model || !unchanged(record->files, recorded)) return false;
    if (!record->manifest.empty() && hash_of(one(i).out() / "manifest.json") != record->manifest)
      return false;
    record->from = BatchModel::From::Before;
    done(i, *std::move(record), 0);
    return true;
  }

  void start(size_t i) {
    if (is_current(i)) return;
    std::error_code ec;
    fs::remove(one(i).record(), ec);
    const pid_t child = ::fork();
    if (child == 0) {
      leave_plugins_unwatched();
      lock_.reset();  // not held on by a child that outlives this process for a moment
      compile_one(one(i));
    }
    if (child > 0)
      running_[child] = {i, Clock::now()};
    else
      failed(i, make_diag<DiagCode::MRV0003>("fork", std::strerror(errno)), 0);
  }

  // Whether a process has ended.
  bool collect() {
    for (auto& [child, r] : running_) {
      if (o_.timeout <= 0 || r.out_of_time || seconds_since(r.begin) <= o_.timeout) continue;
      r.out_of_time = true;
      ::kill(child, SIGKILL);
    }
    int status = 0;
    const pid_t child = ::waitpid(-1, &status, WNOHANG);
    const auto found = running_.find(child);
    if (child <= 0 || found == running_.end()) return false;
    const Running r = found->second;
    running_.erase(found);
    ended(r, status);
    return true;
  }

  void ended(const Running& r, int status) {
    const double seconds = seconds_since(r.begin);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
      if (auto record = record_of(one(r.model))) return done(r.model, *std::move(record), seconds);
    if (r.out_of_time) return failed(r.model, make_diag<DiagCode::MRV1000>(o_.timeout), seconds);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
      return failed(r.model, make_diag<DiagCode::MRV1004>(), seconds);
    const std::string how = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                                : fmt::format("exit code {}", WEXITSTATUS(status));
    failed(r.model, make_diag<DiagCode::MRV1002>(how, printable(one(r.model).log().string(), 4096)), seconds);
  }

  // What is no property of the model, as far as is known.
  void failed(size_t i, const Diag& diag, double seconds) {
    // A process that was killed has left what it was writing: whoever begins to write there removes it.
    static_cast<void>(OutputDir::create(one(i).out()));
    Diagnostics list;
    list.add(diag);
    BatchRecord record;
    record.asked = one(i).asked;
    record.files = {{"model", one(i).model, {}, {}}};
    record.exit_code = list.exit_code();
    record.again = true;
    record.messages = batch_messages(list);
    Status written = write_shared(one(i).record(), json::document(record));
    if (!written.ok()) diagnostics_.add(written.error());
    done(i, std::move(record), seconds);
  }

  void done(size_t i, BatchRecord record, double seconds) {
    // A folder of an earlier compile is no result of this one.
    if (record.exit_code != 0 && check_replaceable(one(i).out()).ok())
      remove_own_files(one(i).out(), own_files(one(i).out()));
    BatchModel& m = batch_.models[i];
    m = {record.from,
         one(i).model,
         one(i).name,
         record.exit_code,
         seconds,
         std::move(record.messages),
         std::move(record.totals)};
    ++done_;
    if (o_.progress) o_.progress(m, done_, shard_.size());
  }

  bool end_all() {
    for (const auto& [child, r] : running_) ::kill(child, SIGTERM);
    for (const auto& [child, r] : running_) {
      while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    return false;
  }

  // When every model has a result, whichever shard it is of.
  Status write_summary() {
    SummaryJson summary;
    for (const OneModel& m : all_) {
      auto r = record_of(m);
      if (!r) continue;
      ++(r->exit_code == 0 ? summary.compiled : summary.failed);
      const auto out = r->exit_code == 0 ? std::optional(m.name) : std::nullopt;
      summary.models.push_back(
          {m.model, m.name, r->exit_code, out, std::move(r->totals), std::move(r->messages)});
    }
    batch_.done = summary.models.size();
    if (batch_.done < batch_.all) return {};
    MRVLC_TRY(write_shared(o_.out / "batch.html", report::batch_page(json::tree(summary))));
    return write_shared(o_.out / "batch.json", json::document(summary));
  }

  BatchOptions o_;
  Diagnostics& diagnostics_;
  std::vector<OneModel> all_;  // of all shards
  std::vector<size_t> shard_;
  std::map<pid_t, Running> running_;
  std::optional<BatchLock> lock_;
  size_t done_ = 0;
  Batch batch_;
};

}  // namespace

std::optional<Batch> batch(const BatchOptions& options, Diagnostics& diagnostics) {
  return Runner(options, diagnostics).run();
}

}  // namespace mrvlc::driver
