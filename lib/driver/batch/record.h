// What is kept of one model's compile: beside its folder, and in the cache.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "model/compiled_model.h"
#include "mrvlc/driver/batch.h"

namespace mrvlc::driver {

// A file that a result comes from.
struct BatchFile {
  std::string kind;  // ReadFile::kNames
  std::filesystem::path path;
  std::string location;  // of external data, as the model spells it
  std::string sha256;
  // As it was when it was read: it need not be read again to know that it is the same.
  int64_t bytes = 0, changed = 0;  // nanoseconds since 1970
  // Paths may be no UTF-8; these are kept as bytes are shown, and do not lead to the file then.
  static void fields(auto& f, auto& b) {
    f("kind", b.kind)("path", b.path)("bytes", b.bytes)("location", b.location)("sha256", b.sha256)(
        "changed", b.changed);
  }
};

struct BatchRecord {
  std::string asked;             // hash of compiler, options and NAME
  std::vector<BatchFile> files;  // the model first
  int exit_code = 0;
  bool again = false;  // not a property of these files: a time limit, a disk that was full
  std::vector<BatchMessage> messages;
  BatchTotals totals;
  std::string manifest;  // its hash; empty of a failure
  BatchModel::From from = BatchModel::From::Compile;
  static void fields(auto& f, auto& r) {
    f.schema("mrvlc-batch-record-1")("asked", r.asked)("exit_code", r.exit_code)("again", r.again)(
        "files", r.files)("messages", r.messages)("totals", r.totals)("manifest", r.manifest)("from", r.from);
  }
};

// nullopt: it is none.
std::optional<BatchRecord> parse_record(std::string_view text);
std::vector<BatchMessage> batch_messages(const Diagnostics& diagnostics);

// Size and time of change; false: there is no such file.
bool note_stat(BatchFile& file);
// SHA-256 of the file as it is; empty: it cannot be read.
std::string hash_of(const std::filesystem::path& file);
// That all files are as they were. One that was touched, or that changed about when the record was written,
// is read.
bool unchanged(const std::vector<BatchFile>& files, int64_t recorded);

// Written to a name of this process, then renamed: any number of processes may write the same file.
Status write_shared(const std::filesystem::path& file, std::string_view text);

}  // namespace mrvlc::driver
