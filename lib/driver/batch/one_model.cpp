// The child process of a model: confined, served from the cache or compiled, its record written in any case.
#include "batch/one_model.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <set>
#include <system_error>

#include "batch/store.h"
#include "compile_noted.h"
#include "folder/output_folder.h"
#include "model/totals.h"
#include "mrvlc/driver/interrupt.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/tools.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/hash.h"
#include "mrvlc/support/json_document.h"
#include "run/process.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

// All regular files of a folder with their hashes, in order: a package of a target, or several. Links are
// followed, as the compile follows them; a folder is entered once, so that links back to it end.
std::string folder_text(const fs::path& folder) {
  std::vector<std::string> lines;
  std::set<fs::path> entered = {fs::weakly_canonical(folder)};
  std::error_code ec;
  constexpr auto kLinks = fs::directory_options::follow_directory_symlink;
  for (fs::recursive_directory_iterator at(folder, kLinks, ec), end; !ec && at != end; at.increment(ec)) {
    std::error_code ignored;
    if (at->is_directory(ignored) && !entered.insert(fs::weakly_canonical(at->path(), ignored)).second)
      at.disable_recursion_pending();
    if (at->is_regular_file(ignored))
      lines.push_back(fmt::format("{} {}\n", at->path().string(), hash_of(at->path())));
  }
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

// Of this process: an allocation has failed.
bool ran_out = false;

// The first allocation that fails ends the compile; to tell of it takes memory, too.
void lift_limit() {
  ran_out = true;
  constexpr rlim_t kReserve = rlim_t{64} << 20;
  std::set_new_handler(nullptr);
  rlimit limit{};
  ::getrlimit(RLIMIT_DATA, &limit);
  if (limit.rlim_max == RLIM_INFINITY || limit.rlim_cur + kReserve < limit.rlim_max)
    limit.rlim_cur += kReserve;
  else
    limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_DATA, &limit);
  throw std::bad_alloc();
}

