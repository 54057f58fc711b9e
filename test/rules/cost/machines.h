// Targets for tests of the choice by cost: cn10ka, a machine of a quarter of its size, one that computes
// element-wise operators in float32, and a library that does too.
#pragma once
#include "mrvlc/partition/costs.h"
#include "mrvlc/partition/library.h"
#include "mrvlc/partition/partition.h"
#include "partition/build.h"

namespace mrvlc::test {

// Several accelerators as one, in an order of the test's own.
class Machines : public partition::Accelerator {
 public:
  explicit Machines(std::vector<const partition::Accelerator*> parts) : parts_(std::move(parts)) {}
  std::vector<const Accelerator*> parts() const override { return parts_; }
  const target::Machine& machine() const override { return parts_.front()->machine(); }
  rules::RuleFile rule_file() const override { return parts_.front()->rule_file(); }
  const partition::SoundRules& rules() const override { return parts_.front()->rules(); }
  partition::Legality legal(const ir::Graph& g, const partition::Layer& l) const override {
    return parts_[l.accelerator]->legal(g, l);
  }
  partition::RegionForms forms(const ir::Graph& g, const partition::Region& r) const override {
    return parts_[r.accelerator]->forms(g, r);
  }
  double layer_seconds(const ir::Graph& g, const partition::Layer& l) const override {
    return parts_[l.accelerator]->layer_seconds(g, l);
  }
  double border_seconds(const ir::Graph& g, const partition::Region& r) const override {
    return parts_[r.accelerator]->border_seconds(g, r);
  }

 private:
  std::vector<const Accelerator*> parts_;
};

// The names of the targets, in the order of --target.
using Names = std::vector<std::string>;
const Names& all_targets();  // "cn10ka", "quarter", "vector", "library"

// What --target names, ready for partition(). Lives as long as the partition is asked.
class NamedTargets {
 public:
  explicit NamedTargets(const Names& names);
  const partition::Accelerator* accelerator() const { return parts_.empty() ? nullptr : &machines_; }
  const partition::Options& options() const { return options_; }
  partition::Options& options() { return options_; }

 private:
  static std::vector<const partition::Accelerator*> find_parts(const Names& names);
  std::vector<const partition::Accelerator*> parts_;
  Machines machines_;
  std::vector<partition::Library> libraries_;
  partition::Options options_;
};

// Whose each node is, by the name of its first result.
std::map<std::string, std::string> targets_of(const ir::Graph& graph, const partition::Partition& partition,
                                              const partition::Accelerator* accelerator);

}  // namespace mrvlc::test
