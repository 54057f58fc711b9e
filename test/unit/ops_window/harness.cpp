#include "harness.h"

#include <dlfcn.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace mrvlc::ops::test {
namespace {

// The emission's view of a case; tables and scratch become file-level arrays in front of the function.
class CaseEmitter : public EmitContext {
 public:
  std::string in_dim(size_t i, int64_t d) const override {
    return std::to_string(in_type(i).shape[static_cast<size_t>(d)]);
  }
  std::string out_dim(size_t i, int64_t d) const override {
    return std::to_string(out_type(i).shape[static_cast<size_t>(d)]);
  }
  void set_dims(size_t, const std::vector<std::string>&) override {}
  void fail_if(std::string_view) override {}
  CaseEmitter(const Case& c, std::vector<TensorType> outputs, size_t number)
      : case_(c), outputs_(outputs), number_(number) {
    node_.op = c.op;
    node_.attrs = c.attrs;
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      node_.inputs.push_back(c.inputs[i] ? ir::ValueId(static_cast<uint32_t>(i)) : ir::ValueId());
    }
    for (size_t i = 0; i < outputs_.size(); ++i)
      node_.outputs.push_back(ir::ValueId(static_cast<uint32_t>(100 + i)));
  }
  const ir::Node& node() const override { return node_; }
  bool has(size_t i) const override { return i < case_.inputs.size() && case_.inputs[i].has_value(); }
  const TensorType& in_type(size_t i) const override { return case_.inputs[i]->type(); }
  const TensorType& out_type(size_t i) const override { return outputs_[i]; }
  const Tensor* constant(size_t i) const override {
    return has(i) && case_.known[i] ? &*case_.inputs[i] : nullptr;
  }
  std::string in(size_t i) const override { return fmt::format("x{}", i); }
  std::string out(size_t i) const override { return fmt::format("y{}", i); }
  void line(std::string_view text) override { body_ += fmt::format("  {}\n", text); }
  void open(std::string_view head) override { body_ += fmt::format("  {} {{\n", head); }
  void close() override { body_ += "  }\n"; }
  std::string helper(std::string_view name) override { return std::string(name); }
  std::string scratch(int64_t bytes) override {
    std::string name = fmt::format("scratch_{}_{}", number_, arrays_++);
    globals_ += fmt::format("static double {}[{}];\n", name, bytes / 8 + 1);
    return fmt::format("(void*){}", name);
  }
  std::string table(const Tensor& tensor) override {
    std::string name = fmt::format("table_{}_{}", number_, arrays_++);
    globals_ += fmt::format("static const {} {}[{}] = {{", c_type(tensor.elem()), name, tensor.elements());
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      globals_ += (is_float(tensor.elem()) ? c_literal(tensor.as_double(i), tensor.elem())
                                           : c_literal(tensor.as_int(i), tensor.elem())) +
                  ", ";
    }
    globals_ += "};\n";
    return name;
  }

  std::string function() const {
    std::string parameters, arguments, unused;
    auto add = [&](const std::string& type, const std::string& name, const std::string& argument) {
      parameters += fmt::format("{}{}* restrict {}", parameters.empty() ? "" : ", ", type, name);
      arguments += fmt::format("{}{}", arguments.empty() ? "" : ", ", argument);
      unused += fmt::format("  (void){};\n", name);
    };
    for (size_t i = 0; i < case_.inputs.size(); ++i) {
      std::string type = has(i) ? std::string(c_type(in_type(i).elem)) : "void";
      add("const " + type, in(i), fmt::format("x[{}]", i));
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      add(std::string(c_type(outputs_[i].elem)), out(i), fmt::format("y[{}]", i));
    }
    return globals_ +
           fmt::format(
               "static void case_{0}({1}) {{\n{2}{3}}}\nvoid run_{0}(const void* const* x, void* const* y);\n"
               "void run_{0}(const void* const* x, void* const* y) {{ (void)x; case_{0}({4}); }}\n",
               number_, parameters, unused, body_, arguments);
  }

 private:
  const Case& case_;
  std::vector<TensorType> outputs_;
  size_t number_;
  ir::Node node_;
  std::string body_, globals_;
  int arrays_ = 0;
};

struct Library {
  void* handle = nullptr;
  std::filesystem::path folder;
  ~Library() {
    if (handle != nullptr) dlclose(handle);
    std::filesystem::remove_all(folder);
  }
};

void build(Library& library, const std::string& code) {
  std::string pattern = (std::filesystem::temp_directory_path() / "mrvlc-ops-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  library.folder = pattern;
  auto source = library.folder / "ops.c", object = library.folder / "ops.so", log = library.folder / "log";
  std::ofstream(source)
      << "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n"
      << code;
  const char* cc = std::getenv("CC");
  std::string command = fmt::format(
      "{} -std=c99 -O2 -Wall -Wextra -Wconversion -pedantic -Werror -fPIC -shared -o {} {} -lm > {} 2>&1",
      cc != nullptr ? cc : "cc", object.string(), source.string(), log.string());
  int status = std::system(command.c_str());
  std::string messages((std::istreambuf_iterator<char>(*std::make_unique<std::ifstream>(log))), {});
  INFO(messages.substr(0, 4000));
  REQUIRE(status == 0);
  library.handle = dlopen(object.c_str(), RTLD_NOW);
  REQUIRE(library.handle != nullptr);
}

void run_and_compare(const Library& library, const Case& c, const std::vector<Tensor>& expected,
                     size_t number, double tolerance) {
  using Function = void (*)(const void* const*, void* const*);
  auto run = reinterpret_cast<Function>(dlsym(library.handle, fmt::format("run_{}", number).c_str()));
  REQUIRE(run != nullptr);
  std::vector<const void*> in;
  std::vector<void*> out;
  std::vector<Tensor> results;
  for (const auto& tensor : c.inputs) in.push_back(tensor ? tensor->bytes().data() : nullptr);
  for (const Tensor& tensor : expected) {
    results.emplace_back(tensor.type());
    // Not zero, so that elements the code forgets are seen.
    std::memset(results.back().mutable_data<std::byte>().data(), 0x5a, results.back().bytes().size());
  }
  for (Tensor& tensor : results) out.push_back(tensor.mutable_data<std::byte>().data());
  run(in.data(), out.data());
  for (size_t k = 0; k < results.size(); ++k) {
    INFO("case " << number << ", operator " << c.op->name << ", output " << k);
    if (!is_float(expected[k].elem())) {
      REQUIRE(results[k] == expected[k]);
    } else {
      REQUIRE(greatest_error(results[k], expected[k].to_doubles()) <= tolerance);
    }
  }
}

}  // namespace

