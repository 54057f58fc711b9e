// What is wrong with tensors and with declared types.
#include <cstring>

#include "mutate.h"

namespace mrvlc::fuzz {
namespace {

int32_t random_elem(Random& random) {
  return random.one_in(10) ? random.of<int32_t>({-1, 0, 27, 1000, INT32_MAX}) : random.pick(27);
}

template <class Dims>
void change_dims(Dims* dims, Random& random) {
  switch (random.pick(4)) {
    case 0:
      dims->Add(random.dimension());
      return;
    case 1:
      if (dims->size() > 0) dims->RemoveLast();
      return;
    case 2:
      for (int i = 0; i < 9; ++i) dims->Add(1);
      return;
    default:
      if (dims->size() > 0) dims->Set(random.pick(dims->size()), random.dimension());
  }
}

void change_numbers(pb::TensorProto& t, Random& random) {
  for (int i = 0; i < t.int64_data_size(); ++i) {
    if (random.one_in(2)) t.set_int64_data(i, random.integer());
  }
  for (int i = 0; i < t.int32_data_size(); ++i) {
    if (random.one_in(2)) t.set_int32_data(i, static_cast<int32_t>(random.integer()));
  }
  for (int i = 0; i < t.float_data_size(); ++i) {
    if (random.one_in(2)) t.set_float_data(i, static_cast<float>(random.real()));
  }
  for (int i = 0; i < t.double_data_size(); ++i) {
    if (random.one_in(2)) t.set_double_data(i, random.real());
  }
  std::string& raw = *t.mutable_raw_data();
  auto put = [&](auto value) {
    if (raw.size() < sizeof value) return;
    std::memcpy(raw.data() + random.below(raw.size() / sizeof value) * sizeof value, &value, sizeof value);
  };
  for (int i = 0; i < 4; ++i) {
    if (t.data_type() == pb::TensorProto::INT64) {
      put(random.integer());
    } else if (t.data_type() == pb::TensorProto::FLOAT) {
      put(static_cast<float>(random.real()));
    } else if (t.data_type() == pb::TensorProto::DOUBLE) {
      put(random.real());
    } else {
      put(static_cast<uint8_t>(random.next()));
    }
  }
}

void change_external(pb::TensorProto& t, Random& random) {
  t.set_data_location(pb::TensorProto::EXTERNAL);
  t.clear_raw_data();
  auto add = [&](const char* key, const std::string& value) {
    auto* entry = t.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  };
  add("location", random.of<const char*>({"../x", "/dev/zero", "/proc/self/mem", "/etc/passwd", "", ".",
                                          "no/such", "model.onnx", "a\\..\\b", "//x", "./../x"}));
  if (random.one_in(2)) add("offset", random.one_in(4) ? "-x" : std::to_string(random.integer()));
  if (random.one_in(2)) add("length", random.one_in(4) ? "1e9" : std::to_string(random.integer()));
}

void change_raw(pb::TensorProto& t, Random& random) {
  std::string& raw = *t.mutable_raw_data();
  const size_t to = random.below(raw.size() + 9);
  raw.resize(random.one_in(8) ? 0 : to);
}

}  // namespace

bool change_tensor(Parts& parts, Random& random) {
  if (parts.tensors.empty()) return false;
  pb::TensorProto& t = *parts.tensors[random.below(parts.tensors.size())];
  switch (random.pick(10)) {
    case 0:
    case 1:
      change_dims(t.mutable_dims(), random);
      break;
    case 2:
      t.set_data_type(random_elem(random));
      break;
    case 3:
      change_raw(t, random);
      break;
    case 4:
      change_external(t, random);
      break;
    case 5:
      t.add_int64_data(random.integer());
      t.add_int32_data(static_cast<int32_t>(random.integer()));
      break;
    case 6:
      t = random_tensor(t.name(), random_elem(random), {random.dimension()}, random);
      break;
    default:
      change_numbers(t, random);
  }
  return true;
}

bool change_type(Parts& parts, Random& random) {
  if (parts.types.empty()) return false;
  pb::TypeProto& type = *parts.types[random.below(parts.types.size())];
  if (random.one_in(8) || !type.has_tensor_type()) {
    pb::TypeProto old = type;
    type.Clear();
    switch (random.pick(5)) {
      case 0:
        *type.mutable_sequence_type()->mutable_elem_type() = old;
        break;
      case 1:
        *type.mutable_optional_type()->mutable_elem_type() = old;
        break;
      case 2:
        type.mutable_map_type()->set_key_type(random_elem(random));
        break;
      case 3:
        type.mutable_tensor_type()->set_elem_type(random_elem(random));
        break;
      default:
        *type.mutable_optional_type()->mutable_elem_type()->mutable_sequence_type()->mutable_elem_type() =
            old;
    }
    return true;
  }
  auto& tensor = *type.mutable_tensor_type();
  auto& shape = *tensor.mutable_shape();
  switch (random.pick(6)) {
    case 0:
      tensor.set_elem_type(random_elem(random));
      break;
    case 1:
      tensor.clear_shape();
      break;
    case 2:
      shape.add_dim()->set_dim_value(random.dimension());
      break;
    case 3:
      if (shape.dim_size() > 0) shape.mutable_dim()->RemoveLast();
      break;
    case 4:
      if (shape.dim_size() > 0) shape.mutable_dim(random.pick(shape.dim_size()))->set_dim_param("N");
      break;
    default:
      if (shape.dim_size() > 0)
        shape.mutable_dim(random.pick(shape.dim_size()))->set_dim_value(random.dimension());
  }
  return true;
}

pb::TensorProto random_tensor(const std::string& name, int32_t elem, const std::vector<int64_t>& dims,
                              Random& random) {
  pb::TensorProto t;
  t.set_name(name);
  t.set_data_type(elem);
  int64_t count = 1;
  for (int64_t d : dims) {
    t.add_dims(d);
    count = d < 0 || d > 4096 || count > 4096 ? 0 : count * d;
  }
  const bool same = random.one_in(2);
  const int64_t whole = random.integer();
  const double part = random.real();
  for (int64_t i = 0; i < std::min<int64_t>(count, 65536); ++i) {
    const int64_t v = same ? whole : random.integer();
    const double f = same ? part : random.real();
    switch (elem) {
      case pb::TensorProto::FLOAT:
        t.add_float_data(static_cast<float>(f));
        break;
      case pb::TensorProto::DOUBLE:
        t.add_double_data(f);
        break;
      case pb::TensorProto::INT64:
        t.add_int64_data(v);
        break;
      case pb::TensorProto::UINT32:
      case pb::TensorProto::UINT64:
        t.add_uint64_data(static_cast<uint64_t>(v));
        break;
      case pb::TensorProto::STRING:
        t.add_string_data(random.one_in(20) ? random.hostile_name() : "text");
        break;
      case pb::TensorProto::BOOL:
        t.add_int32_data(static_cast<int32_t>(v & 1));
        break;
      case pb::TensorProto::UINT8:
        t.add_int32_data(static_cast<int32_t>(v & 255));
        break;
      case pb::TensorProto::INT8:
        t.add_int32_data(static_cast<int8_t>(v));
        break;
      case pb::TensorProto::INT16:
        t.add_int32_data(static_cast<int16_t>(v));
        break;
      case pb::TensorProto::UINT16:
      case pb::TensorProto::FLOAT16:
      case pb::TensorProto::BFLOAT16:
        t.add_int32_data(static_cast<uint16_t>(v));
        break;
      default:
        t.add_int32_data(static_cast<int32_t>(v));
    }
  }
  return t;
}

}  // namespace mrvlc::fuzz
