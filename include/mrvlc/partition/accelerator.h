// What partitioning asks of the target whose regions it forms. A back end answers (mrvlc/backend/backend.h);
// partitioning knows no other way to it.
#pragma once
#include "mrvlc/partition/crossings.h"
#include "mrvlc/partition/legality.h"
#include "mrvlc/partition/rules.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::partition {

class Accelerator {
 public:
  virtual ~Accelerator() = default;

  // The accelerators that this one stands for, in the order in which they are asked: Layer::accelerator and
  // Region::accelerator count them. What is asked below with a layer or a region of one of them is that
  // one's.
  virtual std::vector<const Accelerator*> parts() const { return {this}; }

  // Its name, limits on layers, ports and images, what a launch takes, and the numbers that rules may ask
  // for; 0 where nothing is said.
  virtual const target::Machine& machine() const = 0;

  // Values between layers are rounded to fp16.
  virtual bool half() const { return true; }
  // Without a convolution or a matrix product near, what it saves is not worth the way to it.
  virtual bool needs_product() const { return true; }
  // Its rules see quantised networks with integers right in front of every layer, and weights behind their
  // DequantizeLinear.
  virtual bool sees_integers() const { return false; }

  // Kinds of layers that its rules may make.
  virtual const std::vector<rules::LayerWord>& layer_words() const { return partition::layer_words(); }
  // The rules that come with it, as text, and the same read and checked, once.
  virtual rules::RuleFile rule_file() const = 0;
  virtual const SoundRules& rules() const = 0;

  // Whether it compiles the layer, as a rule made it, whatever that is: kind against anchor, operands, the
  // chain that follows. It is asked of every match of every rule, in one place (place.cpp), and what it says
  // is relied on: what is legal must compile, and be right. From types, attributes and limits alone.
  virtual Legality legal(const ir::Graph& graph, const Layer& layer) const = 0;

  // The forms in which a region is expected to take and give its values, before it is compiled.
  virtual RegionForms forms(const ir::Graph& graph, const Region& region) const = 0;

  // Seconds of a layer, from shapes alone: good for the choice of what is worth compiling, no more.
  virtual double layer_seconds(const ir::Graph& graph, const Layer& layer) const = 0;
  // What a region takes beside its layers: its values from and to memory.
  virtual double border_seconds(const ir::Graph& graph, const Region& region) const = 0;
  // The first answer to the questions above that was none, such as a time below 0.
  virtual Status fault() const { return {}; }
};

}  // namespace mrvlc::partition
