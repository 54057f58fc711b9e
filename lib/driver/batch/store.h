// The cache of `mrvlc batch`: results by what they come from. Any number of processes may read, write and
// prune it at a time: an entry appears in one rename and goes in one, and nothing of it is believed that does
// not have its hash.
#pragma once
#include "batch/record.h"
#include "batch/trust.h"

namespace mrvlc::driver {

class Store {
 public:
  // Makes the folder when there is none. MRV0002; MRV0003: a folder with other things in it; MRV1073: one
  // that anybody may write into.
  static Result<Store> open(const std::filesystem::path& folder);
  static Result<Store> open_existing(const std::filesystem::path& folder);

  // What `key` (compiler, options, bytes of the model) came to before, with files beside the model as they
  // are now; its output is written to `out`. The files of the record are those of now, `model` the first.
  std::optional<BatchRecord> find(const std::string& key, const BatchFile& model,
                                  const std::filesystem::path& external, const std::filesystem::path& out);
  // Keeps the result; one that somebody else kept meanwhile stays. Errors: the cache is as it was.
  Status keep(const std::string& key, const BatchRecord& record, const std::filesystem::path& out);

  const std::optional<Diag>& warning() const { return trust_.warning(); }

  struct Entry {
    std::filesystem::path path;
    int64_t bytes = 0, used = 0;  // nanoseconds since 1970
    bool failure = false;
  };
  std::vector<Entry> entries() const;  // the least recently used first
  // False: somebody else has removed it.
  bool remove(const std::filesystem::path& entry);
  // What processes that were killed have left.
  void remove_leftovers();

 private:
  Store(std::filesystem::path folder, Trust trust) : folder_(std::move(folder)), trust_(std::move(trust)) {}
  std::filesystem::path temporary() const;
  std::optional<BatchRecord> read_entry(const std::filesystem::path& entry, const BatchFile& model,
                                        const std::filesystem::path& external,
                                        const std::filesystem::path& out);

  std::filesystem::path folder_;
  Trust trust_;
};

}  // namespace mrvlc::driver
