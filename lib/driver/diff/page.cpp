// The page of `mrvlc diff --html`.
#include "diff/page.h"

#include <cstdlib>

#include "diff/text.h"
#include "diff/totals.h"
#include "mrvlc/report/diff_page.h"

namespace mrvlc::driver {
namespace {

using report::DiffPage;

std::string signed_text(const Json& change) {
  if (change.is_number_float()) return fmt::format("{:+.4g}", change.get<double>());
  return fmt::format("{:+}", change.get<int64_t>());
}

DiffPage::Change how(const Json& t) {
  const Json& change = t.at("change");
  if (change.is_null() || change == 0) return DiffPage::Change::None;
  const Worse worse = worse_of(t.at("name").get<std::string>());
  if (worse == Worse::Neither) return DiffPage::Change::Neither;
  return (change.get<double>() > 0) == (worse == Worse::More) ? DiffPage::Change::Worse
                                                              : DiffPage::Change::Better;
}

DiffPage::Total total(const Json& t) {
  DiffPage::Total out{
      t.at("name").get<std::string>(), number_text(t.at("a")), number_text(t.at("b")), "", how(t),
      t.at("worse").get<bool>()};
  if (out.how == DiffPage::Change::None) return out;
  out.change = signed_text(t.at("change"));
  if (t.at("relative").is_number())
    out.change += fmt::format(" ({:+.2f} %)", 100 * t.at("relative").get<double>());
  return out;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "not given" : value.dump();
}

std::vector<DiffPage::Layer> layers(const Json& list) {
  double most = 1;
  for (const Json& l : list) most = std::max(most, std::abs(l.at("change").get<double>()));
  std::vector<DiffPage::Layer> out;
  for (const Json& l : list)
    out.push_back({l.at("operators").get<std::string>(), l.at("cycles_a").dump(), l.at("cycles_b").dump(),
                   signed_text(l.at("change")), l.at("why").get<std::string>(),
                   l.at("change").get<double>() / most});
  return out;
}

}  // namespace

std::string diff_html(const Json& diff, const std::string& a, const std::string& b) {
  DiffPage page;
  page.title = a + " and " + b;
  page.summary = diff.at("inputs").empty() ? "The same model, options and version."
                                           : "Before: " + a + ". After: " + b + ".";
  for (const Json& t : diff.at("totals")) page.totals.push_back(total(t));
  page.layers = layers(diff.at("layers"));
  for (const Json& p : diff.at("placement"))
    page.placement.push_back({p.at("node").get<std::string>(), p.at("op_type").get<std::string>(),
                              where_text(p.at("a")), where_text(p.at("b")),
                              p.at("reason").get<std::string>()});
  for (const Json& i : diff.at("inputs"))
    page.inputs.push_back({i.at("what").get<std::string>(), text_of(i.at("a")), text_of(i.at("b"))});
  return report::diff_page(page);
}

}  // namespace mrvlc::driver
