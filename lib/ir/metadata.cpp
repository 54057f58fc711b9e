// Reads what PyTorch's exporters write beside a node: a traceback, and the names and classes of the modules
// around it.
#include "mrvlc/ir/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "mrvlc/ir/lineage.h"

namespace mrvlc::ir {
namespace {

constexpr std::string_view kStackTrace = "pkg.torch.onnx.stack_trace";
constexpr std::string_view kScopes = "pkg.torch.onnx.name_scopes";
constexpr std::string_view kClasses = "pkg.torch.onnx.class_hierarchy";
constexpr std::string_view kNamespace = "namespace";

// Of a path and of a module's name the end says most.
constexpr size_t kMostNameBytes = 1024;
std::string end_of(std::string_view text) {
  if (text.size() <= kMostNameBytes) return std::string(text);
  return "..." + std::string(text.substr(text.size() - kMostNameBytes));
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// Whose line says most about the program: the user's, a library's, or PyTorch's own and made-up files.
enum class Owner : uint8_t { Torch, Library, User };
Owner owner_of(std::string_view file) {
  if (file.empty() || file.front() == '<') return Owner::Torch;
  for (const std::string_view folder : {"site-packages", "dist-packages"}) {
    const size_t at = file.find(folder);
    if (at == std::string_view::npos) continue;
    std::string_view package = file.substr(at + folder.size());
    package.remove_prefix(std::min<size_t>(1, package.size()));
    return package.starts_with("torch/") || package.starts_with("torch\\") ? Owner::Torch : Owner::Library;
  }
  return Owner::User;
}

struct Frame {
  std::string_view file;
  uint32_t line = 0;
};

// `  File "x.py", line 12, in forward`, or nothing.
bool read_frame(std::string_view text, Frame& frame) {
  constexpr std::string_view kFile = "File \"", kLine = "\", line ";
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos || !text.substr(begin).starts_with(kFile)) return false;
  text.remove_prefix(begin + kFile.size());
  const size_t end = text.rfind(kLine);
  if (end == std::string_view::npos || end == 0) return false;
  uint32_t line = 0;
  size_t digits = 0;
  for (const char c : text.substr(end + kLine.size())) {
    if (c < '0' || c > '9' || ++digits > 9) break;
    line = line * 10 + static_cast<uint32_t>(c - '0');
  }
  frame = {text.substr(0, end), line};
  return digits != 0 && digits <= 9;
}

// The innermost frame that is the user's; where there is none, the innermost of a library, or of PyTorch. The
// last frame of a traceback is the innermost.
void read_trace(std::string_view trace, Origin& origin) {
  Frame best;
  bool any = false;
  for (Frame frame; !trace.empty();) {
    const size_t end = std::min(trace.find('\n'), trace.size());
    if (read_frame(trace.substr(0, end), frame) && (!any || owner_of(frame.file) >= owner_of(best.file))) {
      best = frame;
      any = true;
    }
    trace.remove_prefix(std::min(end + 1, trace.size()));
  }
  if (!any) return;
  origin.file = end_of(best.file);
  origin.line = best.line;
}

// The last strings but one of a list as Python writes it: ['', 'layer1', "it's"] gives 'layer1'; nothing
// where there are fewer than two. The last is the node's own.
std::optional<std::string> last_but_one(std::string_view list) {
  std::string before, last;
  size_t items = 0;
  char quote = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (quote == 0) {
      if (c != '\'' && c != '"') continue;
      quote = c;
      before = std::exchange(last, {});
      ++items;
    } else if (c == quote) {
      quote = 0;
    } else {
      if (c == '\\' && i + 1 < list.size()) ++i;
      last += list[i];
    }
  }
  return items < 2 ? std::nullopt : std::optional(std::move(before));
}

// ": Net/layer1.0: Block/conv2d: aten.conv2d.default": the last part is the node's own, those before are
// modules with their classes.
void read_namespace(std::string_view text, Origin& origin) {
  const size_t node = text.rfind('/');
  if (node == std::string_view::npos) return;
  text = text.substr(0, node);
  if (const size_t begin = text.rfind('/'); begin != std::string_view::npos) text.remove_prefix(begin + 1);
  const size_t colon = text.find(": ");
  origin.in_module = true;
  if (colon != std::string_view::npos) origin.module = end_of(text.substr(0, colon));
  origin.class_name = end_of(colon == std::string_view::npos ? text : text.substr(colon + 2));
}

}  // namespace

std::string shortened(std::string_view text) {
  if (text.size() <= kMaxPropertyBytes) return std::string(text);
  size_t head = kMaxPropertyBytes / 2, tail = text.size() - kMaxPropertyBytes / 2;
  while (head > 0 && is_continuation(text[head])) --head;
  while (tail < text.size() && is_continuation(text[tail])) ++tail;
  return fmt::format("{}[... {} bytes left out ...]{}", text.substr(0, head), tail - head, text.substr(tail));
}

Origin read_origin(std::span<const std::pair<std::string, std::string>> properties) {
  Origin origin;
  const auto property = [&](std::string_view key) {
    const auto found = std::ranges::find(properties, key, [](const auto& p) { return p.first; });
    return found == properties.end() ? std::string_view() : std::string_view(found->second);
  };
  read_trace(property(kStackTrace), origin);
  read_namespace(property(kNamespace), origin);
  if (const auto module = last_but_one(property(kScopes))) {
    origin.in_module = true;
    origin.module = end_of(*module);
  }
  if (const auto name = last_but_one(property(kClasses)); name && origin.in_module)
    origin.class_name = end_of(*name);
  return origin;
}

const Origin& origin_of(const Source& source) {
  static const Origin kNone;
  return source.metadata == nullptr ? kNone : source.metadata->origin;
}

std::shared_ptr<const Metadata> metadata_of(const Graph& graph, NodeId node) {
  const NodeId nodes[] = {node};
  std::shared_ptr<const Metadata> found;
  for (const SourceId id : sources_of(graph, nodes)) {
    const auto& metadata = graph.sources()[id.index()].metadata;
    if (metadata == nullptr || metadata->properties.empty()) continue;
    if (!metadata->origin.file.empty()) return metadata;
    if (found == nullptr) found = metadata;
  }
  return found;
}

std::string to_string(const Origin& origin) {
  std::string text;
  if (!origin.file.empty()) text = fmt::format("{}:{}", origin.file, origin.line);
  if (!origin.in_module) return text;
  const std::string& cls = origin.class_name.str();
  const std::string short_name = cls.substr(cls.rfind('.') + 1);  // npos + 1 is 0
  if (!text.empty()) text += " in ";
  text += origin.module.empty() ? "the outermost module" : origin.module.str();
  if (!short_name.empty()) text += fmt::format(" ({})", short_name);
  return text;
}

}  // namespace mrvlc::ir
