#include "harness.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace mrvlc::test {
namespace {

class OpenContext final : public ops::EmitContext {
 public:
  OpenContext(const ir::Node& node, const OpenCase& c, const std::vector<TensorType>& outputs)
      : node_(node), case_(c), outputs_(outputs) {}
  const ir::Node& node() const override { return node_; }
  bool has(size_t i) const override {
    return i < case_.operands.size() && case_.operands[i].type.elem != E::Undefined;
  }
  const TensorType& in_type(size_t i) const override { return case_.operands[i].type; }
  const TensorType& out_type(size_t i) const override { return outputs_[i]; }
  const Tensor* constant(size_t i) const override {
    return has(i) && case_.operands[i].constant ? &*case_.operands[i].constant : nullptr;
  }
  std::string in(size_t i) const override { return fmt::format("x{}", i); }
  std::string out(size_t i) const override { return fmt::format("y{}", i); }
  std::string in_dim(size_t i, int64_t d) const override { return dim('v', in_type(i), i, d); }
  std::string out_dim(size_t i, int64_t d) const override { return dim('w', out_type(i), i, d); }
  void set_dims(size_t i, const std::vector<std::string>& dims) override {
    const TensorType& type = out_type(i);
    REQUIRE(static_cast<int64_t>(dims.size()) == type.rank());
    std::string given = dims.empty() ? "0" : fmt::format("{}", fmt::join(dims, ", "));
    std::string bounds = dims.empty() ? "0" : fmt::format("{}", fmt::join(type.shape, ", "));
    line(fmt::format(
        "if (K_set_dims(w{}, {}, (const int64_t[]){{{}}}, (const int64_t[]){{{}}}, {}u, {})) return 1;", i,
        dims.size(), given, bounds, type.open, type.elements()));
  }
  void fail_if(std::string_view condition) override { line(fmt::format("if ({}) return 2;", condition)); }
  void line(std::string_view line) override { text.append(line).append("\n"); }
  void open(std::string_view head) override { text.append(head).append(" {\n"); }
  void close() override { text.append("}\n"); }
  std::string helper(std::string_view name) override { return "K_" + std::string(name); }
  std::string scratch(int64_t bytes) override {
    std::string name = fmt::format("s{}", fronts_++);
    front += fmt::format("static double {}[{}];\n", name, bytes / 8 + 1);
    return fmt::format("((void*){})", name);
  }
  std::string table(const Tensor& tensor) override {
    std::string name = fmt::format("t{}", fronts_++), values;
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      values += is_float(tensor.elem()) ? ops::c_literal(tensor.as_double(i), tensor.elem())
                                        : ops::c_literal(tensor.as_int(i), tensor.elem());
      values += ", ";
    }
    front += fmt::format("static const {} {}[] = {{{}}};\n", ops::c_type(tensor.elem()), name, values);
    return name;
  }

  std::string text, front;  // body, and the declarations in front of it

 private:
  static std::string dim(char view, const TensorType& type, size_t i, int64_t d) {
    if (!type.is_open(d)) return std::to_string(type.shape[static_cast<size_t>(d)]);
    return fmt::format("{}{}->dim[{}]", view, i, d);
  }
  const ir::Node& node_;
  const OpenCase& case_;
  const std::vector<TensorType>& outputs_;
  int fronts_ = 0;
};

struct View {
  void* data = nullptr;
  int64_t dim[8] = {};
};

