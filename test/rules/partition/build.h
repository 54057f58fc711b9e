// Graphs for the tests of the partition, in text and made at random.
#pragma once
#include <catch2/catch.hpp>

#include "mrvlc/backends/open.h"
#include "mrvlc/ir/text.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/partition/rules.h"

namespace mrvlc::test {

inline target::Machine machine() {
  auto m = target::load_machine("cn10ka", {});
  if (!m.ok()) FAIL(m.error().message);
  return *m;
}

inline const partition::Accelerator& accelerator() {
  static const backends::Opened kOpened = std::move(backends::open(machine(), {}).value());
  return *kOpened;
}

// The body of a graph with an image %x, f32[1,4,8,8], and constants: weights %w f32[4,4,1,1], channels %k
// f32[4,1,1].
inline ir::Graph image_graph(const std::string& body) {
  std::string ones = "1";
  for (int i = 1; i < 16; ++i) ones += ", 1";
  std::string text = "graph \"g\" {\n input %x : f32[1,4,8,8]\n const %w : f32[4,4,1,1] = [" + ones +
                     "]\n const %k : f32[4,1,1] = [1, 2, 3, 4]\n" + body + "\n}\n";
  auto g = ir::parse(text, ops::registry());
  if (!g.ok()) FAIL(g.error().message << "\n" << text);
  return std::move(g).value();
}

// The rules of one file, with the built-in ones or without.
inline partition::SoundRules rules_of(bool defaults, const std::string& text) {
  auto rules = partition::sound_rules(defaults ? partition::BuiltIn(accelerator().rule_file()) : std::nullopt,
                                      {{"my.rules", text}});
  if (!rules.ok()) FAIL(rules.error().message);
  return std::move(rules).value();
}

// " %name = OP : f32[1,4,8,8]"
inline std::string node(const std::string& text) {
  return " " + text + " : f32[1,4,8,8]\n";
}

// A convolution with its normalisation, x * Sigmoid(x), an addition of what folds, another convolution: %d;
// then `more`.
inline ir::Graph conv_swish_conv(const std::string& more) {
  return image_graph(
      " const %s : f32[4] = [1, 2, 3, 4]\n const %v : f32[4] = [1, 1, 1, 1]\n const %w2 : f32[4,4,1,1] = "
      "[1,2,3,4, 1,2,3,4, 1,2,3,4, 1,2,3,4]\n" +
      node("%c = Conv(%x, %w)") + node("%n = BatchNormalization(%c, %s, %s, %s, %v)") +
      node("%g = Sigmoid(%n)") + node("%m = Mul(%n, %g)") + " %k2 = Add(%k, %k) : f32[4,1,1]\n" +
      node("%a = Add(%m, %k2)") + node("%d = Conv(%a, %w2)") + more);
}

inline partition::Partition split(const ir::Graph& g, const partition::Options& options = {},
                                  const partition::Accelerator* a = &accelerator()) {
  auto p = partition::partition(g, a, options);
  if (!p.ok()) FAIL(p.error().message);
  return std::move(p).value();
}

// "R0 C:relu R1": the steps, CPU nodes by the name of their first output.
inline std::string steps(const ir::Graph& g, const partition::Partition& p) {
  std::string out;
  for (const partition::Step& s : p.steps) {
    if (!out.empty()) out += ' ';
    out += s.kind == partition::Step::Kind::Region ? "R" + std::to_string(s.region)
                                                   : "C:" + g.value(g.node(s.node).outputs[0]).name;
  }
  return out;
}

inline const partition::NodeDecision& decision(const ir::Graph& g, const partition::Partition& p,
                                               std::string_view value) {
  for (const auto& d : p.decisions) {
    if (g.value(g.node(d.node).outputs[0]).name == value) return d;
  }
  FAIL("no decision for " << value);
  return p.decisions.front();
}

}  // namespace mrvlc::test
