// Choices of layers, measured by a model of errors that is written here.
#include "search.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace mrvlc::quantize {
namespace {

// Squares that add up, times a factor that predictions do not know.
struct Model {
  Choosing choosing;
  double factor = 1;
  size_t asked_for = 0;

  double error(const std::vector<bool>& set) const {
    double sum = choosing.floor * choosing.floor;
    for (size_t i = 0; i < set.size(); ++i) sum += set[i] ? choosing.errors[i] * choosing.errors[i] : 0;
    return factor * std::sqrt(sum);
  }
  Chosen choose() {
    const auto found = choose_integers(choosing, [&](const std::vector<bool>& set) -> Result<double> {
      ++asked_for;
      return error(set);
    });
    REQUIRE(found.ok());
    return *found;
  }
  double saved(const std::vector<bool>& set) const {
    double sum = 0;
    for (size_t i = 0; i < set.size(); ++i) {
      if (!set[i]) continue;
      sum += choosing.saved[i];
      if (choosing.before.empty() || choosing.before[i].empty()) continue;
      bool all = true;
      for (size_t k : choosing.before[i]) all = all && set[k];
      sum += all ? choosing.beside[i] : 0;
    }
    return sum;
  }
};

// Of all choices.
double best_of_all(const Model& model) {
  double best = 0;
  const size_t n = model.choosing.errors.size();
  for (size_t bits = 0; bits < size_t{1} << n; ++bits) {
    std::vector<bool> set(n);
    for (size_t i = 0; i < n; ++i) set[i] = (bits >> i & 1) != 0;
    if (model.error(set) <= model.choosing.asked) best = std::max(best, model.saved(set));
  }
  return best;
}

}  // namespace

TEST_CASE("layers that save much for a small error become integers", "[quantize]") {
  Model model{{{0.3, 0.1, 0.1, 0.9, 0.2}, {1, 10, 5, 100, -3}, {}, {}, 0, 0.25, 40}};
  const Chosen chosen = model.choose();
  // The fourth saves most and is beyond what is asked alone; the last saves nothing.
  CHECK(chosen.integers == std::vector<bool>{false, true, true, false, false});
  CHECK(chosen.error == Approx(std::sqrt(0.02)));
  CHECK(chosen.runs == model.asked_for);
}

TEST_CASE("predictions that are far off are put right by what is measured", "[quantize]") {
  for (const double factor : {0.2, 1.0, 5.0}) {
    Model model{{{}, {}, {}, {}, 0, 0.3 * factor, 60}, factor};
    for (int i = 0; i < 12; ++i) {
      model.choosing.errors.push_back(0.03 * (1 + i * 7 % 12));
      model.choosing.saved.push_back(1 + i * 5 % 12);
    }
    const Chosen chosen = model.choose();
    CHECK(model.error(chosen.integers) <= model.choosing.asked);
    CHECK(model.saved(chosen.integers) >= 0.9 * best_of_all(model));
    CHECK(chosen.runs <= 60);
  }
}

TEST_CASE("a layer takes the place of one that saves less", "[quantize]") {
  // By what a saving costs the first comes first, and fills what is asked; the second alone saves more.
  Model model{{{0.2, 0.299}, {5, 11}, {}, {}, 0, 0.3, 20}};
  CHECK(model.choose().integers == std::vector<bool>{false, true});
}

TEST_CASE("layers that save something only behind one another are taken together", "[quantize]") {
  // 1 reads what 0 makes, 3 what 2 and 1 make; between floats making their integers takes more than they
  // save.
  Model model{{{0.1, 0.1, 0.1, 0.1}, {-1, -1, -1, -1}, {{}, {0}, {}, {1, 2}}, {0, 4, 0, 1}, 0, 0.15, 40}};
  CHECK(model.choose().integers == std::vector<bool>{true, true, false, false});
  model.choosing.asked = 0.3;
  CHECK(model.choose().integers == std::vector<bool>{true, true, false, false});
  model.choosing.beside[3] = 9;
  CHECK(model.choose().integers == std::vector<bool>{true, true, true, true});
  CHECK(model.saved(model.choose().integers) == model.choosing.saved_by({true, true, true, true}));
}

TEST_CASE("what floats lose is no layer's, and nothing fits beside too much of it", "[quantize]") {
  Model model{{{0.1, 0.2}, {1, 1}, {}, {}, 0.25, 0.26, 20}};
  CHECK(model.choose().integers == std::vector<bool>{false, false});
  model.choosing.asked = 0.28;
  CHECK(model.choose().integers == std::vector<bool>{true, false});
  model.choosing.floor = 0.3;
  model.asked_for = 0;
  CHECK(model.choose().integers == std::vector<bool>{false, false});
  CHECK(model.asked_for == 0);
}

TEST_CASE("no more is measured than was allowed", "[quantize]") {
  Model model{{std::vector<double>(30, 0.1), std::vector<double>(30, 1), {}, {}, 0, 0.25, 7}, 3};
  const Chosen chosen = model.choose();
  CHECK(model.asked_for <= 7);
  CHECK(chosen.error <= 0.25);
}

}  // namespace mrvlc::quantize
