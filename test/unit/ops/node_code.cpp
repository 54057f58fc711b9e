#include "node_code.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "mrvlc/ops/run_time_shapes.h"
#include "mrvlc/tensor/narrow.h"

namespace mrvlc::test {
namespace {

// What the emission sees. Tables and scratch are static arrays in front of the body.
class NodeEmission final : public ops::EmitContext, public ops::RunTimeShapes {
 public:
  NodeEmission(const ops::InferContext& context, const std::vector<TensorType>& results, bool dynamic)
      : context_(context), results_(results), dynamic_(dynamic) {
    node_.op = context.op;
    node_.attrs = *context.attrs;
    for (uint32_t i = 0; i < context.types.size(); ++i)
      node_.inputs.push_back(has(i) ? ir::ValueId(i) : ir::ValueId());
    for (uint32_t i = 0; i < results.size(); ++i) node_.outputs.emplace_back(100 + i);
  }
  const ir::Node& node() const override { return node_; }
  bool has(size_t i) const override { return context_.has(i); }
  const TensorType& in_type(size_t i) const override { return context_.type(i); }
  const TensorType& out_type(size_t i) const override { return results_[i]; }
  const Tensor* constant(size_t i) const override { return context_.constant(i); }
  std::string in(size_t i) const override { return fmt::format("x{}", i); }
  std::string out(size_t i) const override { return fmt::format("y{}", i); }
  bool is_dynamic() const override { return dynamic_; }
  std::string in_dim(size_t i, int64_t d) const override { return dim('v', in_type(i), i, d); }
  std::string out_dim(size_t i, int64_t d) const override { return dim('w', out_type(i), i, d); }
  void set_dims(size_t i, const std::vector<std::string>& dims) override {
    if (!dynamic_) return;
    const TensorType& type = out_type(i);
    REQUIRE(static_cast<int64_t>(dims.size()) == type.rank());
    std::string given = dims.empty() ? "0" : fmt::format("{}", fmt::join(dims, ", "));
    std::string bounds = dims.empty() ? "0" : fmt::format("{}", fmt::join(type.shape, ", "));
    line(fmt::format(
        "if (K_set_dims(w{}, {}, (const int64_t[]){{{}}}, (const int64_t[]){{{}}}, {}u, {})) return 1;", i,
        dims.size(), given, bounds, type.dynamic, type.elements()));
  }
  void fail_if(std::string_view condition) override {
    if (dynamic_) line(fmt::format("if ({}) return 2;", condition));
  }
  void line(std::string_view text) override { body_.append(text).append("\n"); }
  void open(std::string_view head) override { body_.append(head).append(" {\n"); }
  void close() override { body_.append("}\n"); }
  std::string helper(std::string_view name) override { return "K_" + std::string(name); }
  std::string scratch(int64_t bytes) override {
    std::string name = fmt::format("s{}", arrays_++);
    front_ += fmt::format("static double {}[{}];\n", name, bytes / 8 + 1);
    return fmt::format("((void*){})", name);
  }
  std::string table(const Tensor& tensor) override {
    std::string name = fmt::format("t{}", arrays_++), values;
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      values += is_float(tensor.elem()) ? ops::c_literal(tensor.as_double(i), tensor.elem())
                                        : ops::c_literal(tensor.as_int(i), tensor.elem());
      values += ", ";
    }
    front_ += fmt::format("static const {} {}[] = {{{}}};\n", ops::c_type(tensor.elem()), name, values);
    return name;
  }

  std::string body() const { return front_ + body_; }
  std::string in_c_type(size_t i) const {
    return has(i) ? std::string(ops::c_type(in_type(i).elem)) : "void";
  }

 private:
  static std::string dim(char view, const TensorType& type, size_t i, int64_t d) {
    if (!type.is_dynamic(d)) return std::to_string(type.shape[static_cast<size_t>(d)]);
    return fmt::format("{}{}->dim[{}]", view, i, d);
  }
  const ops::InferContext& context_;
  const std::vector<TensorType>& results_;
  bool dynamic_;
  ir::Node node_;
  std::string body_, front_;
  int arrays_ = 0;
};

void emit(NodeEmission& emission, Status (*facet)(ops::EmitContext&)) {
  std::string_view name = emission.node().op->name;
  if (facet == nullptr) FAIL(name << " has no emission");
  Status status = facet(emission);
  if (!status.ok()) FAIL(name << ": " << status.error().message);
}

}  // namespace