// Bytes that end where a page begins that must not be touched.
class Guarded {
 public:
  explicit Guarded(size_t bytes) {
    constexpr size_t kPage = 4096;
    size_t room = (bytes + kPage - 1) / kPage * kPage;
    size_ = room + kPage;
    base_ = static_cast<std::byte*>(
        mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(base_ != MAP_FAILED);
    REQUIRE(mprotect(base_ + room, kPage, PROT_NONE) == 0);
    data = base_ + room - bytes;
  }
  Guarded(Guarded&& other) noexcept
      : data(other.data), base_(std::exchange(other.base_, nullptr)), size_(other.size_) {}
  Guarded(const Guarded&) = delete;
  ~Guarded() {
    if (base_ != nullptr) munmap(base_, size_);
  }
  std::byte* data = nullptr;

 private:
  std::byte* base_ = nullptr;
  size_t size_ = 0;
};

struct Prepared {
  ir::Node node;
  std::vector<TensorType> types;
};

Prepared prepare(const OpenCase& c) {
  Prepared p;
  auto types = open_types(c.op, c.operands, c.attrs, c.outputs);
  if (!types.ok()) FAIL(c.op << ": " << types.error().message);
  p.types = *types;
  for (TensorType& type : p.types) {
    for (int64_t& dim : type.shape) dim = dim == kNoBound ? kTestBound : dim;
  }
  const ops::OpDef& op = *ops::find_op("", c.op);
  p.node.op = &op;
  p.node.attrs = ir::default_attrs(op);
  for (const auto& [name, value] : c.attrs) ir::set_attr(op, p.node.attrs, name, value);
  for (size_t i = 0; i < c.operands.size(); ++i) p.node.inputs.emplace_back(static_cast<uint32_t>(i));
  for (size_t i = 0; i < c.outputs; ++i) p.node.outputs.emplace_back(static_cast<uint32_t>(100 + i));
  return p;
}

std::string function_text(const OpenCase& c, const Prepared& p, size_t k) {
  OpenContext context(p.node, c, p.types);
  auto* emit = static_cast<const ops::OpDef*>(p.node.op)->emit_open;
  if (emit == nullptr) FAIL(c.op << " has no emit_open");
  Status status = emit(context);
  if (!status.ok()) FAIL(c.op << ": " << status.error().message);
  std::string head = fmt::format("int f{}(const K_view* const* in, K_view* const* out) {{\n", k);
  for (size_t i = 0; i < c.operands.size(); ++i) {
    if (!context.has(i)) continue;
    head += fmt::format(
        "const K_view* v{0} = in[{0}];\nconst {1}* const restrict x{0} = in[{0}]->data;\n(void)v{0}; "
        "(void)x{0};\n",
        i, ops::c_type(context.in_type(i).elem));
  }
  for (size_t i = 0; i < c.outputs; ++i) {
    head += fmt::format(
        "K_view* w{0} = out[{0}];\n{1}* const restrict y{0} = out[{0}]->data;\n(void)w{0}; (void)y{0};\n", i,
        ops::c_type(p.types[i].elem));
  }
  return head + context.front + context.text + "return 0;\n}\n";
}

Guarded guarded_copy(const Tensor& tensor, View& view) {
  auto bytes = tensor.bytes();
  Guarded g(bytes.size());
  if (!bytes.empty()) std::memcpy(g.data, bytes.data(), bytes.size());
  view.data = g.data;
  for (size_t d = 0; d < tensor.shape().size(); ++d) view.dim[d] = tensor.shape()[d];
  return g;
}

void check_result(const Tensor& expected, const TensorType& type, const View& view) {
  for (int64_t d = 0; d < type.rank(); ++d) {
    if (type.is_open(d)) REQUIRE(view.dim[d] == expected.shape()[static_cast<size_t>(d)]);
  }
  auto bytes = expected.bytes();
  std::string raw(static_cast<const char*>(view.data), bytes.size());
  Tensor actual(expected.type(), raw);
  for (int64_t i = 0; i < expected.elements(); ++i) {
    CAPTURE(i);
    if (!is_float(expected.elem())) {
      REQUIRE(actual.as_int(i) == expected.as_int(i));
      continue;
    }
    double e = expected.as_double(i), a = actual.as_double(i);
    bool same = (std::isnan(e) && std::isnan(a)) || e == a;
    if (!same) REQUIRE(a == Approx(e).epsilon(1e-5).margin(1e-6));
  }
}

using Function = int (*)(const View* const*, View* const*);

void check_run(const OpenCase& c, const Prepared& p, const std::vector<Tensor>& given, Function f) {
  std::vector<Operand> known;
  std::vector<View> in(c.operands.size()), out(c.outputs);
  std::vector<Guarded> memory;
  std::string shown;
  for (size_t i = 0, next = 0; i < c.operands.size(); ++i) {
    const OpenOperand& o = c.operands[i];
    if (o.type.elem == E::Undefined) {
      known.push_back({});
      continue;
    }
    known.push_back({o.constant ? *o.constant : given.at(next++), true});
    if (!o.constant) {
      REQUIRE(admits(o.type, known.back().tensor.type()));
      shown += to_string(known.back().tensor.type()) + " ";
      if (o.type.elem == E::I64) shown += fmt::format("{} ", fmt::join(known.back().tensor.to_ints(), ","));
    }
    memory.push_back(guarded_copy(known.back().tensor, in[i]));
  }
  auto expected = OneNode(c.op, known, c.attrs, c.outputs).run();
  std::string why = expected.ok() ? std::string() : expected.error().message;
  CAPTURE(shown, why);
  bool fits = expected.ok();
  for (size_t i = 0; i < c.outputs; ++i) {
    fits = fits && admits(p.types[i], (*expected)[i].type());
    memory.emplace_back(static_cast<size_t>(p.types[i].bytes()));
    out[i].data = memory.back().data;
  }
  std::vector<const View*> in_list;
  std::vector<View*> out_list;
  for (const View& v : in) in_list.push_back(&v);
  for (View& v : out) out_list.push_back(&v);
  int status = f(in_list.data(), out_list.data());
  if (fits != (status == 0)) FAIL("returned " << status << ", expected " << (fits ? "a result" : "an error"));
  for (size_t i = 0; fits && i < c.outputs; ++i) check_result((*expected)[i], p.types[i], out[i]);
}

}  // namespace

