// What an item's card says, and how much room that takes.
#include <algorithm>
#include <cmath>

#include "graph/nested.h"
#include "mrvlc/report/numbers.h"
#include "mrvlc/support/diag.h"

namespace mrvlc::report {
namespace {

constexpr size_t kTitle = 30, kLine = 36;             // characters
constexpr int32_t kTitleWidth = 17, kLineWidth = 13;  // half pixels a character, at 13 and 11 pixels
constexpr int32_t kPad = 12, kLeast = 84;

// Cut in its middle: names of one model begin alike and differ at their ends.
std::string shortened(const std::string& text, size_t most) {
  std::string shown = printable(text, 1000);
  if (shown.size() <= most) return shown;
  auto inside = [&](size_t at) {
    return at < shown.size() && (static_cast<unsigned char>(shown[at]) & 0xC0) == 0x80;
  };
  size_t head = most / 2, tail = shown.size() - (most - head - 1);
  while (head > 0 && inside(head)) --head;
  while (inside(tail)) ++tail;
  return shown.substr(0, head) + "…" + shown.substr(tail);
}

int32_t characters(const std::string& text) {
  return static_cast<int32_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string facts(const GraphItem& item) {
  std::string out;
  auto add = [&](const std::string& text) {
    if (!text.empty()) out += (out.empty() ? "" : " · ") + text;
  };
  if (item.cycles) add(grouped(static_cast<int64_t>(*item.cycles)) + " cycles");
  if (!item.cycles && item.seconds) add(duration(*item.seconds));
  add(item.kind == GraphItem::Kind::Call ? item.target : "");
  add(item.precision.empty() ? item.type : item.precision);
  return out;
}

}  // namespace

const char* name(GraphItem::Kind kind) {
  constexpr const char* kNames[] = {"input", "output", "layer", "host", "call", "node"};
  return kNames[static_cast<size_t>(kind)];
}

std::string graph_title(const GraphItem& item) {
  if (item.nodes.empty()) return item.name;
  std::string out;
  for (const GraphNode& n : item.nodes) out += (out.empty() ? "" : " + ") + n.op_type;
  return out;
}

Card card_of(const GraphItem& item) {
  Card card;
  card.title = shortened(graph_title(item), kTitle);
  if (!item.nodes.empty()) {
    const std::string& first = item.nodes.front().name.empty() ? item.name : item.nodes.front().name;
    card.lines[0] = shortened(first, kLine);
  }
  card.lines[1] = shortened(facts(item), kLine);
  int32_t halves = characters(card.title) * kTitleWidth;
  card.height = 14 + 16;
  for (const std::string& line : card.lines) {
    if (line.empty()) continue;
    halves = std::max(halves, characters(line) * kLineWidth);
    card.height += 14;
  }
  card.width = std::max(halves / 2 + 2 * kPad, kLeast);
  card.width += card.width % 2;
  return card;
}

}  // namespace mrvlc::report
