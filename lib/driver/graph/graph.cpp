// `mrvlc graph`: a picture of a model, or of what a compile made of it.
#include "folder/output_folder.h"
#include "graph/collect.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/picture.h"

namespace mrvlc::driver {
namespace {

std::string drawn(const report::GraphDocument& document, GraphFormat format) {
  switch (format) {
    case GraphFormat::Svg:
      return report::graph_svg(document);
    case GraphFormat::Dot:
      return report::graph_dot(document);
    case GraphFormat::Html:
      break;
  }
  return report::graph_html(document);
}

Diag too_large(size_t items) {
  return make_diag<DiagCode::MRV1050>(items == 0 ? "too many" : std::to_string(items),
                                      report::kMostGraphItems);
}

Result<report::GraphDocument> compiled_graph(const std::filesystem::path& out) {
  MRVLC_ASSIGN(const OutputFolder folder, open_output(out));
  if (!folder.files.contains(kGraphFile)) return too_large(0);
  MRVLC_ASSIGN(const Json json, folder.json(kGraphFile));
  try {
    return report::read_graph(json);
  } catch (const Json::exception&) {
    return make_diag<DiagCode::MRV0003>((out / kGraphFile).string(),
                                        "it is not a file of this version of mrvlc");
  }
}

}  // namespace

std::optional<std::string> graph(const CompileOptions& options, GraphFormat format,
                                 Diagnostics& diagnostics) {
  std::error_code ec;
  if (std::filesystem::is_directory(options.model, ec)) {
    auto document = compiled_graph(options.model);
    if (document.ok()) return drawn(*document, format);
    diagnostics.add(document.error());
    return std::nullopt;
  }
  auto model = onnx::import_file(options.model, options.import, diagnostics);
  if (!model) return std::nullopt;
  const report::GraphDocument document = graph_of(*model, c_identifier(options.model.stem().string()));
  if (document.items() <= report::kMostGraphItems) return drawn(document, format);
  diagnostics.add(too_large(document.items()));
  return std::nullopt;
}

}  // namespace mrvlc::driver
