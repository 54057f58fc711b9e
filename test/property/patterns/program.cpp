#include "program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/ops/emit.h"

namespace mrvlc::patterns {
namespace {

using graphs::Kind;

constexpr int64_t kWide = 65536;  // the bound of what nothing bounds
constexpr int64_t kLong = 3000;
constexpr int64_t kRoom = 2048;  // elements of what nothing bounds

bool is_taken(ElementType elem) {
  if (is_float(elem)) return elem == ElementType::F32 || elem == ElementType::F64;
  return elem != ElementType::Undefined && elem != ElementType::C64 && elem != ElementType::C128;
}

TensorType open_type(const Tensor& sample, Room room, bool keep_length) {
  TensorType type{sample.elem(), sample.shape()};
  if (keep_length && type.rank() <= 1) return type;
  const int64_t elements = sample.elements();
  for (size_t d = 0; d < type.shape.size(); ++d) {
    type.dynamic |= 1u << d;
    const bool wide = room == Room::Wide || (room == Room::Lopsided && d == 0);
    type.shape[d] = wide ? room == Room::Wide ? kWide : kLong : std::max<int64_t>(type.shape[d], 3);
  }
  if (room == Room::Wide && type.rank() > 1) type.capacity = std::max<int64_t>(2 * elements, 512);
  return type;
}

bool bound_result(TensorType& type) {
  bool unbound = false;
  for (int64_t& d : type.shape) {
    unbound = unbound || d == kNoBound;
    d = d == kNoBound ? kWide : d;
  }
  if (unbound && type.capacity < 0) type.capacity = kRoom;
  const auto all = checked_product(type.shape);
  if (type.capacity < 0 && (!all || *all > kMaxElements)) return false;
  return type.wrapper == Wrapper::None && is_taken(type.elem);
}

}  // namespace

std::optional<Program> make_program(const graphs::Model& model, const graphs::Node& node, Open open,
                                    Room room) {
  Program p;
  if (!node.bodies.empty()) return std::nullopt;
  ops::InferContext context;
  std::vector<TensorType> types(node.inputs.size());
  std::vector<ir::ValueId> ids;
  context.op = node.op;
  context.attrs = &node.attrs;
  context.num_outputs = node.outputs.size();
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const int v = node.inputs[i];
    context.types.push_back(v < 0 ? nullptr : &types[i]);
    context.constants.push_back(nullptr);
    ids.emplace_back();
    if (v < 0) continue;
    const graphs::Value& value = model.values[static_cast<size_t>(v)];
    if (!is_taken(value.data.elem())) return std::nullopt;
    if (open == Open::Recipe && value.kind == Kind::Constant) {
      types[i] = value.data.type();
      context.constants[i] = &value.data;
      ids[i] = p.graph.add_constant(fmt::format("c{}", i), value.data);
      continue;
    }
    types[i] = open_type(value.data, room, open == Open::Lists && i > 0);
    ids[i] = p.graph.add_input(fmt::format("x{}", i), types[i]);
    p.samples.push_back(value.data);
  }
  auto results = ops::infer_types(*node.op, context);
  if (!results.ok() || p.samples.empty()) return std::nullopt;
  std::vector<std::string> names;
  for (TensorType& type : *results) {
    if (!bound_result(type)) return std::nullopt;
    names.push_back(fmt::format("y{}", names.size()));
  }
  const ir::SourceId source = p.graph.add_source({"main/0", "n", std::string(node.op->name), "", {}});
  const ir::NodeId id =
      p.graph.add_node(*node.op, "n", ids, node.attrs, *results, names, {{source}, {}, "import", {}});
  for (ir::ValueId out : p.graph.node(id).outputs) p.graph.add_output(out);
  if (!ops::has_dynamic_shapes(p.graph, p.graph.node(id))) return std::nullopt;
  return p;
}

