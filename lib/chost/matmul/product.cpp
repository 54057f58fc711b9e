// Sizes and strides of products, from the types of their operands and the transposes these are read through.
#include "matmul/product.h"

#include <algorithm>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/dynamic_shapes.h"
#include "program.h"

namespace mrvlc::chost {
namespace {

// Dimensions of an operand. What is dynamic becomes a constant of its own.
Sizes operand_sizes(Function& f, const ir::Node& node, size_t i) {
  NodeContext context(f, node.id);
  Sizes sizes;
  const TensorType& type = context.in_type(i);
  for (int64_t d = 0; d < type.rank(); ++d) {
    if (!type.is_dynamic(d)) {
      sizes.emplace_back(type.shape[static_cast<size_t>(d)]);
      continue;
    }
    const std::string name = fmt::format("n{}_{}", i, d);
    f.put("const ptrdiff_t {} = (ptrdiff_t){};", name, context.in_dim(i, d));
    sizes.push_back(Size::expression(name));
  }
  return sizes;
}

// Dimension in which two operands broadcast, and a check that they do.
Size broadcast_size(NodeContext& context, const Size& a, const Size& b) {
  if (a == b || b == 1) return a;
  if (a == 1) return b;
  if (a.known() && b.known()) return a;  // inference has checked them
  std::string differ = fmt::format("{} != {}", a, b);
  if (!a.known()) differ += fmt::format(" && {} != 1", a);
  if (!b.known()) differ += fmt::format(" && {} != 1", b);
  context.fail_if(differ);
  return a.known() ? a : b.known() ? b : Size::expression(fmt::format("({0} == 1 ? {1} : {0})", a, b));
}

// Strides of matrices of `elements` for the leading dimensions of the result.
Sizes batch_strides(const Sizes& own, const Sizes& result, const Size& elements) {
  Sizes strides(result.size(), 0);
  for (size_t i = 0; i < own.size(); ++i) {
    size_t d = own.size() - 1 - i;
    if (own[d] == 1) continue;
    Size stride = times(size_product(own, d + 1, own.size()), elements);
    bool repeated = !own[d].known() && result[result.size() - 1 - i] != own[d];
    if (repeated) stride = Size::expression(fmt::format("({} == 1 ? 0 : {})", own[d], stride));
    strides[result.size() - 1 - i] = std::move(stride);
  }
  return strides;
}

// Sets the dimensions of a result that has dynamic ones.
void set_result(Function& f, const Sizes& dims) {
  if (!ops::has_dynamic_shapes(f.program().graph, f.head())) return;
  std::vector<std::string> texts;
  for (const Size& dim : dims) texts.push_back(dim.text());
  NodeContext(f, f.nodes().back()).set_dims(0, texts);
}

const OperandView* view_of(Function& f, const ir::Node& node, size_t i) {
  const auto& views = f.program().operand_views;
  const auto at = views.find(node.inputs[i]);
  return at == views.end() ? nullptr : &at->second;
}

// Of an operand that is read through a Transpose: strides of its matrices, and of leading dimensions `lead`.
void take_strides(const OperandView* view, const Sizes& lead, Size& row, Size& column, Sizes& batch) {
  if (view == nullptr) return;
  const std::vector<int64_t>& strides = view->strides;
  row = strides[strides.size() - 2];
  column = strides.back();
  for (size_t d = 0; d < lead.size(); ++d)
    if (lead[d] != 1) batch[batch.size() - lead.size() + d] = strides[d];
}

// Stride of a dimension of C that broadcasts to `size`, and a check that it does.
Size operand_stride(NodeContext& context, const Size& dim, const Size& size, const Size& stride) {
  if (dim == 1) return 0;
  if (dim == size || (dim.known() && size.known())) return stride;
  if (dim.known()) {
    context.fail_if(fmt::format("{} != {}", dim, size));
    return stride;
  }
  context.fail_if(fmt::format("{0} != {1} && {0} != 1", dim, size));
  return Size::expression(fmt::format("({} == 1 ? 0 : {})", dim, stride));
}

}  // namespace

std::string read_operand(Function& f, const ir::Node& node, size_t i, std::string name) {
  const OperandView* view = view_of(f, node, i);
  return f.read(view == nullptr ? node.inputs[i] : view->source, std::move(name));
}

Product matmul_product(Function& f, const ir::Node& node) {
  NodeContext context(f, node.id);
  Sizes a = operand_sizes(f, node, 0), b = operand_sizes(f, node, 1), result;
  bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.emplace_back(1);
  Product p;
  p.m = a[a.size() - 2];
  p.k = p.a_row = a.back();
  p.n = p.b_k = b.back();
  const Size& depth = b[b.size() - 2];
  if (depth != p.k) context.fail_if(fmt::format("{} != {}", depth, p.k));
  if (depth.known()) p.k = p.a_row = depth;
  Sizes a_lead(a.begin(), a.end() - 2), b_lead(b.begin(), b.end() - 2);
  for (size_t i = std::max(a_lead.size(), b_lead.size()); i > 0; --i) {
    auto size = [&](const Sizes& lead) { return i <= lead.size() ? lead[lead.size() - i] : Size(1); };
    p.batch.push_back(broadcast_size(context, size(a_lead), size(b_lead)));
  }
  result = p.batch;
  if (!row) result.push_back(p.m);
  if (!column) result.push_back(p.n);
  set_result(f, result);
  p.a_batch = batch_strides(a_lead, p.batch, times(p.m, p.k));
  p.b_batch = batch_strides(b_lead, p.batch, times(p.k, p.n));
  take_strides(view_of(f, node, 0), a_lead, p.a_row, p.a_k, p.a_batch);
  take_strides(view_of(f, node, 1), b_lead, p.b_k, p.b_n, p.b_batch);
  if (b_lead.empty()) {  // one right operand for all: more rows of one product
    p.m = times(size_product(p.batch, 0, p.batch.size()), p.m);
    p.batch.clear();
  }
  return p;
}

std::string added_operand(Function& f, const Product& p) {
  NodeContext context(f, f.nodes().front());
  Sizes c = operand_sizes(f, f.head(), 2);
  const Size column = c.empty() ? 0 : operand_stride(context, c.back(), p.n, 1);
  const Size row = c.size() < 2 ? 0 : operand_stride(context, c[0], p.m, c[1]);
  return fmt::format("{}[i * {} + j * {}]", f.read(f.head().inputs[2], "x2"), row, column);
}

Product gemm_product(Function& f) {
  NodeContext context(f, f.nodes().front());
  bool trans_a = ops::attr::trans_a(f.head()), trans_b = ops::attr::trans_b(f.head());
  Sizes a = operand_sizes(f, f.head(), 0), b = operand_sizes(f, f.head(), 1);
  Product p;
  p.m = a[trans_a ? 1 : 0];
  p.k = a[trans_a ? 0 : 1];
  p.n = b[trans_b ? 0 : 1];
  const Size& depth = b[trans_b ? 1 : 0];
  if (depth != p.k) context.fail_if(fmt::format("{} != {}", depth, p.k));
  if (depth.known()) p.k = depth;
  p.a_row = trans_a ? 1 : p.k;
  p.a_k = trans_a ? p.m : 1;
  p.b_k = trans_b ? 1 : p.n;
  p.b_n = trans_b ? p.k : 1;
  set_result(f, {p.m, p.n});
  return p;
}

std::string batch_offset(const Sizes& strides) {
  std::string text;
  for (size_t d = 0; d < strides.size(); ++d) {
    if (strides[d] != 0) text += fmt::format("{}g{} * {}", text.empty() ? "" : " + ", d, strides[d]);
  }
  return text.empty() ? "0" : text;
}

Size block_of(const Size& k) {
  if (!k.known())
    return Size::expression(fmt::format("{0} < 1 ? 1 : {0} < {1} ? {0} : {1}", k, ops::kMostDepth));
  return ops::depth_block(k.number());
}

structs::GemmShape gemm_shape(const Product& p, const std::string& m, const std::string& block_m,
                              const Size& block_k, int packed) {
  return {.m = m,
          .n = p.n,
          .k = p.k,
          .a_row = p.a_row,
          .a_k = p.a_k,
          .b_k = p.b_k,
          .b_n = p.b_n,
          .block_m = block_m,
          .block_k = block_k,
          .b_packed = packed};
}

bool takes_pairs(const Function& f, const Product& p) {
  const auto at_least = [](const Size& size, int64_t least) {
    return !size.known() || size.number() >= least;
  };
  return f.program().options.optimize == Optimize::Speed && at_least(p.m, 12) && at_least(p.n, 2 * kLanes);
}

}  // namespace mrvlc::chost