// The process ends with its parent, has no more memory than it may, and writes nothing to the terminal.
void confine(const OneModel& one) {
  end_with(one.parent, SIGKILL);
  if (const int64_t bytes = one.options->memory; bytes > 0) {
    // RLIMIT_DATA, not RLIMIT_AS: a model that is mapped takes addresses, and no memory of its own. The soft
    // limit alone, as memory that is short is no end yet.
    rlimit limit{};
    ::getrlimit(RLIMIT_DATA, &limit);
    limit.rlim_cur = std::min(static_cast<rlim_t>(bytes), limit.rlim_max);
    ::setrlimit(RLIMIT_DATA, &limit);
    std::set_new_handler(lift_limit);
  }
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int log = ::open(one.log().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (log < 0) return;
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
}

void add_files(BatchRecord& record, const std::vector<ReadFile>& read) {
  for (const ReadFile& file : read) {
    if (file.kind == ReadFile::Kind::Model) continue;
    const bool external = file.kind == ReadFile::Kind::ExternalData;
    BatchFile f{std::string(ReadFile::kNames[static_cast<size_t>(file.kind)]), file.path,
                external ? file.name : std::string(), file.sha256};
    if (f.sha256.empty()) f.sha256 = hash_of(f.path);
    note_stat(f);
    record.files.push_back(std::move(f));
  }
}

// Not a property of what was hashed: a file that was not there, or external data of which is not known where
// it lies.
bool may_pass_later(const Diagnostics& diagnostics) {
  return std::ranges::any_of(diagnostics.list(), [](const Diag& d) {
    return d.severity() == Severity::Error &&
           (d.exit_class() == ExitClass::Io || d.code == DiagCode::MRV0123);
  });
}

Status add_totals(BatchRecord& record, const fs::path& out) {
  record.manifest = hash_of(out / "manifest.json");
  MRVLC_ASSIGN(const Report report, read_report(out));
  for (const TotalKind& kind : total_kinds())
    record.totals.emplace_back(std::string(kind.name), kind.of(report));
  return {};
}

class Work {
 public:
  explicit Work(const OneModel& one) : one_(one) {}

  void run() {
    record_.asked = one_.asked;
    BatchFile model{"model", one_.model, {}, hash_of(one_.model)};
    note_stat(model);
    key_ = sha256_hex(one_.asked + model.sha256);
    record_.files = {model};
    if (!from_cache(model)) {
      compile();
      keep();
    }
    finish();
  }

  // What a compile that could not be finished came to.
  void fail(const Diag& diag, bool again) {
    Diagnostics list;
    list.add(diag);
    record_.messages = batch_messages(list);
    record_.exit_code = list.exit_code();
    record_.again = again;
    record_.manifest.clear();
    record_.totals.clear();
    finish();
  }

 private:
  bool from_cache(const BatchFile& model) {
    if (one_.options->cache.empty()) return false;
    auto store = Store::open(one_.options->cache);
    if (!store.ok()) return false;  // the parent has said it
    auto found = store->find(key_, model, one_.options->compile.import.external_data_dir, one_.out());
    if (!found || (found->exit_code != 0 && one_.options->again)) return false;
    record_ = *std::move(found);
    return true;
  }

  void compile() {
    CompileOptions options = one_.options->compile;
    options.model = one_.model;
    options.out = one_.out();
    Diagnostics diagnostics;
    std::vector<ReadFile> read;
    const bool done = compile_noted(options, diagnostics, read);
    if (interrupted() != 0) ::_exit(interrupted());
    if (!done && ran_out) throw std::bad_alloc();  // some stages have words of their own for that
    add_files(record_, read.empty() ? named_files(options) : read);
    if (done)
      if (Status s = add_totals(record_, one_.out()); !s.ok()) diagnostics.add(s.error());
    record_.exit_code = diagnostics.exit_code();
    record_.messages = batch_messages(diagnostics);
    record_.again = may_pass_later(diagnostics);
  }

  // A cache that cannot be written is a warning.
  void keep() {
    if (one_.options->cache.empty() || record_.again) return;
    auto store = Store::open(one_.options->cache);
    Status kept = store.ok() ? store->keep(key_, record_, one_.out()) : Status(store.error());
    if (kept.ok()) return;
    Diagnostics list;
    list.add(make_diag<DiagCode::MRV1003>(kept.error().message));
    for (BatchMessage& m : batch_messages(list)) record_.messages.push_back(std::move(m));
  }

  void finish() {
    const Status written = write_shared(one_.record(), json::document(record_));
    std::error_code ec;
    if (fs::file_size(one_.log(), ec) == 0) fs::remove(one_.log(), ec);
    ::_exit(written.ok() ? 0 : static_cast<int>(ExitClass::Io));
  }

  const OneModel& one_;
  std::string key_;
  BatchRecord record_;
};

}  // namespace

std::string hash_of_options(const BatchOptions& options) {
  // The program itself, too: builds of one version may compile differently.
  std::string text = fmt::format("{} {}\n{}\n", MRVLC_VERSION, hash_of("/proc/self/exe"), options.options);
  for (const fs::path& folder : options.compile.target_dirs) text += folder_text(folder);
  return sha256_hex(text);
}

std::string asked_of(const std::string& options_hash, const fs::path& model) {
  return sha256_hex(options_hash + "\n" + model.filename().string());
}

namespace {

Work* working = nullptr;  // of this process, for out_of_memory()

// Destructors of JSON allocate: an allocation that fails there ends no function, but the process.
[[noreturn]] void out_of_memory() {
  const std::exception_ptr thrown = std::current_exception();
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    working->fail(make_diag<DiagCode::MRV1001>(), true);
  } catch (...) {
  }
  std::abort();
}

}  // namespace

void compile_one(const OneModel& one) {
  confine(one);
  Work work(one);
  working = &work;
  std::set_terminate(out_of_memory);
  try {
    work.run();
  } catch (const std::bad_alloc&) {
    work.fail(make_diag<DiagCode::MRV1001>(), true);
  } catch (const std::system_error& e) {
    // No stack for a thread.
    const bool memory = e.code() == std::errc::resource_unavailable_try_again;
    work.fail(memory ? make_diag<DiagCode::MRV1001>() : make_diag<DiagCode::MRV0007>(e.what()), memory);
  } catch (const std::exception& e) {
    work.fail(make_diag<DiagCode::MRV0007>(e.what()), false);
  }
  ::_exit(static_cast<int>(ExitClass::Internal));
}

}  // namespace mrvlc::driver
