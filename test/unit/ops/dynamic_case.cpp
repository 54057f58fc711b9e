#include "dynamic_case.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace mrvlc::test {
namespace {

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

// The node as inference sees it, and the types of its results.
struct Prepared {
  std::vector<ir::Attr> attrs;
  ops::InferContext context;
  std::vector<TensorType> types;
};

void describe(const std::string& op, const std::vector<DynamicOperand>& operands, const AttrList& attrs,
              size_t outputs, Prepared& p) {
  p.context.op = &op_of(op);
  p.attrs = slots_of(*p.context.op, attrs);
  p.context.attrs = &p.attrs;
  p.context.num_outputs = outputs;
  for (const DynamicOperand& o : operands) {
    p.context.types.push_back(o.type.elem == E::Undefined ? nullptr : &o.type);
    p.context.constants.push_back(o.constant ? &*o.constant : nullptr);
  }
}

void prepare(const DynamicCase& c, Prepared& p) {
  describe(c.op, c.operands, c.attrs, c.outputs, p);
  auto types = ops::infer_types(op_of(c.op), p.context);
  if (!types.ok()) FAIL(c.op << ": " << types.error().message);
  p.types = *std::move(types);
  p.types.resize(std::min(p.types.size(), c.outputs));
  for (TensorType& type : p.types) {
    for (int64_t& dim : type.shape) dim = dim == kNoBound ? kTestBound : dim;
  }
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
    if (type.is_dynamic(d)) REQUIRE(view.dim[d] == expected.shape()[static_cast<size_t>(d)]);
  }
  auto bytes = expected.bytes();
  std::string raw(static_cast<const char*>(view.data), bytes.size());
  check_same(expected, Tensor(expected.type(), raw));
}

using Function = int (*)(const View* const*, View* const*);

void check_run(const DynamicCase& c, const Prepared& p, const std::vector<Tensor>& given, Function f) {
  std::vector<Operand> known;
  std::vector<View> in(c.operands.size()), out(c.outputs);
  std::vector<Guarded> memory;
  std::string shown;
  for (size_t i = 0, next = 0; i < c.operands.size(); ++i) {
    const DynamicOperand& o = c.operands[i];
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

Result<std::vector<TensorType>> dynamic_types(const std::string& name,
                                              const std::vector<DynamicOperand>& operands,
                                              const AttrList& attrs, size_t outputs) {
  Prepared p;
  describe(name, operands, attrs, outputs, p);
  return ops::infer_types(op_of(name), p.context);
}

void check_dynamic(const std::vector<DynamicCase>& cases) {
  std::vector<Prepared> prepared(cases.size());
  std::string code;
  for (size_t k = 0; k < cases.size(); ++k) {
    prepare(cases[k], prepared[k]);
    code += dynamic_code_of(prepared[k].context, prepared[k].types, k);
  }
  CLibrary library(code);
  for (size_t k = 0; k < cases.size(); ++k) {
    CAPTURE(cases[k].op, k, to_string(prepared[k].types[0]));
    auto f = library.function<Function>(fmt::format("f{}", k));
    for (const auto& given : cases[k].runs) check_run(cases[k], prepared[k], given, f);
  }
}

}  // namespace mrvlc::test
