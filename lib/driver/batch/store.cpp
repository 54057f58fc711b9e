// The cache's folders, KK/KEY/VARIANT with entry.json and out/: found by hashes, kept and removed by renames.
#include "batch/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "folder/output_folder.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/hash.h"
#include "mrvlc/support/json_document.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

// As https://bford.info/cachedir/ has it: backup programs leave such folders out.
constexpr const char* kTag = "CACHEDIR.TAG";
constexpr std::string_view kTagText =
    "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of mrvlc batch; it may be removed at any time.\n";
// What is being written must stay; after a day nobody is writing it any more.
constexpr auto kLeftoverAge = std::chrono::hours(24);

// What the external data of a model is now, wherever the model lies.
fs::path found_now(const BatchFile& file, const fs::path& model, const fs::path& external) {
  if (file.location.empty()) return file.path;
  std::error_code ec;
  const fs::path beside = model.parent_path() / file.location;
  return external.empty() || fs::exists(beside, ec) ? beside : external / file.location;
}

// Writes the output of an entry, if it is what was kept.
bool restore(const fs::path& kept, const std::string& manifest, const fs::path& out) {
  auto folder = open_output(kept);
  if (!folder.ok()) return false;
  auto dir = OutputDir::create(out);
  if (!dir.ok()) return false;
  auto copy = [&](const std::string& name, const std::string& hash) {
    auto bytes = read_file(kept / name);
    return bytes.ok() && sha256_hex(*bytes) == hash && dir->write(name, *bytes).ok();
  };
  for (const auto& [name, hash] : folder->files)
    if (!copy(name, hash)) return false;
  return copy("manifest.json", manifest) && check_replaceable(out).ok() &&
         keep_other_files(out, own_files(out), *dir).ok() && dir->commit().ok();
}

// Two may make a cache at a time: what one of them has made is no other thing.
bool holds_other_things(const fs::path& folder) {
  std::error_code ec;
  for (fs::directory_iterator at(folder, ec), end; !ec && at != end; at.increment(ec)) {
    const std::string name = at->path().filename().string();
    if (name != "tmp" && name.find(kTag) == name.npos) return true;
  }
  return false;
}

// While it lives: whom files that this process makes are open to.
class UmaskGuard {
 public:
  explicit UmaskGuard(mode_t mask) : before_(::umask(mask)) {}
  ~UmaskGuard() { ::umask(before_); }
  UmaskGuard(const UmaskGuard&) = delete;
  UmaskGuard& operator=(const UmaskGuard&) = delete;

 private:
  mode_t before_;
};

void touch(const fs::path& file) {
  ::utimensat(AT_FDCWD, file.c_str(), nullptr, 0);
}

std::string variant_of(const BatchRecord& record) {
  std::string text;
  for (size_t i = 1; i < record.files.size(); ++i) {
    const BatchFile& f = record.files[i];
    text += fmt::format("{} {} {}\n", f.kind, f.sha256, f.location.empty() ? f.path.string() : f.location);
  }
  return sha256_hex(text);
}

int64_t bytes_in(const fs::path& folder) {
  int64_t bytes = 0;
  std::error_code ec;
  for (fs::recursive_directory_iterator at(folder, ec), end; !ec && at != end; at.increment(ec)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored)) bytes += static_cast<int64_t>(at->file_size(ignored));
  }
  return bytes;
}

}  // namespace

Result<Store> Store::open_existing(const fs::path& folder) {
  const auto tag = read_file(folder / kTag, 4096);
  if (!tag.ok() || !tag->starts_with(kTagText.substr(0, kTagText.find('\n'))))
    return make_diag<DiagCode::MRV0003>(folder.string(), "it is no cache of 'mrvlc batch' (no CACHEDIR.TAG)");
  MRVLC_ASSIGN(Trust trust, Trust::in(folder));
  std::error_code ec;
  return Store(fs::canonical(folder, ec), std::move(trust));
}

Result<Store> Store::open(const fs::path& folder) {
  std::error_code ec;
  if (fs::exists(folder / kTag, ec)) return open_existing(folder);
  const bool made = fs::create_directories(folder, ec);
  if (ec) return make_diag<DiagCode::MRV0002>(folder.string(), ec.message());
  constexpr auto kOthersWrite = fs::perms::group_write | fs::perms::others_write;
  if (made) fs::permissions(folder, kOthersWrite, fs::perm_options::remove, ec);
  MRVLC_ASSIGN(Trust trust, Trust::in(folder));
  const UmaskGuard mask(trust.umask());
  if (holds_other_things(folder)) {
    // Or somebody else has made it since.
    if (fs::exists(folder / kTag, ec)) return open_existing(folder);
    return make_diag<DiagCode::MRV0003>(
        folder.string(), "it holds other things than a cache; name a folder that is empty or does not exist");
  }
  fs::create_directories(folder / "tmp", ec);
  if (ec) return make_diag<DiagCode::MRV0002>(folder.string(), ec.message());
  MRVLC_TRY(write_shared(folder / kTag, kTagText));
  return Store(fs::canonical(folder, ec), std::move(trust));
}

