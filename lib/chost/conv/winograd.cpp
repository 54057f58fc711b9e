// Winograd's F(n x n, 3x3), n = 4 or 2: A. Lavin, S. Gray, Fast Algorithms for Convolutional Neural Networks,
// 2015 (arXiv 1509.09308). WinogradTransforms by Toom and Cook from points (B. Barabasz et al., Error
// Analysis and Improving the Accuracy of Winograd Convolution for Deep Neural Networks, 2018, arXiv
// 1803.10986): those of n = 4 were chosen for the least error among pairs +-a, +-b whose powers are floats.
#include "conv/winograd.h"

#include <algorithm>
#include <cmath>

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

// In units of a multiply-add in registers, measured (docs/decisions/0043): what a tile takes in each channel
// to be transformed, and its results to be; and what gathering or copying a pixel takes instead.
struct TransformCosts {
  double input, result;
};
constexpr TransformCosts kCosts4{700, 450}, kCosts2{180, 120};
constexpr double kGatherCost = 8, kCopyCost = 2;

// Of reading weights once.
double weights_cost(double floats) {
  constexpr double kByteCost = 1.6;
  return kByteCost * 4 * floats;
}

// By K_conv, which gathers columns, or K_conv_rows, which copies rows and computes what a row has over 8
// twice.
double direct_cost(const ConvPlan& plan) {
  const auto rows = static_cast<double>(choose_panels(plan.m).rows());
  const auto depth = static_cast<double>(plan.channels * kTaps * kTaps);
  const auto pixels = static_cast<double>(round_up(plan.out[0] * plan.out[1], 8));
  const auto in_rows = static_cast<double>(plan.out[0] * round_up(plan.out[1], 8));
  return depth * std::min((rows + kGatherCost) * pixels, (rows + kCopyCost) * in_rows) +
         weights_cost(depth * rows);
}

int64_t tiles_of(const ConvPlan& plan, int64_t n) {
  return ceil_div(plan.out[0], n) * ceil_div(plan.out[1], n);
}

// Tiles of a block: transformed inputs stay in a second-level cache.
int64_t tiles_at_once(const ConvPlan& plan, int64_t n) {
  constexpr int64_t kBytes = 512 << 10, kWidth = 16;
  const int64_t places = (n + 2) * (n + 2), all = tiles_of(plan, n);
  const int64_t most = std::max(kBytes / (places * plan.channels * 4) / kWidth * kWidth, kWidth);
  return round_up(ceil_div(all, ceil_div(all, most)), kWidth);
}

// Every block reads all weights.
double winograd_cost(const ConvPlan& plan, int64_t n) {
  const TransformCosts& costs = n == 4 ? kCosts4 : kCosts2;
  const auto tiles = static_cast<double>(tiles_of(plan, n));
  const auto lanes = static_cast<double>(round_up(tiles_of(plan, n), 8));
  const auto weights = static_cast<double>((n + 2) * (n + 2) * plan.channels * choose_panels(plan.m).rows());
  return weights * lanes +
         tiles *
             (costs.input * static_cast<double>(plan.channels) + costs.result * static_cast<double>(plan.m)) +
         weights_cost(weights) * static_cast<double>(ceil_div(tiles_of(plan, n), tiles_at_once(plan, n)));
}

// Bytes that weights take more.
int64_t more_bytes(const ConvPlan& plan, int64_t n) {
  const int64_t places = (n + 2) * (n + 2) - kTaps * kTaps;
  return 4 * places * plan.channels * choose_panels(plan.m).rows();
}

// Whether tiles of n x n save enough time to be worth the memory of their weights.
bool gains(const ConvPlan& plan, int64_t n) {
  constexpr double kLeast = 0.15, kMemory = 6;  // of the time; a byte
  const double cost = winograd_cost(plan, n);
  return direct_cost(plan) - cost >= kLeast * cost + kMemory * static_cast<double>(more_bytes(plan, n));
}

