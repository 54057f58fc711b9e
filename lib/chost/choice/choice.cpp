// A layer's variant: the tuning's where it is legal, else what the model of costs takes.
#include "choice/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace mrvlc::chost {
namespace {

constexpr std::string_view kKernelNames[] = {"columns",   "in-place",  "copied",  "rows",
                                             "winograd4", "winograd2", "plane",   "windows",
                                             "lanes",     "some-rows", "all-rows"};
static_assert(std::size(kKernelNames) == static_cast<size_t>(Kernel::AllRows) + 1);
constexpr std::string_view kBlockNames[] = {"", "-half", "-double"};

std::vector<Variant> legal_variants(LayerVariants& variants) {
  std::vector<Variant> out;
  for (const Kernel kernel : variants.kernels())
    for (const Blocks blocks : {Blocks::Usual, Blocks::Half, Blocks::Double})
      if (variants.legal({kernel, blocks})) out.push_back({kernel, blocks});
  return out;
}

// With the options that decide about what is legal and fast.
std::string key_of(const Options& options, const LayerVariants& variants) {
  std::string key = variants.layer();
  if (options.threads > 1) key += fmt::format(", threads {}", options.threads);
  if (options.winograd == WinogradUse::Never) key += ", exact";
  if (options.host_weights == WeightType::F16) key += ", weights fp16";
  return key;
}

}  // namespace

std::string to_text(Variant variant) {
  return fmt::format("{}{}", kKernelNames[static_cast<size_t>(variant.kernel)],
                     kBlockNames[static_cast<size_t>(variant.blocks)]);
}

std::optional<Variant> parse_variant(std::string_view text) {
  for (size_t k = 0; k < std::size(kKernelNames); ++k) {
    for (size_t b = 0; b < std::size(kBlockNames); ++b) {
      const Variant v{static_cast<Kernel>(k), static_cast<Blocks>(b)};
      if (text == to_text(v)) return v;
    }
  }
  return std::nullopt;
}

Variant choose_variant(Program& program, const ir::Node& head, LayerVariants& variants) {
  const Tuning& tuning = program.options.tuning;
  LayerChoice choice;
  choice.expr = program.expr(head.id);
  choice.name = head.name;
  choice.op = head.op->name;
  choice.layer = key_of(program.options, variants);
  const auto asked = tuning.variants.find(choice.layer);
  const bool found = asked != tuning.variants.end();
  const bool fastest = program.options.optimize == Optimize::Speed;
  choice.tuned =
      found && (fastest || asked->second.kernel == variants.common().kernel) && variants.legal(asked->second);
  if (found && !choice.tuned) choice.refused = asked->second;
  choice.expected = fastest ? variants.expected() : variants.common();
  choice.taken = choice.tuned ? asked->second : choice.expected;
  if (tuning.measuring) choice.legal = legal_variants(variants);
  program.module.choices.push_back(choice);
  return choice.taken;
}

}  // namespace mrvlc::chost
