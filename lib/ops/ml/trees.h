// Ensembles of decision trees in one form: what TreeEnsembleRegressor, TreeEnsembleClassifier and
// TreeEnsemble of ai.onnx.ml have in common.
#pragma once
#include "ml/ml.h"

namespace mrvlc::ops::ml {

// The numbers are those of TreeEnsemble's nodes_modes.
enum class Split : uint8_t { Leq, Lt, Gte, Gt, Eq, Neq, Member };
enum class Aggregate : uint8_t { Average, Sum, Min, Max };

struct Trees {
  // A child or root: the number of a node, or -1 - the number of a leaf.
  struct Node {
    Split split = Split::Leq;
    bool missing_is_true = false;
    int64_t feature = 0, if_true = 0, if_false = 0;
    double value = 0;
    int64_t set_begin = 0, set_end = 0;  // of Member: values in `members`
  };
  struct Vote {
    int64_t target = 0;
    double weight = 0;
  };
  std::vector<Node> nodes;
  std::vector<std::vector<Vote>> leaves;
  std::vector<int64_t> roots;
  std::vector<double> members;
  std::vector<double> base;  // one a target, or none
  ElementType value_type = ElementType::F32;
  Aggregate aggregate = Aggregate::Sum;
  int64_t targets = 1;

  // Children in range and without cycles, features below `features`, targets in range.
  Status check(int64_t features) const;
};

// From the attributes of TreeEnsembleRegressor and TreeEnsembleClassifier; `votes`: "target" or "class".
Result<Trees> read_trees(const InferContext& context, const std::string& votes, int64_t targets);
// From those of TreeEnsemble.
Result<Trees> read_ensemble(const InferContext& context);

// Scores of one row; has[t]: some tree voted for target t. The base values are not added yet.
struct Scores {
  std::vector<double> value;
  std::vector<uint8_t> has;
};
Scores run_trees(const Trees& trees, const Tensor& x, int64_t row, int64_t features);
// For a row at the C pointer `x`: fills `y` of `targets` elements of type `elem`; with `has` not empty, too
// the uint8_t there.
class TreesText {
 public:
  TreesText(EmitContext& context, const Trees& trees, ElementType x, ElementType elem);
  void emit_row(std::string_view y, std::string_view has) const;

 private:
  std::string condition(std::string_view v) const;
  std::string vote(std::string_view y, std::string_view has) const;
  EmitContext& context_;
  const Trees& trees_;
  ElementType compare_, elem_;
  bool one_split_ = true, any_missing_ = false, any_member_ = false;
  std::string features_, values_, yes_, no_, splits_, missing_, set_begin_, members_, roots_, first_,
      targets_, weights_;
};

}  // namespace mrvlc::ops::ml