// What transformed weights may take of a program's memory beyond the weights themselves: layers have it in
// order of work.
int64_t& winograd_room(Program& program) {
  constexpr int64_t kLeast = 16 << 20;
  constexpr double kShare = 0.4;
  if (!program.winograd_room) {
    int64_t bytes = 0;
    for (size_t i = 0; i < program.graph.value_slots(); ++i) {
      const ir::ValueId v(i);
      if (const Tensor* t = program.graph.constant(v); t != nullptr && program.graph.use_count(v) > 0)
        bytes += t->type().bytes();
    }
    program.winograd_room = std::max(kLeast, static_cast<int64_t>(kShare * static_cast<double>(bytes)));
  }
  return *program.winograd_room;
}

// Sizes of tiles that are faster than sums, the fastest first, or what is asked for.
std::vector<int64_t> winograd_tiles(WinogradUse use, const ConvPlan& plan) {
  switch (use) {
    case WinogradUse::Never:
      return {};
    case WinogradUse::Tile2:
      return {2};
    case WinogradUse::Tile4:
      return {4};
    case WinogradUse::Chosen:
      break;
  }
  std::vector<int64_t> sizes;
  for (int64_t n : {4, 2})
    if (gains(plan, n)) sizes.push_back(n);
  std::ranges::stable_sort(sizes, {}, [&](int64_t n) { return winograd_cost(plan, n); });
  return sizes;
}

// w[panel][place][channel][rows of the panel]
std::vector<float> pack_transformed(const ConvPlan& plan, int64_t places,
                                    std::span<const double> transformed) {
  const Panels panels = choose_panels(plan.m);
  std::vector<float> packed;
  packed.reserve(static_cast<size_t>(panels.rows() * plan.channels * places));
  for (int64_t row = 0; row < panels.rows();) {
    const int64_t height = row < 6 * panels.six ? 6 : 4;
    for (int64_t s = 0; s < places; ++s) {
      for (int64_t c = 0; c < plan.channels; ++c) {
        for (int64_t r = row; r < row + height; ++r) {
          const auto at = static_cast<size_t>((r * plan.channels + c) * places + s);
          packed.push_back(r < plan.m ? static_cast<float>(transformed[at]) : 0.0f);
        }
      }
    }
    row += height;
  }
  return packed;
}

bool suits_winograd(const ConvPlan& plan, const Window2& w) {
  if (plan.groups != 1 || plan.m < 1 || plan.channels < 1) return false;
  for (size_t d = 0; d < 2; ++d)
    if (w.kernel[d] != kTaps || w.stride[d] != 1 || w.dilation[d] != 1 || w.out[d] < 1) return false;
  return true;
}

// Sizes of K_winograd_shape.
struct WinogradBlocks {
  int64_t panels = 1;                                  // transformed together
  int64_t tiles = 16, step = 16, rows = 0, pitch = 0;  // of a block of tiles, and of its strip
  int64_t floats = 0;                                  // of scratch memory
};

// A step of an odd number of cache lines spreads channels over the sets of the caches.
WinogradBlocks choose_blocks(const ConvPlan& plan, int64_t n) {
  constexpr int64_t kPanels = 4, kWidth = 16;
  const int64_t places = (n + 2) * (n + 2), across = ceil_div(plan.out[1], n);
  const Panels panels = choose_panels(plan.m);
  WinogradBlocks b;
  b.panels = std::min(kPanels, panels.six + panels.four);
  b.tiles = tiles_at_once(plan, n);
  b.step = b.tiles + (b.tiles / kWidth % 2 == 0 ? kWidth : 0);
  b.rows = n * std::min(ceil_div(plan.out[0], n), ceil_div(b.tiles, across) + 1) + 2;
  b.pitch = round_up(std::min(across, b.tiles) + 2 * kWidth + 1, 8);
  const int64_t line = n * b.pitch, spare = plan.channels % 2 == 0 ? 1 : 2;
  b.floats = (b.rows + 1 + n + 2) * line + places * (plan.channels * b.step + spare * kWidth) +
             places * (b.panels * b.tiles * 6 + kWidth) + n * n * b.tiles;
  return b;
}

}  // namespace

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

bool winograd_pays(Program& program) {
  if (program.winograd_pays) return *program.winograd_pays;
  constexpr double kEnough = 2e6;  // about 40 microseconds
  double saved = 0;
  for (const auto& [plan, window, depthwise] : planned_convs(program)) {
    const std::vector<int64_t> tiles =
        suits_winograd(plan, window) ? winograd_tiles(WinogradUse::Chosen, plan) : std::vector<int64_t>();
    if (!tiles.empty()) saved += direct_cost(plan) - winograd_cost(plan, tiles[0]);
  }
  program.winograd_pays = saved >= kEnough;
  return *program.winograd_pays;
}

