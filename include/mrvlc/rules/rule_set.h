// A checked set of rules in the order in which they decide: priority (higher first), size of the pattern
// (larger first), name. The order of files and of rules in a file never matters.
#pragma once
#include <functional>
#include <string_view>

#include "mrvlc/ops/op.h"
#include "mrvlc/rules/rule.h"

namespace mrvlc::rules {

// Where operators are looked up; ops::find_op in the compiler.
using FindOperator = std::function<const ops::OpDef*(std::string_view domain, std::string_view name)>;

struct RuleFile {
  std::string shown_name, text;
  bool built_in = false;  // no `include` finds it
};
// The names of the files that the text includes, as they stand there, and the shown name of such a file.
std::vector<std::string> includes_of(std::string_view text);
std::string included_name(std::string_view shown_name, std::string_view include);

// A word that may stand after `layer`.
struct LayerWord {
  std::string_view name;
  // Legality is asked for every match of a rule of this kind (MatchOptions::legal), and its anchor must be
  // one of `anchors`. False: the kind claims nothing of the accelerator and begins with any operator.
  bool accelerated = true;
  std::vector<const ops::OpDef*> anchors;
};

// The words that rules are made of, besides those of the language.
struct Vocabulary {
  std::vector<LayerWord> kinds;  // what may stand after `layer`
  FindOperator find_operator;
  std::vector<const ops::OpDef*> operators;  // all that it finds, for "did you mean"
  std::vector<std::string_view> machine;     // numbers that machine("...") knows
};

class RuleSet {
 public:
  const std::vector<Rule>& rules() const { return rules_; }
  const Rule* find(std::string_view name) const;

 private:
  friend struct LoadResult load_rules(const std::vector<RuleFile>&, const Vocabulary&);
  std::vector<Rule> rules_;
};

// The set holds rules only when there are no errors.
struct LoadResult {
  RuleSet set;
  // Errors and warnings in order of file and line, at most 64; each with an excerpt of the file.
  Diagnostics diagnostics;
  Diagnostics advice;  // notes on what is no mistake; only without errors
};

// Parses and checks. Refused, each with file, line and column:
// syntax (MRV0301), unknown operators (0302) and predicates (0303), wrong number or kinds of operands and
// arguments (0304), unbound captures (0305), duplicate names (0306), overlap at equal priority (0307),
// shadowed rules (0308), unknown layer kinds (0309), missing clauses (0310), malformed patterns (0311), files
// beyond the limits (0313), unknown attributes (0314), anchors that the layer kind does not begin with
// (0316), conditions that never hold (0318) or contradict each other (0319), included files that are not
// among `files` (0329) or include each other (0330). Warnings: a clause `accelerator_can(layer)` of older
// files (0317), rules hidden by shorter ones (0320), files without rules (0322).
LoadResult load_rules(const std::vector<RuleFile>& files, const Vocabulary& vocabulary);

}  // namespace mrvlc::rules
