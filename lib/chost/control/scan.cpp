// Scan: a round for each slice of the scanned inputs; their axes and directions, and those of the results,
// are attributes.
#include "control/rounds.h"
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/control_flow.h"

namespace mrvlc::chost {
namespace {

int64_t from_front(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}

std::string_view position(bool reversed) {
  return reversed ? "trips - 1 - i" : "i";
}

// sc<k> = element `index` along the axis of input `input`.
void take_slice(BodyNode& n, size_t k, size_t input, int64_t axis, std::string_view index) {
  Function& f = n.function();
  const TensorType& t = n.in_type(input);
  std::string outer = "1", inner = fmt::format("{}u", memory_bytes(TensorType{t.elem, {}}));
  const std::string view = n.in_view(input);
  f.open("");
  for (int64_t d = 0, to = 0; d < t.rank(); ++d) {
    if (d == axis) continue;
    (d < axis ? outer : inner) += fmt::format(" * (size_t){}->dim[{}]", view, d);
    f.put("sc{}.dim[{}] = {}->dim[{}];", k, to++, view, d);
  }
  f.put("const size_t outer = {}, bytes = {};", outer, inner);
  f.open("for (size_t o = 0; o < outer; ++o)");
  f.put(
      "memcpy((unsigned char*)sc{0}.data + o * bytes, (const unsigned char*){1}->data + (o * (size_t)trips + "
      "(size_t)({2})) * bytes, bytes);",
      k, view, index);
  f.close();
  f.close();
}

class Scan {
 public:
  Scan(BodyNode& n, ops::ScanParams params)
      : n_(n),
        f_(n.function()),
        body_(n.body(0)),
        p_(std::move(params)),
        slices_(n.formals() - p_.states),
        carried_(n, body_, {0, 0, 0}, p_.states) {}

  void emit() {
    f_.put("const int64_t trips = {}->dim[{}];", n_.in_view(p_.states), input_axis(0));
    f_.put("int64_t i = 0;");
    carried_.declare();
    declare_slices();
    declare_results();
    f_.open("for (; i < trips; ++i)");
    emit_round();
    f_.close();
    carried_.give();
    for (auto& result : results_)
      if (result.is_read()) result.set_dims({"trips"});
  }

 private:
  int64_t input_axis(size_t k) const {
    return from_front(p_.input_axes[k], n_.in_type(p_.states + k).rank());
  }

  void declare_slices() {
    for (size_t k = 0; k < slices_; ++k) {
      n_.declare_buffer(fmt::format("sc{}", k), body_.value(body_.inputs()[p_.states + k]).type);
      if (k > 0) n_.fail_if(fmt::format("{}->dim[{}] != trips", n_.in_view(p_.states + k), input_axis(k)));
    }
  }

  void declare_results() {
    std::vector<int64_t> axes = ops::attr::scan_output_axes(n_.node());
    reversed_ = ops::attr::scan_output_directions(n_.node());
    const size_t count = body_.outputs().size() - p_.states;
    axes.resize(count, 0);
    reversed_.resize(count, 0);
    for (size_t k = 0; k < count; ++k) {
      const TensorType& item = body_.value(body_.outputs()[p_.states + k]).type;
      results_.emplace_back(n_, k, p_.states + k, item, from_front(axes[k], item.rank() + 1));
      results_.back().declare();
    }
  }

  void emit_round() {
    std::vector<std::string> in, out;
    carried_.add_views(in, out);
    for (size_t k = 0; k < slices_; ++k) {
      take_slice(n_, k, p_.states + k, input_axis(k), position(p_.input_reversed[k]));
      in.push_back(fmt::format("&sc{}", k));
    }
    for (size_t k = n_.formals(); k < body_.inputs().size(); ++k) in.push_back(n_.in_view(k));
    for (size_t k = 0; k < results_.size(); ++k) out.push_back(fmt::format("&it{}", k));
    n_.call(0, in, out);
    carried_.turn();
    for (size_t k = 0; k < results_.size(); ++k)
      if (results_[k].is_read()) results_[k].place(position(reversed_[k] != 0), {"trips"});
  }

  BodyNode& n_;
  Function& f_;
  const ir::Graph& body_;
  ops::ScanParams p_;
  size_t slices_;
  States carried_;
  std::vector<int64_t> reversed_;
  std::vector<ScannedResult> results_;
};

}  // namespace

Status emit_scan(BodyNode& n) {
  MRVLC_ASSIGN(ops::ScanParams params, ops::scan_params(*n.node().op, n.node().attrs, n.formals()));
  Scan(n, std::move(params)).emit();
  return {};
}

}  // namespace mrvlc::chost