Result<std::vector<TensorType>> open_types(const std::string& name, const std::vector<OpenOperand>& operands,
                                           const AttrList& attrs, size_t outputs) {
  const ops::OpDef& op = *ops::find_op("", name);
  std::vector<ir::Attr> slots = ir::default_attrs(op);
  for (const auto& [attr, value] : attrs) ir::set_attr(op, slots, attr, value);
  ops::InferContext context;
  context.op = &op;
  context.attrs = &slots;
  context.num_outputs = outputs;
  for (const OpenOperand& o : operands) {
    context.types.push_back(o.type.elem == E::Undefined ? nullptr : &o.type);
    context.constants.push_back(o.constant ? &*o.constant : nullptr);
  }
  return ops::infer_types(op, context);
}

Tensor sample(E elem, const Shape& shape, uint32_t seed) {
  Tensor t(TensorType{elem, shape});
  for (int64_t i = 0; i < t.elements(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    int64_t v = static_cast<int64_t>(seed >> 24) - 128;
    if (elem == E::Bool) {
      t.set_int(i, v & 1);
    } else if (is_float(elem)) {
      t.set_double(i, static_cast<double>(v) / 32);
    } else {
      t.set_int(i, v / 8);
    }
  }
  return t;
}

void check_open(const std::vector<OpenCase>& cases, const std::string& name) {
  auto folder = std::filesystem::path(MRVLC_BINARY_DIR) / ("ops_open_" + name);
  std::filesystem::create_directories(folder);
  std::string source = "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n";
  for (auto kernels : {"helpers", "views", "open", "open_nn"})
    source += fmt::format("#include \"" MRVLC_SOURCE_DIR "/lib/chost/kernels/{}.c\"\n", kernels);
  std::vector<Prepared> prepared;
  for (const OpenCase& c : cases) prepared.push_back(prepare(c));
  for (size_t k = 0; k < cases.size(); ++k)
    source += fmt::format("int f{}(const K_view* const* in, K_view* const* out);\n", k);
  for (size_t k = 0; k < cases.size(); ++k) source += function_text(cases[k], prepared[k], k);
  std::ofstream(folder / "ops.c") << source;
  std::string command = fmt::format(
      "cc -std=c99 -O1 -Wall -Wextra -Wconversion -pedantic -Werror -Wno-unused-function "
      "-fsanitize=undefined "
      "-fsanitize-undefined-trap-on-error -shared -fPIC -o '{0}/ops.so' '{0}/ops.c' -lm",
      folder.string());
  REQUIRE(std::system(command.c_str()) == 0);
  void* library = dlopen((folder / "ops.so").c_str(), RTLD_NOW);
  REQUIRE(library != nullptr);
  for (size_t k = 0; k < cases.size(); ++k) {
    CAPTURE(cases[k].op, k, to_string(prepared[k].types[0]));
    auto f = reinterpret_cast<Function>(dlsym(library, fmt::format("f{}", k).c_str()));
    REQUIRE(f != nullptr);
    for (const auto& given : cases[k].runs) check_run(cases[k], prepared[k], given, f);
  }
  dlclose(library);
}

}  // namespace mrvlc::test