namespace {

constexpr std::string_view kHead = R"C(#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <time.h>
#include <unistd.h>
#include "m.h"

#ifdef __SANITIZE_ADDRESS__
void __asan_poison_memory_region(void const volatile*, size_t);
void __asan_unpoison_memory_region(void const volatile*, size_t);
const char* __asan_default_options(void) { return "detect_leaks=0"; }
#else
#define __asan_poison_memory_region(p, n) (void)0
#define __asan_unpoison_memory_region(p, n) (void)0
#endif

static uint64_t state;
static uint64_t dice(void) {
  uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static const int64_t ints[] = {0, 1, -1, 2, 3, 5, 8, 255, 65535, 65536, 65537, INT32_MAX, INT32_MIN, INT64_C(1) << 32,
    -(INT64_C(1) << 32), INT64_C(1) << 40, INT64_C(1) << 62, INT64_MAX, INT64_MIN, INT64_MIN + 1, INT64_C(4294967297)};
static const double floats[] = {0, -0.0, 0.4, 0.5, 1, 2.5, 100, 800, 1e9, -1, -3, NAN, INFINITY, -INFINITY, 1e-30, 3e38, 65536};
static const double scales[] = {0.3, 1, 100, 800};
#define OF(list) list[dice() % (sizeof(list) / sizeof *(list))]

typedef struct tensor {
  char kind; /* f, d, b, s, or i */
  int rank;
  unsigned open;
  int64_t bound[8], sample[8], capacity;
  size_t size;
  const void* values;
  int64_t count;
  unsigned char* data;
} tensor;

static void element(const tensor* t, unsigned char* to, int64_t i, int odd) {
  if (!odd && t->count > 0 && t->values) {
    memcpy(to, (const unsigned char*)t->values + (size_t)(i % t->count) * t->size, t->size);
  } else if (t->kind == 'f') {
    /* Scales: what makes one dimension vanish and others large. */
    const float v = (float)(t->count < 9 && odd == 2 ? OF(scales) : OF(floats));
    memcpy(to, &v, sizeof v);
  } else if (t->kind == 'd') {
    const double v = OF(floats);
    memcpy(to, &v, sizeof v);
  } else if (t->kind == 'b') {
    *to = (unsigned char)(dice() & 1);
  } else {
    const uint64_t v = (uint64_t)OF(ints);
    memcpy(to, &v, t->size);
  }
}

/* One of {0, 1, 2, what suits, the bound, one more, far more}. */
static int64_t pattern(const tensor* t, int d, uint64_t which) {
  switch (which % 7) {
    case 0: return 0;
    case 1: return 1;
    case 2: return t->sample[d];
    case 3: return 2;
    case 4: return t->bound[d];
    case 5: return t->bound[d] + 1;
    default: return which / 7 % 2 ? INT64_C(1) << 40 : -1;
  }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
)C";

constexpr std::string_view kTail = R"C(
/* Dimensions, those of a size alike, by the digits of `number`; then now and then one of its own. */
static void choose(int64_t dim[][8], uint64_t number, int alone) {
  int64_t size[64];
  uint64_t digit[64];
  int classes = 0;
  for (int i = 0; i < INPUTS; ++i) {
    for (int d = 0; d < in[i].rank; ++d) {
      int c = 0;
      while (c < classes && size[c] != in[i].sample[d]) ++c;
      if (c == classes) size[classes] = in[i].sample[d], digit[classes++] = number % 7, number /= 7;
      dim[i][d] = in[i].open >> d & 1u ? pattern(&in[i], d, digit[c] + 7 * (dice() % 2)) : in[i].bound[d];
    }
  }
  if (!alone) return;
  const int i = (int)(dice() % INPUTS);
  if (in[i].rank == 0) return;
  const int d = (int)(dice() % (uint64_t)in[i].rank);
  if (in[i].open >> d & 1u) dim[i][d] = pattern(&in[i], d, dice());
}

static int64_t product(int rank, const int64_t* dim, int64_t most) {
  int64_t n = 1;
  for (int d = 0; d < rank; ++d) {
    if (dim[d] <= 0) return 0;
  }
  for (int d = 0; d < rank; ++d) n = dim[d] > most / n ? most : n * dim[d];
  return n > most ? most : n;
}

int main(void) {
  long counts[4] = {0};
  double slowest = 0;
  state = SEED;
  void* arena = NULL;
  if (m_ARENA_BYTES > 0 && posix_memalign(&arena, 64, m_ARENA_BYTES)) return 2;
  for (int i = 0; i < INPUTS; ++i) in[i].data = (unsigned char*)malloc((size_t)in[i].capacity * in[i].size);
  for (int i = 0; i < OUTPUTS; ++i) out[i].data = (unsigned char*)malloc((size_t)out[i].capacity * out[i].size);
  for (long r = 0; r < RUNS; ++r) {
    int64_t dim[INPUTS][8] = {{0}}, made[OUTPUTS][8];
    const int odd = (int)(dice() % 3);
    char note[2000];
    int at = snprintf(note, sizeof note, "run %ld:", r);
    memset(made, 0x77, sizeof made);
    choose(dim, r < ALL ? (uint64_t)r : dice() >> 8, r >= ALL && dice() % 2);
    for (int i = 0; i < INPUTS; ++i) {
      const int64_t n = product(in[i].rank, dim[i], in[i].capacity);
      const int wild = odd == 0 ? 1 : odd == 1 ? (int)(dice() % 2) : in[i].kind == 'f' && i > 0 ? 2 : 0;
      const size_t used = (size_t)n * in[i].size;
      __asan_unpoison_memory_region(in[i].data, (size_t)in[i].capacity * in[i].size);
      for (int64_t k = 0; k < n; ++k) element(&in[i], in[i].data + (size_t)k * in[i].size, k, wild);
      __asan_poison_memory_region(in[i].data + used, (size_t)in[i].capacity * in[i].size - used);
      for (int d = 0; d < in[i].rank && at < 1900; ++d)
        at += snprintf(note + at, sizeof note - (size_t)at, " %lld%s", (long long)dim[i][d], d + 1 == in[i].rank ? ";" : "");
      if (in[i].kind == 'i' && n > 0 && n < 9 && in[i].size == 8)
        for (int64_t k = 0; k < n && at < 1900; ++k) at += snprintf(note + at, sizeof note - (size_t)at, "(%lld)", (long long)((int64_t*)(void*)in[i].data)[k]);
    }
    fprintf(stderr, "\r%s\n", note);
    const double begin = now();
    alarm(60);
    const int rc = run(dim, made, arena);
    const double took = now() - begin;
    if (took > slowest) slowest = took;
    if (took > SECONDS) return fprintf(stderr, "%s takes %.1f s\n", note, took), 4;
    if (rc != 0) {
      ++counts[3];
      continue;
    }
    int empty = 1;
    for (int i = 0; i < OUTPUTS; ++i) {
      int64_t n = 1;
      for (int d = 0; d < out[i].rank; ++d) {
        const int64_t m = out[i].open >> d & 1u ? made[i][d] : out[i].bound[d];
        if (m < 0 || m > out[i].bound[d]) return fprintf(stderr, "%s: size %lld\n", note, (long long)m), 5;
        n = m == 0 ? 0 : n * m; 
      }
      if (n != 0) empty = 0;
      if (n > out[i].capacity) return fprintf(stderr, "%s: %lld elements\n", note, (long long)n), 5;
    }
    ++counts[empty ? 2 : 1];
  }
  printf("%ld %ld %ld %ld %.3f\n", (long)RUNS, counts[1], counts[2], counts[3], slowest);
  return 0;
}
)C";

char kind_of(ElementType elem) {
  return elem == ElementType::F32      ? 'f'
         : elem == ElementType::F64    ? 'd'
         : elem == ElementType::Bool   ? 'b'
         : elem == ElementType::String ? 's'
                                       : 'i';
}

std::string bytes_text(const Tensor& t) {
  if (t.elem() == ElementType::String) {
    std::string text;
    for (const std::string& s : t.string_data()) {
      std::string plain;
      for (char c : s) plain += c >= ' ' && c <= '~' && c != '"' && c != '\\' ? c : 'x';
      text += fmt::format("{{\"{}\", {}}}, ", plain, plain.size());
    }
    return text;
  }
  std::string text;
  for (std::byte b : t.bytes()) text += fmt::format("{},", static_cast<int>(b));
  return text;
}

std::string tensor_row(const TensorType& type, const Shape& sample, std::string_view values, int64_t count) {
  const size_t size = static_cast<size_t>(type.elem == ElementType::String ? 0 : byte_size(type.elem));
  return fmt::format("  {{'{}', {}, {}u, {{{}}}, {{{}}}, INT64_C({}), {}, {}, {}, NULL}},\n",
                     kind_of(type.elem), type.rank(), type.dynamic,
                     type.rank() == 0 ? "0" : fmt::format("{}", fmt::join(type.shape, ", ")),
                     sample.empty() ? "0" : fmt::format("{}", fmt::join(sample, ", ")), type.elements(),
                     size == 0 ? "sizeof(mrvl_string)" : fmt::format("{}", size), values, count);
}

}  // namespace