std::string code_of(const ops::InferContext& node, const std::vector<TensorType>& results, size_t number) {
  NodeEmission emission(node, results, false);
  emit(emission, static_cast<const ops::OpDef*>(node.op)->emit);
  std::string parameters, arguments, unused;
  auto add = [&](const std::string& type, const std::string& name, const std::string& argument) {
    const char* separator = parameters.empty() ? "" : ", ";
    parameters += fmt::format("{}{}* restrict {}", separator, type, name);
    arguments += separator + argument;
    unused += fmt::format("(void){};\n", name);
  };
  for (size_t i = 0; i < node.num_inputs(); ++i)
    add("const " + emission.in_c_type(i), emission.in(i), fmt::format("x[{}]", i));
  for (size_t i = 0; i < results.size(); ++i)
    add(std::string(ops::c_type(results[i].elem)), emission.out(i), fmt::format("y[{}]", i));
  return fmt::format(
      "static void emission{0}({1}) {{\n{2}{3}}}\n"
      "void f{0}(const void* const* x, void* const* y) {{ (void)x; emission{0}({4}); }}\n",
      number, parameters, unused, emission.body(), arguments);
}

std::string dynamic_code_of(const ops::InferContext& node, const std::vector<TensorType>& results,
                            size_t number) {
  NodeEmission emission(node, results, true);
  emit(emission, static_cast<const ops::OpDef*>(node.op)->emit_dynamic);
  std::string text = fmt::format("int f{}(const K_view* const* in, K_view* const* out) {{\n", number);
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    if (!node.has(i)) continue;
    text += fmt::format(
        "const K_view* v{0} = in[{0}];\nconst {1}* const restrict x{0} = in[{0}]->data;\n(void)v{0}; "
        "(void)x{0};\n",
        i, emission.in_c_type(i));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    text += fmt::format(
        "K_view* w{0} = out[{0}];\n{1}* const restrict y{0} = out[{0}]->data;\n(void)w{0}; (void)y{0};\n", i,
        ops::c_type(results[i].elem));
  }
  return text + emission.body() + "return 0;\n}\n";
}

std::vector<Tensor> call(const CLibrary& library, size_t number, const std::vector<const Tensor*>& operands,
                         const std::vector<TensorType>& types) {
  std::vector<const void*> in;
  for (const Tensor* t : operands) in.push_back(t != nullptr ? t->bytes().data() : nullptr);
  std::vector<Tensor> results;
  std::vector<void*> out;
  for (const TensorType& type : types) {
    // Not zero, so that elements the code forgets are seen.
    auto bytes = results.emplace_back(type).mutable_data<std::byte>();
    std::memset(bytes.data(), 0x5a, bytes.size());
  }
  for (Tensor& t : results) out.push_back(t.mutable_data<std::byte>().data());
  using Function = void (*)(const void* const*, void* const*);
  library.function<Function>(fmt::format("f{}", number))(in.data(), out.data());
  return results;
}

void check_same(const Tensor& expected, const Tensor& actual) {
  ElementType elem = expected.elem();
  for (int64_t i = 0; i < expected.elements(); ++i) {
    CAPTURE(i);
    if (is_narrow_float(elem)) {
      REQUIRE(actual.bytes()[static_cast<size_t>(i)] == expected.bytes()[static_cast<size_t>(i)]);
      continue;
    }
    if (!is_float(elem)) {
      REQUIRE(actual.as_int(i) == expected.as_int(i));
      continue;
    }
    double e = expected.as_double(i), a = actual.as_double(i);
    CAPTURE(e, a);
    bool same = (std::isnan(e) && std::isnan(a)) || e == a;
    // expf and friends are good to a few ulp, float sums of 200 terms to a few dozen.
    double bound = (elem == ElementType::F64 ? 1e-12 : 1e-5) * std::max(1.0, std::fabs(e));
    if (!same && !(std::fabs(e - a) <= bound)) FAIL("differs");
  }
}

Tensor sample(ElementType elem, const Shape& shape, uint32_t seed) {
  Tensor t(TensorType{elem, shape});
  for (int64_t i = 0; i < t.elements(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    int64_t v = static_cast<int64_t>(seed >> 24) - 128;
    if (elem == ElementType::Bool) {
      t.set_int(i, v & 1);
    } else if (is_float(elem)) {
      t.set_double(i, static_cast<double>(v) / 32);
    } else {
      t.set_int(i, v / 8);
    }
  }
  return t;
}

}  // namespace mrvlc::test
