// Shapes of inputs from the model, --input-shape, --batch and symbols bound alike; bounds of sequences.
#include "inputs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "bound_inputs.h"
#include "file/tensor_decode.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/nearest.h"

namespace mrvlc::onnx {
namespace {

// Names are taken whole where they are compared; messages show less of them.
constexpr size_t kMaxShown = 1u << 20;

struct Dim {
  int64_t value = -1;    // -1: dynamic
  std::string symbol;    // may be empty
  bool dynamic = false;  // known at run time only; `value` bounds it
};

struct Input {
  const pb::ValueInfoProto* info = nullptr;
  Wrapper wrapper = Wrapper::None;
  ElementType elem = ElementType::Undefined;
  bool has_rank = false, refused = false;
  bool has_batch = false;  // a dimension that was open is the batch
  std::vector<Dim> dims;

  const std::string& name() const { return info->name(); }
};

// The tensor that a type is made of; nullptr: it is of another kind.
const pb::TypeProto::Tensor* wrapped_tensor(const pb::TypeProto& type, Wrapper& wrapper) {
  const pb::TypeProto* inner = &type;
  const bool optional = inner->has_optional_type();
  if (optional) inner = &inner->optional_type().elem_type();
  const bool sequence = inner->has_sequence_type();
  if (sequence) inner = &inner->sequence_type().elem_type();
  wrapper = optional ? (sequence ? Wrapper::OptionalSequence : Wrapper::Optional)
                     : (sequence ? Wrapper::Sequence : Wrapper::None);
  return inner->has_tensor_type() ? &inner->tensor_type() : nullptr;
}

class Resolver {
 public:
  Resolver(const ImportOptions& options, Sink& sink) : options_(options), sink_(sink) {}

  std::vector<InputDecl> run(const std::vector<const pb::ValueInfoProto*>& infos) {
    if (options_.batch < 1) sink_.add(make_diag<DiagCode::MRV0137>(options_.batch));
    for (const auto* info : infos) inputs_.push_back(read(*info));
    check_option_names();
    take_dims();
    for (Input& in : inputs_) apply_option(in);
    for (Input& in : inputs_) fill_dims(in);
    for (Input& in : inputs_) apply_value(in);
    for (Input& in : inputs_) bind_batch(in);
    std::vector<InputDecl> out;
    for (Input& in : inputs_) {
      out.push_back({in.info, finish(in), std::nullopt, in.has_batch});
      take_value(in, out.back());
    }
    return out;
  }

 private:
  struct Binding {
    int64_t value = 0;
    std::string input;  // empty: --input-dim
    bool dynamic = false;
  };

  // What --input-shape says of an input, by its name or by the name as messages show it.
  const GivenShape* given(const Input& in) const {
    auto it = options_.input_shapes.find(in.name());
    if (it == options_.input_shapes.end()) it = options_.input_shapes.find(printable(in.name(), kMaxShown));
    return it == options_.input_shapes.end() ? nullptr : &it->second;
  }

  void refuse(Input& in, Diag diag) {
    sink_.add(std::move(diag));
    in.refused = true;
  }
  void refuse(Input& in, std::string_view why) {
    refuse(in, make_diag<DiagCode::MRV0130>(printable(in.name()), why));
  }

  Input read(const pb::ValueInfoProto& info);
  void read_dims(Input& in, const pb::TensorShapeProto& shape);
  void check_option_names();
  void take_dims();
  void fill_dims(Input& in) const;
  void apply_option(Input& in);
  void apply_value(Input& in);
  void take_value(Input& in, InputDecl& decl);
  void bind(Input& in, const std::string& symbol, int64_t value, bool dynamic = false);
  void bind_batch(Input& in);
  std::optional<TensorType> finish_wrapped(Input& in);
  std::optional<TensorType> finish(Input& in);
  int64_t example(const Input& in, size_t i) const;
  std::string example(const Input& in) const;
  std::string by_name(const Input& in, size_t i) const;