std::string try_text(const Program& p, uint64_t seed, int64_t runs) {
  std::string text(kHead), in, out, run, values;
  int64_t all = 1;
  std::map<int64_t, int> classes;
  const auto& inputs = p.graph.inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Value& v = p.graph.value(inputs[i]);
    const Tensor& sample = p.samples[i];
    const bool some = sample.elements() > 0;
    const bool texts = sample.elem() == ElementType::String;
    if (some)
      values += fmt::format("static const {} values{}[] = {{{}}};\n", texts ? "mrvl_string" : "unsigned char",
                            i, bytes_text(sample));
    in += tensor_row(v.type, sample.shape(), some ? fmt::format("values{}", i) : "NULL", sample.elements());
    run += fmt::format("  inputs.{} = (const void*)in[{}].data;\n", v.name, i);
    for (size_t d = 0; d < v.type.shape.size(); ++d) {
      if (v.type.dynamic != 0) run += fmt::format("  inputs.{0}_dim[{2}] = dim[{1}][{2}];\n", v.name, i, d);
      if (v.type.is_dynamic(static_cast<int64_t>(d))) ++classes[sample.shape()[d]];
    }
  }
  for (size_t i = 0; i < classes.size() && all < runs; ++i) all *= 7;
  const auto& outputs = p.graph.outputs();
  std::string told;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ir::Value& v = p.graph.value(outputs[i]);
    out += tensor_row(v.type, {}, "NULL", 0);
    run += fmt::format("  outputs.{} = (void*)out[{}].data;\n", v.name, i);
    if (v.type.dynamic != 0)
      told += fmt::format("  memcpy(made[{}], outputs.{}_dim, {} * sizeof(int64_t));\n", i, v.name,
                          v.type.rank());
  }
  return text + values +
         fmt::format(
             "#define SEED {}\n#define INPUTS {}\n#define OUTPUTS {}\n#define RUNS {}L\n#define ALL {}L\n"
             "#ifndef SECONDS\n#define SECONDS 5\n#endif\n"
             "static tensor in[] = {{\n{}}};\nstatic tensor out[] = {{\n{}}};\n"
             "static int run(int64_t dim[][8], int64_t made[][8], void* arena) {{\n"
             "  static m_inputs inputs;\n  static m_outputs outputs;\n  m_error error;\n  (void)dim;\n{}"
             "  const int rc = m_run(&inputs, &outputs, arena, NULL, NULL, NULL, &error);\n"
             "  if (rc != 0) return rc;\n{}  (void)made;\n  return 0;\n}}\n",
             seed, inputs.size(), outputs.size(), runs, std::min(all, runs * 3 / 4), in, out, run, told) +
         std::string(kTail);
}

}  // namespace mrvlc::patterns
