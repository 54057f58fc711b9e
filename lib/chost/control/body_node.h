// What the C of If, Loop, Scan and SequenceMap is made of. A body is a function that takes views of its
// inputs and outputs and an arena of its own, which is scratch memory of the node.
#pragma once
#include <optional>

#include "function.h"
#include "mrvlc/ops/attributes.h"

namespace mrvlc::chost {

class BodyNode {
 public:
  explicit BodyNode(Function& f) : f_(f), node_(f.head()), graph_(f.program().graph) {}

  // The bodies as functions of the program, in the order of ir::bodies_of. To be called first.
  Status add_bodies();

  Function& function() { return f_; }
  const ir::Node& node() const { return node_; }
  const ir::Graph& body(size_t b) const { return *ir::bodies_of(node_)[b]; }
  const TensorType& in_type(size_t i) const { return graph_.value(node_.inputs[i]).type; }
  const TensorType& out_type(size_t i) const { return graph_.value(node_.outputs[i]).type; }
  // Formal inputs of the body: what follows are values of the graph around it that the body reads.
  size_t formals() const { return static_cast<size_t>(ops::attr::formals(node_)); }
  // Of the generated names.
  const std::string& prefix() const { return f_.program().options.name; }

  // C expressions of type NAME_view*.
  std::string in_view(size_t i) { return f_.view(node_.inputs[i], fmt::format("v{}", i), false); }
  std::string out_view(size_t i) { return f_.view(node_.outputs[i], fmt::format("w{}", i), true); }

  // Returns NAME_ERROR_SHAPE, or another code of that form, at once or where the condition holds.
  void fail();
  void fail_if(std::string_view condition, std::string_view code = "SHAPE");
  // Dimensions of `to` from those of `from`, which must suit the type.
  void copy_dims(const std::string& to, const std::string& from, const TensorType& type);
  // The dimensions and elements of a value of type `from_type` at `from` become those of `to`.
  void copy_value(const std::string& to, const TensorType& type, const std::string& from,
                  const TensorType& from_type);
  // NAME_view VAR = {scratch memory, the type's dimensions}; of the type's size unless more is asked for.
  void declare_buffer(const std::string& var, const TensorType& type, int64_t bytes = 0);
  // Runs body `b` on views; an error in it is the node's.
  void call(size_t b, const std::vector<std::string>& in, const std::vector<std::string>& out);

  // Of a Loop: its trip count, if a constant says it.
  std::optional<int64_t> known_trips() const;
  // How often a body runs at most; nothing when data decide.
  std::optional<int64_t> most_rounds() const;

 private:
  struct Callee {
    std::string symbol, arena, further;  // further: arguments behind the others
  };
  Status add_body(const ir::Graph& body);
  std::string arena_of(int64_t bytes, bool keeps, std::optional<int64_t> rounds);

  Function& f_;
  const ir::Node& node_;
  const ir::Graph& graph_;
  std::vector<Callee> callees_;
};

// A value of type `given` lies in memory as one of type `result` does.
bool same_memory(const TensorType& given, const TensorType& result);

Status emit_if(BodyNode& n);
Status emit_loop(BodyNode& n);
Status emit_scan(BodyNode& n);
Status emit_sequence_map(BodyNode& n);

}  // namespace mrvlc::chost
