// metadata_props of the model's messages, read once, however often a node is built.
#pragma once
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>

#include "file/proto.h"
#include "mrvlc/ir/metadata.h"
#include "sink.h"

namespace mrvlc::onnx {

class MetadataTable {
 public:
  // Takes metadata_props out of the nodes of the model. Texts that recur are held once.
  explicit MetadataTable(pb::ModelProto& model);

  std::shared_ptr<const ir::ModelMetadata> of_model() const { return model_; }
  // Of a source: the node's own. Where these do not say where it comes from, that is where `around`, whose
  // function or body it is in (or null), does. What many instances of functions repeat is left out in the
  // end: files list the metadata of every source.
  std::shared_ptr<const ir::Metadata> of(const pb::NodeProto& node,
                                         const std::shared_ptr<const ir::Metadata>& around);
  // Says what was left out.
  void report(Sink& sink) const;

 private:
  using Entries = std::vector<std::pair<std::string, std::string>>;
  using Shared = std::shared_ptr<const ir::Metadata>;
  struct Own {
    Shared metadata;
    size_t bytes = 0;  // of properties
  };

  void take(pb::GraphProto& graph);
  void take(pb::NodeProto& node);
  void describe(std::string of, const Entries& entries);
  ir::Properties properties(const Entries& entries, size_t& bytes);
  SharedText pooled(std::string_view text);
  // Whether files list so much once more.
  static bool afford(size_t bytes, size_t& left);

  TextPool pool_;
  std::unordered_map<const pb::NodeProto*, Own> own_;
  // What `of` made of a node's own, without its properties or with, and the origin of another.
  std::map<std::tuple<const ir::Metadata*, bool, const ir::Metadata*>, Shared> made_;
  std::shared_ptr<ir::ModelMetadata> model_;
  size_t bytes_left_ = size_t{64} << 20;    // of properties, those of every source counted
  size_t origins_left_ = size_t{64} << 20;  // of origins, the same
  size_t left_out_ = 0;                     // sources and parts
};

}  // namespace mrvlc::onnx
