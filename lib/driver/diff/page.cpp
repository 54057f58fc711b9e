// The page of `mrvlc diff --html`.
#include "diff/page.h"

#include <cstdlib>

#include "diff/text.h"
#include "diff/totals.h"
#include "mrvlc/report/diff_page.h"
#include "mrvlc/report/numbers.h"

namespace mrvlc::driver {
namespace {

using report::DiffPage;

std::string signed_text(const Json& change) {
  if (change.is_number_float()) return fmt::format("{:+.4g}", change.get<double>());
  return fmt::format("{:+}", change.get<int64_t>());
}

std::string value_text(const Json& value, Unit unit) {
  if (!value.is_number()) return number_text(value);
  switch (unit) {
    case Unit::Bytes:
      return report::bytes_text(value.get<int64_t>());
    case Unit::Share:
      return fmt::format("{:.4g} %", 100 * value.get<double>());
    case Unit::Seconds:
      return report::duration(value.get<double>());
    case Unit::Count:
      return value.is_number_integer() ? report::grouped(value.get<int64_t>()) : number_text(value);
    case Unit::Error:
      break;
  }
  return number_text(value);
}

std::string change_text(const Json& change, Unit unit) {
  return (change.get<double>() > 0 ? "+" : "") + value_text(change, unit);
}

DiffPage::Change how(const Json& t) {
  const Json& change = t.at("change");
  if (change.is_null() || change == 0) return DiffPage::Change::None;
  const Worse worse = total_kind(t.at("name").get<std::string>()).worse;
  if (worse == Worse::Neither) return DiffPage::Change::Neither;
  return (change.get<double>() > 0) == (worse == Worse::More) ? DiffPage::Change::Worse
                                                              : DiffPage::Change::Better;
}

DiffPage::Total total(const Json& t) {
  const TotalKind& kind = total_kind(t.at("name").get<std::string>());
  DiffPage::Total out{std::string(kind.title),
                      value_text(t.at("a"), kind.unit),
                      value_text(t.at("b"), kind.unit),
                      "",
                      how(t),
                      t.at("worse").get<bool>()};
  if (out.how == DiffPage::Change::None) return out;
  out.change = change_text(t.at("change"), kind.unit);
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
