// One attempt of a rule at a node: what is still to be matched, in which order, and what was bound on the
// way.
#pragma once
#include <memory>
#include <span>

#include "mrvlc/rules/matcher.h"

namespace mrvlc::rules {

bool is_operator(const Element& element, const ir::OpSchema& op);
bool commutative(const ir::Node& node);

// Producers first.
void sort_nodes(const ir::Graph& graph, std::vector<ir::NodeId>& nodes);

// Backtracking over tasks: items of the pattern that are not matched yet. The first of them that is connected
// with what is matched comes next, so elements may stand in any order.
class MatchSearch {
 public:
  MatchSearch(const Rule& rule, const ir::Graph& graph, const MatchOptions& options);
  Outcome run(ir::NodeId anchor);

 private:
  // Another round of alternatives, when all tasks of its group are done.
  struct Again {
    std::string exit;  // the name of the result of the round before
    Binding entry;     // what the first round read
  };
  // Copied at every step: no strings in it.
  struct Task {
    const Item* item;
    size_t round = 0;              // of a repetition
    size_t group = 0;              // the attempt at alternatives that it belongs to, from 1
    ir::ValueId made = {};         // of an element repeated upwards: what its next round makes
    const Again* again = nullptr;  // of alternatives; one of agains_
  };
  using Tasks = std::vector<Task>;
  // How an element is reached: by a value that it makes, or one that it reads.
  struct Link {
    ir::ValueId value;
    bool upwards = false;
    bool inside = false;   // the value was made by a matched node
    ir::NodeId node = {};  // that node
  };
  // Bindings and nodes at some time, to go back to.
  struct Mark {
    size_t nodes, bindings;
  };

  Mark mark() const { return {match_.nodes.size(), match_.bindings.size()}; }
  void undo(Mark m);
  const Binding* find(std::string_view capture) const { return match_.find(capture); }
  void bind(Binding b) { match_.bindings.push_back(std::move(b)); }
  void bind_absent(const std::string& capture);
  const Element& element(const Item& item) const { return rule_.pattern[item.element]; }

  // True, of all of these: a match was accepted, and the search is over.
  bool solve(const Tasks& tasks);
  bool solve_linked(const Tasks& tasks, bool inside, bool& tried);
  bool attempt(Tasks rest, const Task& task, const Link& link);
  bool extend(const Tasks& rest, const Task& task, const Element& e, const Link& link);
  bool after_take(const Tasks& rest, const Task& task, const Element& e, const Link& link, ir::NodeId node);
  bool extend_list(const Tasks& rest, const Element& e);
  bool leave_out(const Tasks& rest, const Task& task, const Link* link);
  bool attempt_choice(const Tasks& tasks, size_t at);
  bool another_round(const Tasks& tasks, size_t at);
  bool alternatives(const Item& item, size_t round, const Binding& entry, const Tasks& before,
                    const Tasks& after);
  bool leave_out_choice(const Tasks& rest, const Item& item);

  std::optional<Link> link_of(const Task& task) const;
  std::optional<Link> link_of(const Element& e, const Task& task) const;
  std::optional<Link> link_of_choice(const Item& item) const;
  std::optional<Binding> entry_of(const std::vector<Item>& items) const;
  bool stands_outside(const std::string& name, const std::vector<const Element*>& inside) const;
  void forget_round(const Item& item);
  // What is left out passes the value on: its first operand is what it would have made.
  bool pass_upwards(const Element& first, ir::ValueId value);

  bool may_extend(const Element& e, ir::NodeId node, bool reads_match);
  // In program order; in `sorted` where they are not so in the graph.
  std::span<const ir::NodeId> candidates(const Link& link, std::vector<ir::NodeId>& sorted) const;
  // Calls then() with the node taken, for each order of its operands; undone when that says false.
  bool take(const Element& e, ir::NodeId id, const Link* link, const std::function<bool()>& then);
  bool operands(const Element& e, const std::vector<ir::ValueId>& inputs, const Link* link);
  bool operand(const Element& e, const PatternOperand& o, ir::ValueId value, const Link* link);
  bool list_operand(const std::string& capture, std::vector<ir::ValueId> values);
  bool outputs(const Element& e, ir::NodeId id, const Link* link);
  bool output(const std::string& name, ir::NodeId id, size_t index);
  bool collect(const Element& e, const std::vector<ir::ValueId>& inputs,
               std::vector<std::vector<ir::ValueId>>& lists);

  bool candidate();
  bool read_outside();
  bool begins_region_inside() const;
  void refused(Verdict v, size_t conditions_held);
  void explain();

  const Rule& rule_;
  const ir::Graph& graph_;
  const MatchOptions& options_;
  Match match_;
  Outcome outcome_;
  Stop stop_;
  std::vector<ir::NodeId> refused_;  // the nodes of the last candidate
  bool illegal_ = false;             // and whether it was legality that refused them
  size_t steps_ = 0, groups_ = 0, widest_ = 0;
  std::vector<std::unique_ptr<const Again>> agains_;  // where tasks point, while more come
};

}  // namespace mrvlc::rules
