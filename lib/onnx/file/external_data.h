// Weights kept in files beside the model. The location comes from the model, so it is not trusted: it must
// name a regular file with one link, beneath an allowed folder, reached through no symbolic link.
#pragma once
#include <filesystem>
#include <map>
#include <vector>

#include "file/fd.h"
#include "file/proto.h"
#include "mrvlc/onnx/importer.h"
#include "mrvlc/tensor/tensor.h"

namespace mrvlc::onnx {

class ExternalData {
 public:
  // Folders are tried in order; an empty path is the current folder.
  explicit ExternalData(std::vector<std::filesystem::path> folders) : folders_(std::move(folders)) {}

  // A tensor of `type`, a view of the mapped file. Tensors may share a range exactly (they then share
  // memory); ranges that overlap otherwise are refused, which also bounds the memory by the sizes of the
  // files. MRV0123, MRV0124.
  Result<Tensor> load(const pb::TensorProto& tensor, const TensorType& type);
  // In the order of their locations.
  std::vector<ModelFile> files() const;

 private:
  struct Location {
    std::string file;
    uint64_t offset = 0, length = 0;
  };
  struct Range {
    uint64_t end = 0;
    Tensor tensor;
  };
  struct File : ModelFile {
    std::map<uint64_t, Range> ranges;  // what was read already, by offset
  };
  struct Opened {
    Fd fd;
    std::filesystem::path path;
  };
  struct FileId {
    uint64_t device = 0, inode = 0;
    auto operator<=>(const FileId&) const = default;
  };

  Result<Location> locate(const pb::TensorProto& tensor, uint64_t bytes) const;
  Result<Opened> open(const std::string& tensor, const std::string& file) const;
  Result<File*> file(Opened opened, const std::string& tensor, const Location& where);
  Result<Tensor> load_range(File& file, const std::string& tensor, const Location& where,
                            const TensorType& type);

  std::vector<std::filesystem::path> folders_;
  std::map<FileId, File> files_;
};

}  // namespace mrvlc::onnx
