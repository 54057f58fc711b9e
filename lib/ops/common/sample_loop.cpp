// An EmitContext that shows one sample, keeps the text, and writes it inside the loop over samples.
#include "common/sample_loop.h"

#include <set>

#include "common/dynamic_util.h"

namespace mrvlc::ops {
namespace {

TensorType sample_type(TensorType type) {
  type.shape[0] = 1;
  type.dynamic = 0;
  type.capacity = -1;
  return type;
}

// The node as its static emission sees it, with the pointers of one sample. The text is kept until it is
// known which of them it uses.
class SampleContext final : public EmitContext {
 public:
  explicit SampleContext(EmitContext& whole) : whole_(whole), input_(sample_type(whole.in_type(0))) {
    for (size_t i = 0; i < whole.node().outputs.size(); ++i)
      outputs_.push_back(sample_type(whole.out_type(i)));
  }

  const ir::Node& node() const override { return whole_.node(); }
  bool has(size_t i) const override { return whole_.has(i); }
  const TensorType& in_type(size_t i) const override { return i == 0 ? input_ : whole_.in_type(i); }
  const TensorType& out_type(size_t i) const override { return outputs_[i]; }
  bool wants_little_text() const override { return whole_.wants_little_text(); }
  const Tensor* constant(size_t i) const override { return i == 0 ? nullptr : whole_.constant(i); }
  std::string in(size_t i) const override {
    if (i != 0) return whole_.in(i);
    reads_ = true;
    return "sample_x0";
  }
  std::string out(size_t i) const override {
    written_.insert(i);
    return fmt::format("sample_y{}", i);
  }
  std::string in_dim(size_t i, int64_t d) const override {
    return i == 0 ? fmt::format("{}", input_.shape[at(d)]) : whole_.in_dim(i, d);
  }
  std::string out_dim(size_t i, int64_t d) const override {
    return fmt::format("{}", outputs_[i].shape[at(d)]);
  }
  void set_dims(size_t, const std::vector<std::string>&) override {}
  void fail_if(std::string_view) override {}
  void line(std::string_view text) override { body_.emplace_back('l', text); }
  void open(std::string_view head) override { body_.emplace_back('o', head); }
  void close() override { body_.emplace_back('c', ""); }
  std::string helper(std::string_view name) override { return whole_.helper(name); }
  std::string scratch(int64_t bytes) override { return whole_.scratch(bytes); }
  std::string table(const Tensor& tensor) override { return whole_.table(tensor); }

  void finish() {
    whole_.open(fmt::format("for (int64_t sample = 0; sample < {}; ++sample)", whole_.in_dim(0, 0)));
    if (reads_) pointer("const ", "sample_x0", whole_.in(0), input_);
    for (size_t i : written_) pointer("", fmt::format("sample_y{}", i), whole_.out(i), outputs_[i]);
    for (const auto& [kind, text] : body_) {
      if (kind == 'l') whole_.line(text);
      if (kind == 'o') whole_.open(text);
      if (kind == 'c') whole_.close();
    }
    whole_.close();
  }

 private:
  void pointer(std::string_view constness, const std::string& name, const std::string& from,
               const TensorType& type) {
    whole_.line(fmt::format("{0}{1}* const restrict {2} = {3} + sample * {4};", constness, c_type(type.elem),
                            name, from, type.elements()));
  }
  EmitContext& whole_;
  TensorType input_;
  std::vector<TensorType> outputs_;
  std::vector<std::pair<char, std::string>> body_;
  mutable std::set<size_t> written_;
  mutable bool reads_ = false;
};

bool only_samples(const TensorType& type) {
  return type.dynamic == 1 && type.wrapper == Wrapper::None && type.capacity < 0;
}

}  // namespace

bool has_dynamic_samples(const EmitContext& context) {
  if (!only_samples(context.in_type(0))) return false;
  for (size_t i = 1; i < context.node().inputs.size(); ++i) {
    if (context.has(i) && !context.in_type(i).is_static()) return false;
  }
  for (size_t i = 0; i < context.node().outputs.size(); ++i) {
    if (!only_samples(context.out_type(i))) return false;
  }
  return true;
}

Status emit_by_sample(EmitContext& context, const std::function<Status(EmitContext&)>& emit) {
  for (size_t i = 0; i < context.node().outputs.size(); ++i) {
    Texts dims{context.in_dim(0, 0)};
    for (int64_t d = 1; d < context.out_type(i).rank(); ++d) dims.push_back(context.out_dim(i, d));
    context.set_dims(i, dims);
  }
  SampleContext sample(context);
  if (sample.in_type(0).elements() == 0) return {};
  for (size_t i = 0; i < context.node().outputs.size(); ++i) {
    if (sample.out_type(i).elements() == 0) return {};
  }
  MRVLC_TRY(emit(sample));
  sample.finish();
  return {};
}

InferContext sample_view(const EmitContext& context, std::vector<TensorType>& types) {
  types = {sample_type(context.in_type(0))};
  InferContext view = emit_view(context);
  view.types[0] = &types[0];
  return view;
}

}  // namespace mrvlc::ops
