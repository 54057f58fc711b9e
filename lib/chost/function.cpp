#include "function.h"

namespace mrvlc::chost {

Function::Function(Program& program, std::vector<ir::NodeId> nodes, std::string_view what)
    : program_(program),
      nodes_(std::move(nodes)),
      symbol_(fmt::format("{}_f{}_{}", program.options.name, nodes_.front().index(), to_identifier(what))) {}

void Function::line(std::string_view text) {
  if (!text.starts_with('#')) body_.append(static_cast<size_t>(depth_) * 2, ' ');
  body_ += text;
  body_ += '\n';
}

void Function::open(std::string_view head) {
  line(head.empty() ? std::string("{") : fmt::format("{} {{", head));
  ++depth_;
}

void Function::close() {
  --depth_;
  line("}");
}

std::string Function::declare(StoreId store, std::string declaration, std::string name, bool written) {
  if (names_.emplace(name, params_.size()).second)
    params_.push_back({std::move(declaration), store, written});
  return name;
}

std::string Function::read(ir::ValueId value, std::string name) {
  return read_store(program_.store_of(value), ops::c_type(program_.graph.value(value).type.elem),
                    std::move(name));
}

std::string Function::write(ir::ValueId value, std::string name) {
  return write_store(program_.store_of(value), ops::c_type(program_.graph.value(value).type.elem),
                     std::move(name));
}

std::string Function::read_store(StoreId store, std::string_view c_type, std::string name) {
  return declare(store, fmt::format("const {}* restrict {}", c_type, name), name, false);
}

std::string Function::write_store(StoreId store, std::string_view c_type, std::string name) {
  return declare(store, fmt::format("{}* restrict {}", c_type, name), name, true);
}

std::string Function::scratch(int64_t bytes) {
  Store store;
  store.bytes = bytes;
  std::string name = fmt::format("s{}", scratches_++);
  return declare(program_.add_store(store), fmt::format("void* restrict {}", name), name, true);
}

std::string Function::weights(const std::vector<float>& values) {
  return fmt::format("((const float*)(const void*)({}_weights + {}))", program_.options.name,
                     program_.weights.add(values));
}

std::string Function::table(const Tensor& tensor) {
  return fmt::format("((const {}*)(const void*)({}_weights + {}))", ops::c_type(tensor.elem()),
                     program_.options.name, program_.weights.add(tensor));
}

std::string Function::need(std::string_view piece) {
  program_.library.require(piece, nodes_.front());
  return fmt::format("{}_{}", program_.options.name, piece);
}

Call Function::finish() {
  Call call{symbol_, params_};
  std::string list;
  for (const Param& p : params_) list += (list.empty() ? "" : ", ") + p.declaration;
  FunctionText text;
  text.symbol = symbol_;
  text.text = fmt::format("static void {}({}) {{\n{}}}\n", symbol_, list.empty() ? "void" : list, body_);
  text.expr = nodes_.front();
  text.fused.assign(nodes_.begin() + 1, nodes_.end());
  for (auto& f : front_) program_.functions.push_back(std::move(f));
  program_.functions.push_back(std::move(text));
  return call;
}

std::string NodeContext::in_dim(size_t i, int64_t d) const {
  const TensorType& type = in_type(i);
  if (!type.is_open(d)) return fmt::format("{}", type.shape[static_cast<size_t>(d)]);
  return fmt::format("v{}->dim[{}]", i, d);
}

std::string NodeContext::out_dim(size_t i, int64_t d) const {
  const TensorType& type = out_type(i);
  if (!type.is_open(d)) return fmt::format("{}", type.shape[static_cast<size_t>(d)]);
  return fmt::format("w{}->dim[{}]", i, d);
}

void NodeContext::set_dims(size_t, const std::vector<std::string>&) {}
void NodeContext::fail_if(std::string_view) {}

std::string NodeContext::helper(std::string_view name) {
  if (!Library::has(name) && function_.program().error.empty()) function_.program().error = name;
  return function_.need(name);
}

}  // namespace mrvlc::chost
