// Winograd's F(n x n, 3x3), n = 4 or 2: A. Lavin, S. Gray, Fast Algorithms for Convolutional Neural Networks,
// 2015 (arXiv 1509.09308). WinogradTransforms by Toom and Cook from points (B. Barabasz et al., Error
// Analysis and Improving the Accuracy of Winograd Convolution for Deep Neural Networks, 2018, arXiv
// 1803.10986): those of n = 4 were chosen for the least error among pairs +-a, +-b whose powers are floats.
#include "conv/winograd.h"

#include <algorithm>
#include <cmath>

#include "choice/choice.h"
#include "conv/call.h"

namespace mrvlc::chost {
namespace {

constexpr int64_t kTaps = 3;

// One dimension: n results from s = n + 2 inputs. results[i][k]: what the product k adds to result i;
// weights[k][t]: what tap t adds to the transformed weight k; inputs[k]: the sum of squares of its factors.
struct WinogradTransforms {
  int64_t n = 0, s = 0;
  std::vector<std::vector<double>> results, weights;
  std::vector<double> inputs;
};

std::vector<double> times_root(const std::vector<double>& polynomial, double root) {
  std::vector<double> product(polynomial.size() + 1);
  for (size_t i = 0; i < polynomial.size(); ++i) {
    product[i] -= root * polynomial[i];
    product[i + 1] += polynomial[i];
  }
  return product;
}

double sum_of_squares(const std::vector<double>& values) {
  double sum = 0;
  for (double v : values) sum += v * v;
  return sum;
}

WinogradTransforms winograd_transforms(int64_t n) {
  const std::vector<double> points =
      n == 4 ? std::vector<double>{0, 0.625, -0.625, 1.5, -1.5} : std::vector<double>{0, 1, -1};
  WinogradTransforms t{n, n + kTaps - 1, {}, {}, {}};
  t.results.assign(static_cast<size_t>(n), {});
  std::vector<double> all{1};
  for (double p : points) {
    double scale = 1, power = 1;
    std::vector<double> others{1};
    for (double q : points) {
      if (q == p) continue;
      scale *= p - q;
      others = times_root(others, q);
    }
    t.weights.push_back({1 / scale, p / scale, p * p / scale});
    t.inputs.push_back(sum_of_squares(others));
    for (auto& result : t.results) {
      result.push_back(power);
      power *= p;
    }
    all = times_root(all, p);
  }
  t.weights.push_back({0, 0, 1});  // the point at infinity
  t.inputs.push_back(sum_of_squares(all));
  for (auto& result : t.results) result.push_back(&result == &t.results.back() ? 1 : 0);
  return t;
}

// w[panel][place][channel][rows of the panel]
std::vector<float> pack_transformed(const ConvSizes& sizes, int64_t places,
                                    std::span<const double> transformed) {
  const Panels panels = choose_panels(sizes.m);
  std::vector<float> packed;
  packed.reserve(static_cast<size_t>(panels.rows() * sizes.channels * places));
  for (int64_t row = 0; row < panels.rows();) {
    const int64_t height = row < 6 * panels.six ? 6 : 4;
    for (int64_t s = 0; s < places; ++s) {
      for (int64_t c = 0; c < sizes.channels; ++c) {
        for (int64_t r = row; r < row + height; ++r) {
          const auto at = static_cast<size_t>((r * sizes.channels + c) * places + s);
          packed.push_back(r < sizes.m ? static_cast<float>(transformed[at]) : 0.0f);
        }
      }
    }
    row += height;
  }
  return packed;
}

// Sizes of K_winograd_shape.
struct WinogradBlocks {
  int64_t panels = 1;                                  // transformed together
  int64_t tiles = 16, step = 16, rows = 0, pitch = 0;  // of a block of tiles, and of its strip
  int64_t floats = 0;                                  // of scratch memory
};

// A step of an odd number of cache lines spreads channels over the sets of the caches.
WinogradBlocks choose_blocks(const ConvSizes& c, int64_t n, Blocks blocks) {
  constexpr int64_t kPanels = 4, kWidth = 16;
  const int64_t places = (n + 2) * (n + 2), across = ceil_div(c.w.out[1], n);
  const Panels panels = choose_panels(c.m);
  WinogradBlocks b;
  b.panels = std::min(kPanels, panels.six + panels.four);
  b.tiles = winograd_tiles_at_once(c, n, blocks);
  b.step = b.tiles + (b.tiles / kWidth % 2 == 0 ? kWidth : 0);
  b.rows = n * std::min(ceil_div(c.w.out[0], n), ceil_div(b.tiles, across) + 1) + 2;
  b.pitch = round_up(std::min(across, b.tiles) + 2 * kWidth + 1, 8);
  const int64_t line = n * b.pitch, spare = c.channels % 2 == 0 ? 1 : 2;
  b.floats = (b.rows + 1 + n + 2) * line + places * (c.channels * b.step + spare * kWidth) +
             places * (b.panels * b.tiles * 6 + kWidth) + n * n * b.tiles;
  return b;
}

void declare_winograd_shape(Function& f, const ConvPlan& plan, const ConvSizes& sizes, int64_t n,
                            const WinogradBlocks& b, const std::string& direct) {
  const Panels panels = choose_panels(plan.m);
  const std::string transform = f.prefixed(fmt::format("K_winograd{}", n));
  f.put_struct("p", structs::WinogradShape{.batch = plan.batch,
                                           .channels = plan.channels,
                                           .h = plan.in[0],
                                           .w = plan.in[1],
                                           .m = plan.m,
                                           .out_h = plan.out[0],
                                           .out_w = plan.out[1],
                                           .panels6 = panels.six,
                                           .panels4 = panels.four,
                                           .block = b.panels,
                                           .top = -sizes.w.pad[0],
                                           .left = -sizes.w.pad[1],
                                           .n = n,
                                           .tiles = b.tiles,
                                           .ldb = b.step,
                                           .rows = b.rows,
                                           .pitch = b.pitch,
                                           .direct = direct,
                                           .in = transform + "_in",
                                           .out = transform + "_out",
                                           .begin = 0,
                                           .end = partition::winograd_tiles(sizes, n)});
}

}  // namespace

int64_t winograd_tiles_at_once(const ConvSizes& c, int64_t n, Blocks blocks) {
  return partition::winograd_tiles_at_once(c, n, scaled(partition::kWinogradBlockBytes, blocks));
}

int64_t& winograd_room(Program& program) {
  if (!program.winograd_room) program.winograd_room = partition::winograd_room(program.graph);
  return *program.winograd_room;
}

std::vector<double> transform_weights(int64_t n, std::span<const float> weights) {
  const WinogradTransforms t = winograd_transforms(n);
  std::vector<double> all;
  all.reserve(weights.size() / 9 * static_cast<size_t>(t.s * t.s));
  for (size_t at = 0; at < weights.size(); at += 9) {
    for (const auto& down : t.weights) {
      double row[3] = {0, 0, 0};
      for (size_t i = 0; i < 9; ++i) row[i % 3] += down[i / 3] * static_cast<double>(weights[at + i]);
      for (const auto& across : t.weights)
        all.push_back(across[0] * row[0] + across[1] * row[1] + across[2] * row[2]);
    }
  }
  return all;
}

// A product u * v has the variance u^2 * inputs (of values with variance 1), and the sum over channels what
// they have together. Each rounding of a value x adds an error of variance x^2 2^-48 / 3: about nine of a
// product (transforms of both dimensions, both ends, and the stored weight), and one of every partial sum, on
// average half as large as the last one.
double winograd_error(int64_t n, int64_t channels, std::span<const double> transformed,
                      std::span<const float> weights) {
  constexpr double kRoundings = 9, kUnit = 0x1p-24;
  const WinogradTransforms t = winograd_transforms(n);
  const auto places = static_cast<size_t>(t.s * t.s), side = static_cast<size_t>(t.s);
  const auto depth = static_cast<size_t>(channels);
  double largest = 0;
  for (size_t row = 0; row < weights.size() / 9 / depth; ++row) {
    std::vector<double> products(places);
    for (size_t i = 0; i < depth * places; ++i) {
      const double u = transformed[row * depth * places + i];
      products[i % places] += u * u * t.inputs[i % places / side] * t.inputs[i % side];
    }
    double exact = 0;
    for (float w : weights.subspan(row * depth * 9, depth * 9))
      exact += static_cast<double>(w) * static_cast<double>(w);
    if (exact == 0) continue;
    double sum = 0;
    for (const auto& down : t.results) {
      for (const auto& across : t.results) {
        for (size_t k = 0; k < places; ++k) {
          const double factor = down[k / side] * across[k % side];
          sum += factor * factor * products[k];
        }
      }
    }
    largest = std::max(largest, sum / static_cast<double>(n * n) / exact);
  }
  const double roundings = kRoundings + (static_cast<double>(channels) + 1) / 2;
  return kUnit * std::sqrt(largest * roundings / 3);
}

bool allows_winograd(const Options& options) {
  return options.winograd != WinogradUse::Never && options.host_weights == WeightType::F32;
}

bool winograd_pays(Program& program) {
  if (program.winograd_pays) return *program.winograd_pays;
  double saved = 0;
  for (const PlannedConv& conv : planned_convs(program)) saved += partition::winograd_saves(conv.sizes);
  program.winograd_pays = partition::winograd_pays(saved);
  return *program.winograd_pays;
}

bool expects_winograd(Program& program, const ConvSizes& sizes) {
  const WinogradUse use = program.options.winograd;
  if (program.options.optimize != Optimize::Speed || !allows_winograd(program.options)) return false;
  if (use != WinogradUse::Chosen) return partition::suits_winograd(sizes);
  return !partition::winograd_sizes(sizes).empty() && winograd_pays(program);
}

bool suits_winograd(const ConvSizes& c, std::span<const float> weights) {
  constexpr float kMostWeight = 1e30f;
  return partition::suits_winograd(c) &&
         std::ranges::all_of(weights, [](float v) { return std::abs(v) <= kMostWeight; });
}

Winograd make_winograd(const ConvSizes& c, int64_t n, std::span<const float> weights) {
  Winograd made{n, 0, transform_weights(n, weights)};
  made.error = winograd_error(n, c.channels, made.transformed, weights);
  return made;
}

void emit_winograd(Function& f, const ConvPlan& plan, const ConvSizes& sizes, const Epilogue& e,
                   const Winograd& choice, Blocks blocks, bool cut) {
  const int64_t n = choice.n, places = (n + 2) * (n + 2);
  const WinogradBlocks b = choose_blocks(sizes, n, blocks);
  const Panels panels = choose_panels(plan.m);
  f.need(n == 4 ? Piece::winograd4 : Piece::winograd2);
  f.need(Piece::winograd);
  const int64_t rest = partition::winograd_tiles(sizes, n) % 16;
  if (rest >= 1 && rest <= 8) f.need(Piece::micro12);
  if (plan.m >= 12 && partition::winograd_tiles(sizes, n) > 24) f.need(Piece::panel12);
  declare_epilogue(f, e);
  const Tensor& direct = *f.program().graph.constant(f.head().inputs[1]);
  const std::vector<float> packed = pack_transformed(sizes, places, choice.transformed);
  const std::string weights = f.weights(packed), type = f.prefixed("K_winograd_shape");
  declare_winograd_shape(f, plan, sizes, n, b, f.table(direct));
  const std::string scratch = f.scratch(b.floats * 4);
  const ir::Node& last = f.program().node(f.nodes().back());
  KernelCall call{f.prefixed("K_winograd"), f.read(f.head().inputs[0], "x0"), weights,
                  bias_text(f, e),          f.write(last.outputs[0], "y0"),   scratch};
  if (cut) {
    const PlacedWork work{partition::winograd_tiles(sizes, n), 16, plan.channels * places, panels,
                          partition::winograd_input_cost(n) * static_cast<double>(plan.channels)};
    if (shares_places(f, work)) {
      call.shape = put_places_part(f, work, type);
    } else {
      ConvPlan parts = plan;
      parts.taps.assign(static_cast<size_t>(places), {});  // as deep as panels are
      call.take_part(f, put_conv_part(f, parts, type, false), e);
      f.put("q.direct += row * {};", plan.channels * kTaps * kTaps);
    }
  }
  call.put(f);
  f.program().module.transformed.push_back({f.program().expr(f.nodes().front()), f.head().name, n,
                                            choice.error, 4 * static_cast<int64_t>(packed.size())});
}

}  // namespace mrvlc::chost
