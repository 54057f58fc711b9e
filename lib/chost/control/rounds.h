// What goes round a loop, and what its rounds leave behind; Loop and Scan share both.
#pragma once
#include "control/body_node.h"

namespace mrvlc::chost {

// Values that come out of one round and go into the next: two buffers each, st<k> and nx<k>, which change
// places.
class States {
 public:
  struct Begin {
    size_t input, formal, result;  // the first state among the node's inputs, the body's inputs and outputs
  };
  States(BodyNode& n, const ir::Graph& body, Begin begin, size_t count)
      : n_(n), body_(body), begin_(begin), count_(count) {}

  // Declares the buffers, the first of each with the value that comes in.
  void declare();
  // Views for the call, behind what is there.
  void add_views(std::vector<std::string>& in, std::vector<std::string>& out) const;
  // What came out goes in next.
  void turn();
  // The last ones are the node's first results.
  void give();

 private:
  const TensorType& formal(size_t k) const { return body_.value(body_.inputs()[begin_.formal + k]).type; }
  const TensorType& result(size_t k) const { return body_.value(body_.outputs()[begin_.result + k]).type; }
  BodyNode& n_;
  const ir::Graph& body_;
  Begin begin_;
  size_t count_;
};

// How many rounds a result stacks: a C expression; `so_far`: more may follow.
struct RoundCount {
  std::string_view text;
  bool so_far = false;
};

// One scanned result: a tensor from each round, stacked along an axis. The round's goes to it<k>, and from
// there to its place; dim<k> are the dimensions that all rounds must have.
class ScannedResult {
 public:
  // Result `output` of the node, item `k`; `axis` of the result.
  ScannedResult(BodyNode& n, size_t k, size_t output, const TensorType& item, int64_t axis)
      : n_(n), k_(k), output_(output), item_(item), axis_(axis) {}

  void declare();
  bool is_read() const { return output_ < n_.node().outputs.size(); }
  // Round `i`'s tensor becomes element `index`. The result has the dimensions that `count` rounds give.
  void place(std::string_view index, RoundCount count);
  void set_dims(RoundCount count);

 private:
  BodyNode& n_;
  size_t k_, output_;
  const TensorType& item_;
  int64_t axis_;
};

}  // namespace mrvlc::chost
