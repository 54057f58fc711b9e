// metadata_props out of the messages, where they are unknown fields, and how much of them files may list.
#include "builder/metadata.h"

#include "file/wire.h"

namespace mrvlc::onnx {
namespace {

size_t bytes_of(const ir::Origin& origin) {
  // With the names of its members.
  return 64 + origin.file.str().size() + origin.module.str().size() + origin.class_name.str().size();
}

}  // namespace

MetadataTable::MetadataTable(pb::ModelProto& model) {
  Entries of_model;
  for (const auto& entry : model.metadata_props()) of_model.emplace_back(entry.key(), entry.value());
  describe("model", of_model);
  describe("graph", unknown_properties(model.graph().unknown_fields(), kGraphMetadata));
  for (const auto& f : model.functions())
    describe("function " + (f.domain().empty() ? "" : f.domain() + ".") + f.name(),
             unknown_properties(f.unknown_fields(), kFunctionMetadata));
  if (model.has_graph()) take(*model.mutable_graph());
  for (auto& f : *model.mutable_functions())
    for (auto& node : *f.mutable_node()) take(node);
}

// Protobuf's limit on nesting bounds the depth.
void MetadataTable::take(pb::GraphProto& graph) {
  for (auto& node : *graph.mutable_node()) take(node);
}

void MetadataTable::take(pb::NodeProto& node) {
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) take(*attribute.mutable_g());
    for (auto& graph : *attribute.mutable_graphs()) take(graph);
  }
  if (node.unknown_fields().empty()) return;
  const Entries entries = unknown_properties(node.unknown_fields(), kNodeMetadata);
  if (entries.empty()) return;
  *node.mutable_unknown_fields() = without_field(node.unknown_fields(), kNodeMetadata);
  auto metadata = std::make_shared<ir::Metadata>();
  size_t bytes = 0;
  metadata->properties = properties(entries, bytes);
  metadata->origin = ir::read_origin(entries);
  ir::Origin& o = metadata->origin;
  for (SharedText* text : {&o.file, &o.module, &o.class_name}) *text = pooled(text->str());
  own_.emplace(&node, Own{std::move(metadata), bytes});
}

void MetadataTable::describe(std::string of, const Entries& entries) {
  if (entries.empty()) return;
  size_t bytes = 0;
  ir::Properties found = properties(entries, bytes);
  if (!afford(bytes, bytes_left_)) {
    ++left_out_;
    return;
  }
  if (model_ == nullptr) model_ = std::make_shared<ir::ModelMetadata>();
  model_->parts.push_back({std::move(of), std::move(found)});
}

ir::Properties MetadataTable::properties(const Entries& entries, size_t& bytes) {
  ir::Properties found;
  found.reserve(entries.size());
  for (const auto& [key, value] : entries) {
    found.emplace_back(pooled(ir::shortened(key)), pooled(ir::shortened(value)));
    bytes += 16 + found.back().first.str().size() + found.back().second.str().size();
  }
  return found;
}

SharedText MetadataTable::pooled(std::string_view text) {
  return text.empty() ? SharedText() : pool_.get(std::string(text));
}

bool MetadataTable::afford(size_t bytes, size_t& left) {
  if (bytes > left) return false;
  left -= bytes;
  return true;
}

std::shared_ptr<const ir::Metadata> MetadataTable::of(const pb::NodeProto& node, const Shared& around) {
  const auto found = own_.find(&node);
  const Own own = found == own_.end() ? Own{} : found->second;
  const Shared& origin = own.metadata && own.metadata->origin.known() ? own.metadata : around;
  const bool located = origin && origin->origin.known() && afford(bytes_of(origin->origin), origins_left_);
  const bool listed = own.metadata && afford(own.bytes, bytes_left_);
  if (own.metadata && !listed) ++left_out_;
  if (listed && located && origin == own.metadata) return own.metadata;
  if (!listed && !located) return nullptr;
  Shared& made = made_[{own.metadata.get(), listed, located ? origin.get() : nullptr}];
  if (made == nullptr)
    made = std::make_shared<ir::Metadata>(ir::Metadata{listed ? own.metadata->properties : ir::Properties(),
                                                       located ? origin->origin : ir::Origin()});
  return made;
}

void MetadataTable::report(Sink& sink) const {
  if (left_out_ != 0) sink.add(make_diag<DiagCode::MRV0152>(left_out_));
}

}  // namespace mrvlc::onnx
