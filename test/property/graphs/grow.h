// Makes random models, operator by operator. Whatever it proposes, inference decides whether it is valid, and
// the data decide whether implementations can be expected to agree on it.
#pragma once
#include "../dice.h"
#include "model.h"

namespace mrvlc::graphs {

using random::Dice;

struct Attrs {
  std::vector<std::pair<std::string_view, ir::Attr>> list;
  Attrs(std::initializer_list<std::pair<std::string_view, ir::Attr>> l = {}) : list(l) {}
};

class Grower {
 public:
  // The numbers of neighbouring seeds are the same but for the first ones.
  Grower(uint64_t seed, std::string prefix = "v") : dice(Dice(seed).next()), prefix_(std::move(prefix)) {}

  Dice dice;
  Model model;
  // The model is one for the accelerator: its float32 values are thought of as fp16 ones, errors and all, and
  // so are those that it starts from.
  bool coarse = false;
  // Operands that decide about shapes may be inputs, and inputs may have other sizes than those that it is
  // grown with.
  bool dynamic = false;

  const Tensor& data(int v) const { return model.values[static_cast<size_t>(v)].data; }
  const Shape& shape(int v) const { return data(v).shape(); }
  int64_t rank(int v) const { return data(v).type().rank(); }
  ElementType elem(int v) const { return data(v).elem(); }
  bool exact(int v) const { return model.values[static_cast<size_t>(v)].exact; }

  // A value of the type, made anew: a constant or an input.
  int make(ElementType elem, const Shape& shape);
  int make(Tensor tensor, bool constant);
  int constant(Tensor tensor) { return make(std::move(tensor), true); }
  int ints(const std::vector<int64_t>& values);
  int scalar(ElementType elem, double value);
  // One that is there, or a new one.
  int pick(ops::TypeSet types, int64_t min_rank = 0, int64_t max_rank = 5);
  int pick(ElementType elem, int64_t min_rank = 0, int64_t max_rank = 5);
  // Of a shape that broadcasts with `like`, same elements unless told.
  int operand(int like, ElementType elem);
  // One of exactly this type, there or new.
  int of_type(ElementType elem, const Shape& shape);
  Shape random_shape(int64_t min_rank, int64_t max_rank);
  Tensor random_tensor(ElementType elem, const Shape& shape);
  ElementType random_type(ops::TypeSet types);

  // Adds a node when it is valid and well-behaved: its first result, or -1.
  int add(std::string_view op, const std::vector<int>& inputs, const Attrs& attrs = {}, size_t outputs = 1);
  int add_control(std::string_view op, const std::vector<int>& inputs, const Attrs& attrs,
                  std::vector<std::pair<std::string, std::shared_ptr<Model>>> bodies, size_t outputs);
  // For a body: a value of the model around it, under the name that it has there.
  int outer(const Grower& around, int v);
  void finish();
  // Finds sizes of inputs that the model takes as well, and what its values are then.
  void vary_sizes();

 private:
  bool admit(const Node& node, const std::vector<Tensor>& data, const std::vector<Tensor>& shaken);
  std::vector<Tensor> run_at(const std::vector<Tensor>& inputs);
  int commit(Node node, std::vector<Tensor> data, std::vector<Tensor> shaken);
  std::string fresh_name() { return prefix_ + std::to_string(model.values.size()); }

  std::string prefix_;
};

// How an operator is proposed; -1 when it did not come about.
using Recipe = int (*)(Grower& g);
const std::map<std::string_view, Recipe>& recipes();
void add_move_recipes(std::map<std::string_view, Recipe>& table);
void add_math_recipes(std::map<std::string_view, Recipe>& table);
void add_layer_recipes(std::map<std::string_view, Recipe>& table);
void add_control_recipes(std::map<std::string_view, Recipe>& table);
void add_kinds_recipes(std::map<std::string_view, Recipe>& table);
// What a node makes of the data, or of the shaken data.
Result<std::vector<Tensor>> compute(const Model& model, const Node& node, bool shaken);
// Every element moved by more than any implementation's error.
Tensor shake(Dice& dice, Tensor tensor, bool coarse);
// Inputs and outputs are of what the writer writes.
bool has_file(const Value& value);
// Properties of operators' results: the bits of the operands, in any implementation; nothing that depends on
// the data; a jump where the data move a little.
bool keeps_bits(const ops::OpDef& op);
bool depends_on_shape_alone(const ops::OpDef& op);
bool is_step(const Node& node);
// Operators that are proposed: those with a recipe, and the element-wise ones of the table.
std::vector<const ops::OpDef*> growable();
int propose(Grower& g, const ops::OpDef& op);

// The model of a seed; up to `nodes` operators.
Model random_model(uint64_t seed, int64_t nodes);

}  // namespace mrvlc::graphs