Case::Case(std::string_view name, std::string_view domain) : op(find_op(domain, name)) {
  REQUIRE(op != nullptr);
  attrs = ir::default_attrs(*op);
  output_count = static_cast<size_t>(op->min_outputs);
}

Case& Case::set(std::string_view attr, ir::Attr value) {
  ir::set_attr(*op, attrs, attr, std::move(value));
  return *this;
}
Case& Case::in(Tensor tensor) {
  inputs.emplace_back(std::move(tensor));
  known.push_back(true);
  return *this;
}
Case& Case::unknown(Tensor tensor) {
  in(std::move(tensor));
  known.back() = false;
  return *this;
}
Case& Case::absent() {
  inputs.emplace_back();
  known.push_back(false);
  return *this;
}
Case& Case::outputs(size_t count) {
  output_count = count;
  return *this;
}

Result<std::vector<TensorType>> Case::infer() const {
  InferContext context;
  context.op = op;
  context.attrs = &attrs;
  context.num_outputs = output_count;
  for (size_t i = 0; i < inputs.size(); ++i) {
    context.types.push_back(inputs[i] ? &inputs[i]->type() : nullptr);
    context.constants.push_back(inputs[i] && known[i] ? &*inputs[i] : nullptr);
  }
  return infer_types(*op, context);
}

Result<std::vector<Tensor>> Case::eval() const {
  MRVLC_ASSIGN(auto types, infer());
  std::vector<Tensor> results;
  for (TensorType& type : types) results.emplace_back(std::move(type));
  EvalContext context;
  context.op = op;
  context.attrs = &attrs;
  context.outputs = &results;
  for (const auto& tensor : inputs) context.inputs.push_back(tensor ? &*tensor : nullptr);
  MRVLC_TRY(op->eval(context));
  return results;
}

Tensor Case::value(size_t output) const {
  auto results = eval();
  INFO((results.ok() ? std::string() : results.error().message));
  REQUIRE(results.ok());
  return (*results)[output];
}

std::string Case::refusal() const {
  auto types = infer();
  return types.ok() ? std::string() : std::string(diag_info(types.error().code).name);
}

void check_generated_code(const std::vector<Case>& cases, double tolerance) {
  std::string code;
  std::vector<std::vector<Tensor>> expected;
  for (size_t i = 0; i < cases.size(); ++i) {
    auto results = cases[i].eval();
    INFO("case " << i << ", operator " << cases[i].op->name
                 << (results.ok() ? "" : ": " + results.error().message));
    REQUIRE(results.ok());
    std::vector<TensorType> types;
    for (const Tensor& t : *results) types.push_back(t.type());
    CaseEmitter emitter(cases[i], types, i);
    Status status = cases[i].op->emit(emitter);
    INFO((status.ok() ? std::string() : status.error().message));
    REQUIRE(status.ok());
    code += emitter.function();
    expected.push_back(std::move(*results));
  }
  Library library;
  build(library, code);
  for (size_t i = 0; i < cases.size(); ++i) run_and_compare(library, cases[i], expected[i], i, tolerance);
}

Tensor random_tensor(ElementType elem, Shape shape, uint64_t seed) {
  std::mt19937 engine(static_cast<uint32_t>(seed));
  Tensor t(TensorType{elem, std::move(shape)});
  for (int64_t i = 0; i < t.elements(); ++i) {
    auto bits = engine();
    is_float(elem) ? t.set_double(i, static_cast<double>(bits) * 0x1p-31 - 1)
                   : t.set_int(i, static_cast<int64_t>(bits % 200) - 100);
  }
  return t;
}

Tensor ints(std::vector<int64_t> values) {
  return Tensor::of(ElementType::I64, {static_cast<int64_t>(values.size())}, values);
}
Tensor floats(Shape shape, std::vector<double> values) {
  return Tensor::of(ElementType::F32, std::move(shape), values);
}
Tensor iota(ElementType elem, Shape shape) {
  Tensor t(TensorType{elem, std::move(shape)});
  for (int64_t i = 0; i < t.elements(); ++i) t.set_int(i, i);
  return t;
}

double greatest_error(const Tensor& a, const std::vector<double>& expected) {
  REQUIRE(a.elements() == static_cast<int64_t>(expected.size()));
  double scale = 1, worst = 0;
  for (double v : expected) scale = std::isfinite(v) ? std::max(scale, std::fabs(v)) : scale;
  for (size_t i = 0; i < expected.size(); ++i) {
    double v = a.as_double(static_cast<int64_t>(i));
    if (v == expected[i] || (std::isnan(v) && std::isnan(expected[i]))) continue;
    double error = std::fabs(v - expected[i]) / scale;
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  }
  return worst;
}

}  // namespace mrvlc::ops::test