  const ImportOptions& options_;
  Sink& sink_;
  std::vector<Input> inputs_;
  std::map<std::string, Binding> symbols_;
};

Input Resolver::read(const pb::ValueInfoProto& info) {
  Input in;
  in.info = &info;
  const auto* tensor = wrapped_tensor(info.type(), in.wrapper);
  if (tensor == nullptr) {
    refuse(in,
           "it is no tensor, sequence of tensors or optional of these (maps and sparse tensors are not "
           "supported)");
    return in;
  }
  const auto& type = *tensor;
  in.elem = element_type_from_onnx(type.elem_type()).value_or(ElementType::Undefined);
  if (in.elem == ElementType::Undefined || in.elem == ElementType::C64 || in.elem == ElementType::C128) {
    refuse(in, "element type " + element_type_text(type.elem_type()) + " is not supported");
  }
  in.has_rank = type.has_shape();
  if (in.has_rank) read_dims(in, type.shape());
  return in;
}

void Resolver::read_dims(Input& in, const pb::TensorShapeProto& shape) {
  if (shape.dim_size() > kMaxRank)
    return refuse(in, fmt::format("rank {} is over the limit of {}", shape.dim_size(), kMaxRank));
  for (const auto& dim : shape.dim()) {
    // -1 is how some exporters write a dynamic dimension.
    if (dim.has_dim_value() && dim.dim_value() < -1) {
      refuse(in, fmt::format("dimension {} is {}", in.dims.size(), dim.dim_value()));
    }
    in.dims.push_back({dim.has_dim_value() ? std::max<int64_t>(dim.dim_value(), -1) : -1, dim.dim_param()});
  }
}

void Resolver::check_option_names() {
  for (const auto& [name, shape] : options_.input_shapes) {
    auto named = [&, wanted = &name](const Input& in) {
      return in.name() == *wanted || printable(in.name(), kMaxShown) == *wanted;
    };
    if (std::any_of(inputs_.begin(), inputs_.end(), named)) continue;
    std::vector<std::string> known;
    std::vector<std::string_view> names;
    for (const Input& in : inputs_) {
      if (known.size() < 10) known.push_back("'" + printable(in.name()) + "'");
      names.push_back(in.name());
    }
    sink_.add(
        make_diag<DiagCode::MRV0132>(printable(name), did_you_mean(name, names),
                                     known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  }
}

// What --input-dim says; apply_option() compares with it.
void Resolver::take_dims() {
  std::set<std::string_view> open;
  for (const Input& in : inputs_)
    for (const Dim& dim : in.dims)
      if (dim.value < 0 && !dim.symbol.empty()) open.insert(dim.symbol);
  for (const auto& [symbol, given] : options_.input_dims) {
    if (open.contains(symbol)) {
      symbols_.try_emplace(symbol, Binding{given.shape.at(0), {}, given.dynamic != 0});
      continue;
    }
    const std::vector<std::string_view> names(open.begin(), open.end());
    std::vector<std::string> known;
    for (const std::string_view name : names)
      if (known.size() < 10) known.push_back("'" + printable(name) + "'");
    sink_.add(
        make_diag<DiagCode::MRV0150>(printable(symbol), did_you_mean(symbol, names),
                                     known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  }
}

// Sequences and optionals too, whose dimensions no other input decides about.
void Resolver::fill_dims(Input& in) const {
  for (Dim& dim : in.dims) {
    if (dim.value >= 0 || !options_.input_dims.contains(dim.symbol)) continue;
    const Binding& given = symbols_.at(dim.symbol);
    dim.value = given.value, dim.dynamic = given.dynamic;
  }
}

void Resolver::apply_option(Input& in) {
  const GivenShape* option = given(in);
  if (option == nullptr || in.refused) return;
  const Shape& given = option->shape;
  auto refuse_option = [&](std::string_view why) {
    refuse(in, make_diag<DiagCode::MRV0133>(to_string(*option), printable(in.name()), why));
  };
  if (option->length > 0 && in.wrapper != Wrapper::Sequence && in.wrapper != Wrapper::OptionalSequence)
    return refuse_option("it is no sequence");
  if (auto why = bad_shape(given)) return refuse_option(*why);
  if (in.has_rank && given.size() != in.dims.size()) {
    return refuse_option(fmt::format("it has rank {}", in.dims.size()));
  }
  in.dims.resize(given.size());
  in.has_rank = true;
  for (size_t i = 0; i < given.size(); ++i) {
    Dim& dim = in.dims[i];
    const bool dynamic = (option->dynamic >> i & 1u) != 0;
    if (dim.value >= 0 && (dynamic || dim.value != given[i]))
      return refuse_option(
          fmt::format("dimension {} is {}; the model fixes it, export it with this one open", i, dim.value));
    if (dim.value < 0 && !dim.symbol.empty()) bind(in, dim.symbol, given[i], dynamic);
    dim.value = given[i];
    dim.dynamic = dynamic;
  }
}

// The value of --bind decides about dimensions that are open.
void Resolver::apply_value(Input& in) {
  const BoundInput* value = bound_input(options_, in.name());
  if (value == nullptr || in.refused || in.wrapper != Wrapper::None) return;
  Shape dims;
  for (Dim& dim : in.dims) {
    if (auto it = symbols_.find(dim.symbol); dim.value < 0 && !dim.symbol.empty() && it != symbols_.end())
      dim.value = it->second.value, dim.dynamic = it->second.dynamic;
    dims.push_back(dim.value);
  }
  const auto shape = bound_shape(*value, in.has_rank, dims);
  if (!shape || (in.has_rank && shape->size() != dims.size())) return;  // take_value says so
  in.dims.resize(shape->size());
  in.has_rank = true;
  for (size_t i = 0; i < in.dims.size(); ++i) {
    Dim& dim = in.dims[i];
    if (dim.value >= 0) continue;
    dim.value = (*shape)[i];
    if (!dim.symbol.empty()) bind(in, dim.symbol, dim.value);
  }
}

void Resolver::take_value(Input& in, InputDecl& decl) {
  const BoundInput* value = bound_input(options_, in.name());
  if (value == nullptr || !decl.type) return;
  auto tensor = bound_tensor(*value, in.name(), *decl.type);
  if (tensor.ok()) {
    decl.bound = *std::move(tensor);
  } else {
    sink_.add(std::move(tensor).error());
  }
}

void Resolver::bind(Input& in, const std::string& symbol, int64_t value, bool dynamic) {
  auto [it, fresh] = symbols_.try_emplace(symbol, Binding{value, in.name(), dynamic});
  if (fresh || (it->second.value == value && it->second.dynamic == dynamic)) return;
  const Binding& bound = it->second;
  if (bound.input.empty()) {
    const auto shown = [](int64_t most, bool open) { return (open ? "up to " : "") + std::to_string(most); };
    refuse(in, make_diag<DiagCode::MRV0151>(printable(symbol), shown(bound.value, bound.dynamic),
                                            shown(value, dynamic), printable(in.name())));
  } else {
    refuse(in, make_diag<DiagCode::MRV0135>(printable(symbol), bound.value, printable(bound.input), value,
                                            printable(in.name())));
  }
}

void Resolver::bind_batch(Input& in) {
  if (in.wrapper != Wrapper::None) return;
  if (in.refused || in.dims.empty() || in.dims[0].value >= 0) return;
  Dim& dim = in.dims[0];
  if (!dim.symbol.empty() && symbols_.count(dim.symbol) != 0) return;
  if (dim.symbol.empty()) {
    dim.value = options_.batch;
  } else {
    bind(in, dim.symbol, options_.batch);
  }
  in.has_batch = true;
  std::string shown = dim.symbol.empty() ? "no name" : "'" + printable(dim.symbol) + "'";
  sink_.add(make_diag<DiagCode::MRV0134>(printable(in.name()), shown, options_.batch));
}

// Sizes that can be typed as they stand: of images 224, else 128.
int64_t Resolver::example(const Input& in, size_t i) const {
  const bool image = in.dims.size() == 4;
  if (in.dims[i].value >= 0) return in.dims[i].value;
  return i == 0 ? options_.batch : image && i > 1 ? 224 : image ? 3 : 128;
}

std::string Resolver::example(const Input& in) const {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < in.dims.size(); ++i) dims.push_back(example(in, i));
  return fmt::format("{}", fmt::join(dims, "x"));
}

// What gives the dimension a size in all inputs: for the end of a message.
std::string Resolver::by_name(const Input& in, size_t i) const {
  const std::string symbol = printable(in.dims[i].symbol);
  return symbol.empty() ? "" : fmt::format(", or --input-dim {}={}", symbol, example(in, i));
}

// Dimensions and lengths are bounds, as given, or as the model says.
std::optional<TensorType> Resolver::finish_wrapped(Input& in) {
  TensorType type{in.elem, {}};
  type.wrapper = in.wrapper;
  type.length = in.wrapper == Wrapper::Optional ? 0 : options_.max_sequence;
  if (auto it = options_.input_types.find(in.name()); it != options_.input_types.end()) {
    type = it->second;
    type.elem = in.elem;
    type.wrapper = in.wrapper;
    return type;
  }
  for (size_t i = 0; i < in.dims.size(); ++i) {
    type.shape.push_back(in.dims[i].value);
    if (in.dims[i].dynamic) type.dynamic |= 1u << i;
  }
  if (const GivenShape* option = given(in); option != nullptr && option->length > 0)
    type.length = option->length;
  if (in.has_rank && std::all_of(type.shape.begin(), type.shape.end(), [](int64_t d) { return d >= 0; }) &&
      !bad_shape(type.shape)) {
    if (Status size = ops::check_size(type); size.ok()) return type;
    refuse(in, "a sequence of such tensors is too large");
    return std::nullopt;
  }
  refuse(in,
         fmt::format("how large its tensors are is not known; give the most they can be, e.g. --input-shape "
                     "{}=16*1..8x3 for up to 16 tensors",
                     printable(in.name())));
  return std::nullopt;
}

std::optional<TensorType> Resolver::finish(Input& in) {
  if (in.refused) return std::nullopt;
  if (in.wrapper != Wrapper::None) return finish_wrapped(in);
  const std::string shown = printable(in.name());
  if (!in.has_rank) {
    refuse(in,
           fmt::format("its rank is not known; give the shape, e.g. --input-shape {}=1x3x224x224", shown));
    return std::nullopt;
  }
  for (Dim& dim : in.dims) {
    if (dim.value >= 0) continue;
    if (auto it = symbols_.find(dim.symbol); !dim.symbol.empty() && it != symbols_.end())
      dim.value = it->second.value, dim.dynamic = it->second.dynamic;
  }
  TensorType type{in.elem, {}};
  for (size_t i = 0; i < in.dims.size(); ++i) {
    if (in.dims[i].value < 0) {
      std::string symbol = in.dims[i].symbol.empty() ? "no name" : "'" + printable(in.dims[i].symbol) + "'";
      refuse(in, make_diag<DiagCode::MRV0131>(shown, i, symbol, shown, example(in), by_name(in, i)));
      return std::nullopt;
    }
    type.shape.push_back(in.dims[i].value);
    if (in.dims[i].dynamic) type.dynamic |= 1u << i;
  }
  if (auto why = bad_shape(type.shape)) {
    refuse(in, *why);
    return std::nullopt;
  }
  return type;
}

}  // namespace

std::vector<InputDecl> resolve_inputs(const std::vector<const pb::ValueInfoProto*>& inputs,
                                      const ImportOptions& options, Sink& sink) {
  return Resolver(options, sink).run(inputs);
}

}  // namespace mrvlc::onnx
