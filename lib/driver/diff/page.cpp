// The page of `mrvlc diff --html`.
#include <algorithm>
#include <cmath>

#include "diff/found.h"
#include "mrvlc/report/diff_page.h"
#include "mrvlc/report/numbers.h"

namespace mrvlc::driver {
namespace {

using report::DiffPage;

std::string value_text(const std::optional<Number>& value, Unit unit) {
  if (!value) return number_text(value);
  const int64_t* const whole = std::get_if<int64_t>(&*value);
  switch (unit) {
    case Unit::Bytes:
      return report::bytes_text(whole != nullptr ? *whole : static_cast<int64_t>(as_double(*value)));
    case Unit::Share:
      return fmt::format("{:.4g} %", 100 * as_double(*value));
    case Unit::Seconds:
      return report::duration(as_double(*value));
    case Unit::Count:
      return whole != nullptr ? report::grouped(*whole) : number_text(value);
    case Unit::Error:
      break;
  }
  return number_text(value);
}

DiffPage::Change how(const DiffTotal& t) {
  if (!t.changed()) return DiffPage::Change::None;
  if (t.kind->worse == Worse::Neither) return DiffPage::Change::Neither;
  return (as_double(*t.change) > 0) == (t.kind->worse == Worse::More) ? DiffPage::Change::Worse
                                                                      : DiffPage::Change::Better;
}

DiffPage::Total total(const DiffTotal& t) {
  const Unit unit = t.kind->unit;
  DiffPage::Total out{
      std::string(t.kind->title), value_text(t.a, unit), value_text(t.b, unit), "", how(t), t.worse};
  if (out.how == DiffPage::Change::None) return out;
  out.change = (as_double(*t.change) > 0 ? "+" : "") + value_text(t.change, unit);
  if (t.relative) out.change += fmt::format(" ({:+.2f} %)", 100 * *t.relative);
  return out;
}

std::string text_of(const json::Json& value) {
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "not given" : value.dump();
}

std::vector<DiffPage::Layer> layers(const std::vector<DiffLayers>& list) {
  double most = 1;
  for (const DiffLayers& l : list) most = std::max(most, std::abs(static_cast<double>(l.change)));
  std::vector<DiffPage::Layer> out;
  for (const DiffLayers& l : list)
    out.push_back({l.operators, std::to_string(l.cycles_a), std::to_string(l.cycles_b),
                   fmt::format("{:+}", l.change), l.why, static_cast<double>(l.change) / most});
  return out;
}

}  // namespace

std::string diff_html(const DiffFound& diff, const std::string& a, const std::string& b) {
  DiffPage page;
  page.title = a + " and " + b;
  page.summary =
      diff.inputs.empty() ? "The same model, options and version." : "Before: " + a + ". After: " + b + ".";
  for (const DiffTotal& t : diff.totals) page.totals.push_back(total(t));
  page.layers = layers(diff.layers);
  for (const DiffMove& p : diff.placement)
    page.placement.push_back({p.node, p.op_type, where_text(p.a), where_text(p.b), p.reason});
  for (const DiffInput& i : diff.inputs) page.inputs.push_back({i.what, text_of(i.a), text_of(i.b)});
  return report::diff_page(page);
}

}  // namespace mrvlc::driver