// On other machines the same process number may be at work.
fs::path Store::temporary() const {
  return folder_ / "tmp" /
         fmt::format("{}-{:08x}{:08x}", ::getpid(), std::random_device()(), std::random_device()());
}

std::optional<BatchRecord> Store::read_entry(const fs::path& entry, const BatchFile& model,
                                             const fs::path& external, const fs::path& out) {
  if (!trust_.holds_for(entry)) return std::nullopt;
  auto text = read_file(entry / "entry.json");
  auto record = text.ok() ? parse_record(*text) : std::nullopt;
  if (!record) return std::nullopt;
  record->files[0] = model;
  for (size_t i = 1; i < record->files.size(); ++i) {
    BatchFile& file = record->files[i];
    file.path = found_now(file, model.path, external);
    if (!note_stat(file) || hash_of(file.path) != file.sha256) return std::nullopt;
  }
  touch(entry / "entry.json");
  if (!record->manifest.empty() && !restore(entry / "out", record->manifest, out)) {
    remove(entry);  // damaged, or pruned while it was read
    return std::nullopt;
  }
  record->from = BatchModel::From::Cache;
  return record;
}

std::optional<BatchRecord> Store::find(const std::string& key, const BatchFile& model,
                                       const fs::path& external, const fs::path& out) {
  std::vector<fs::path> variants;
  std::error_code ec;
  for (fs::directory_iterator at(folder_ / key.substr(0, 2) / key, ec), end; !ec && at != end;
       at.increment(ec))
    variants.push_back(at->path());
  std::ranges::sort(variants);
  for (const fs::path& variant : variants)
    if (auto record = read_entry(variant, model, external, out)) return record;
  return std::nullopt;
}

Status Store::keep(const std::string& key, const BatchRecord& record, const fs::path& out) {
  const fs::path place = folder_ / key.substr(0, 2) / key / variant_of(record), made = temporary();
  const UmaskGuard mask(trust_.umask());
  std::error_code ec;
  fs::create_directories(made, ec);
  const auto failed = [&](std::string_view why) {
    fs::remove_all(made, ec);
    return make_diag<DiagCode::MRV0002>(place.string(), why);
  };
  if (ec) return failed(ec.message());
  if (!record.manifest.empty()) fs::copy(out, made / "out", fs::copy_options::recursive, ec);
  if (ec) return failed(ec.message());
  Status written = write_shared(made / "entry.json", json::document(record));
  if (!written.ok()) return failed(written.error().message);
  // Who prunes may remove the folder of a key that has become empty, at any moment.
  for (int tries = 0;; ++tries) {
    fs::create_directories(place.parent_path(), ec);
    // Not onto an entry that is there: a rename replaces empty folders alone.
    if (::rename(made.c_str(), place.c_str()) == 0) return {};
    const int error = errno;
    if (error == EEXIST || error == ENOTEMPTY) break;
    if (error != ENOENT || tries == 10) return failed(std::strerror(error));
  }
  fs::remove_all(made, ec);
  return {};
}

std::vector<Store::Entry> Store::entries() const {
  std::vector<Entry> all;
  std::error_code ec;
  for (fs::recursive_directory_iterator at(folder_, ec), end; !ec && at != end; at.increment(ec)) {
    if (at.depth() == 0 && at->path().filename() == "tmp") at.disable_recursion_pending();
    if (at.depth() != 2) continue;
    at.disable_recursion_pending();
    BatchFile entry;
    entry.path = at->path() / "entry.json";
    if (!note_stat(entry)) continue;
    std::error_code ignored;
    all.push_back(
        {at->path(), bytes_in(at->path()), entry.changed, !fs::exists(at->path() / "out", ignored)});
  }
  std::ranges::sort(all, [](const Entry& a, const Entry& b) {
    return std::tie(a.used, a.path) < std::tie(b.used, b.path);
  });
  return all;
}

bool Store::remove(const fs::path& entry) {
  const fs::path away = temporary();
  if (::rename(entry.c_str(), away.c_str()) != 0) return false;
  std::error_code ec;
  fs::remove_all(away, ec);
  fs::remove(entry.parent_path(), ec);  // when it was the last of its key
  return true;
}

void Store::remove_leftovers() {
  std::error_code ec;
  for (fs::directory_iterator at(folder_ / "tmp", ec), end; !ec && at != end; at.increment(ec)) {
    std::error_code ignored;
    if (fs::file_time_type::clock::now() - at->last_write_time(ignored) > kLeftoverAge)
      fs::remove_all(at->path(), ignored);
  }
}

}  // namespace mrvlc::driver