bool expects_winograd(Program& program, const ConvPlan& plan, const Window2& w) {
  const WinogradUse use = program.options.winograd;
  return suits_winograd(plan, w) && !winograd_tiles(use, plan).empty() &&
         (use != WinogradUse::Chosen || winograd_pays(program));
}

std::optional<Winograd> choose_winograd(Program& program, const ConvPlan& plan, const Window2& w,
                                        std::span<const float> weights) {
  constexpr double kMostError = 0x1p-18;
  if (!suits_winograd(plan, w)) return std::nullopt;
  // WinogradTransforms of larger ones might overflow; of what is no number nothing can be said.
  constexpr float kMostWeight = 1e30f;
  if (!std::ranges::all_of(weights, [](float v) { return std::abs(v) <= kMostWeight; })) return std::nullopt;
  const WinogradUse use = program.options.winograd;
  const bool chosen = use == WinogradUse::Chosen;
  if (chosen && !winograd_pays(program)) return std::nullopt;
  for (int64_t n : winograd_tiles(use, plan)) {
    const int64_t more = more_bytes(plan, n);
    if (chosen && more > winograd_room(program)) continue;
    const std::vector<double> transformed = transform_weights(n, weights);
    const double error = winograd_error(n, plan.channels, transformed, weights);
    if (chosen && error > kMostError) continue;
    if (chosen) winograd_room(program) -= more;
    return Winograd{n, error, pack_transformed(plan, (n + 2) * (n + 2), transformed)};
  }
  return std::nullopt;
}

void emit_winograd(Function& f, const ConvPlan& plan, const Window2& w, const Epilogue& e,
                   const Winograd& choice, bool cut) {
  const int64_t n = choice.n, places = (n + 2) * (n + 2);
  const WinogradBlocks b = choose_blocks(plan, n);
  const Panels panels = choose_panels(plan.m);
  f.need(n == 4 ? Piece::winograd4 : Piece::winograd2);
  f.need(Piece::winograd);
  const int64_t rest = tiles_of(plan, n) % 16;
  if (rest >= 1 && rest <= 8) f.need(Piece::micro12);
  declare_epilogue(f, e);
  const Tensor& direct = *f.program().graph.constant(f.head().inputs[1]);
  const std::string weights = f.weights(choice.weights), type = f.prefixed("K_winograd_shape");
  f.put(
      "const {} p = {{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}_in, "
      "{}_out, 0, {}}};",
      type, plan.batch, plan.channels, plan.in[0], plan.in[1], plan.m, plan.out[0], plan.out[1], panels.six,
      panels.four, b.panels, -w.pad[0], -w.pad[1], n, b.tiles, b.step, b.rows, b.pitch, f.table(direct),
      f.prefixed(fmt::format("K_winograd{}", n)), f.prefixed(fmt::format("K_winograd{}", n)),
      tiles_of(plan, n));
  const std::string scratch = f.scratch(b.floats * 4);
  const ir::Node& last = f.program().node(f.nodes().back());
  KernelCall call{f.prefixed("K_winograd"), f.read(f.head().inputs[0], "x0"), weights,
                  bias_text(f, e),          f.write(last.outputs[0], "y0"),   scratch};
  if (cut) {
    const double input = (n == 4 ? kCosts4 : kCosts2).input;
    const PlacedWork work{tiles_of(plan, n), 16, plan.channels * places, panels,
                          input * static_cast<double>(plan.channels)};
    if (shares_places(f, work)) {
      call.shape = put_places_part(f, work, type);
    } else {
      ConvPlan parts = plan;
      parts.taps.assign(static_cast<size_t>(places), {});  // as deep as panels are
      call.take_part(f, put_conv_part(f, parts, type), e);
      f.put("q.direct += row * {};", plan.channels * kTaps * kTaps);
    }
  }
  call.put(f);
  f.program().module.transformed.push_back({f.program().expr(f.nodes().front()), f.head().name, n,
                                            choice.error, 4 * static_cast<int64_t>(choice.weights.size())});
}

}  // namespace mrvlc::chost
