// From a file or bytes to the builder's graph; hashes of files; running out of memory is the model's error.
#include "mrvlc/onnx/importer.h"

#include <algorithm>
#include <new>
#include <stdexcept>

#include "batched_scan.h"
#include "builder/builder.h"
#include "file/read_model.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/hash.h"

namespace mrvlc::onnx {
namespace {

// An --external-data-dir that nothing was read from.
void check_extra_folder(const std::vector<ModelFile>& files, const std::filesystem::path& extra, Sink& sink) {
  auto lies_there = [&](const ModelFile& f) {
    return f.path == extra / std::filesystem::path(f.location).lexically_normal();
  };
  if (extra.empty() || std::any_of(files.begin(), files.end(), lies_there)) return;
  std::error_code ec;
  const bool folder = std::filesystem::is_directory(extra, ec);
  const std::string option = fmt::format("--external-data-dir '{}'", printable(extra.string(), 4096));
  const char* why = !folder         ? "it is no folder"
                    : files.empty() ? "the model keeps no tensor in another file"
                                    : "every file of external data lies beside the model";
  sink.add(
      make_diag<DiagCode::MRV0010>(option, why, folder ? "leave it away" : "name the folder that holds it"));
}

std::optional<Model> import_message(ModelMessage& parsed, const std::filesystem::path& folder,
                                    const ImportOptions& options, Sink& sink) {
  pb::ModelProto& message = parsed.message;
  check_ir_version(message, sink);
  Opsets opsets = model_opsets(message, sink);
  rewrite_batched_scans(message, opsets, sink);
  std::vector<std::filesystem::path> folders = {folder};
  if (!options.external_data_dir.empty()) folders.push_back(options.external_data_dir);
  Builder builder(message, options, TensorDecoder(std::move(folders), std::move(parsed.stored)), sink);
  if (!builder.build(opsets)) return std::nullopt;
  check_extra_folder(builder.external_files(), options.external_data_dir, sink);
  Model model;
  model.graph = std::move(builder.graph());
  model.ir_version = message.ir_version();
  auto opset = opsets.find("");
  model.opset = opset == opsets.end() ? 0 : opset->second;
  model.producer = message.producer_name();
  model.files = builder.external_files();
  model.bound_inputs = builder.bound_inputs();
  model.has_batch = builder.has_batch();
  return model;
}

// Messages of a hostile file may unfold to more than there is memory for; that is the model's fault, not a
// crash.
template <class Import>
std::optional<Model> guarded(Sink& sink, const Import& import) {
  try {
    return import();
  } catch (const std::bad_alloc&) {
    sink.add(make_diag<DiagCode::MRV0117>("the model does not fit in memory"));
  } catch (const std::length_error&) {
    sink.add(make_diag<DiagCode::MRV0117>("the model does not fit in memory"));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Model> import_file(const std::filesystem::path& path, const ImportOptions& options,
                                 Diagnostics& diagnostics) {
  Sink sink(diagnostics);
  return guarded(sink, [&]() -> std::optional<Model> {
    auto refuse = [&](Diag diag) {
      sink.add(std::move(diag));
      return std::nullopt;
    };
    auto file = MappedFile::open(path, options.max_file_bytes);
    if (!file.ok()) return refuse(std::move(file).error());
    ModelMessage message;
    if (Status parsed = parse_model(*file, message); !parsed.ok()) return refuse(std::move(parsed).error());
    auto model = import_message(message, path.parent_path(), options, sink);
    if (!model) return std::nullopt;
    model->files.insert(model->files.begin(), ModelFile{path, {}, *file});
    if (!options.hash) return model;
    auto hashes = file_hashes(model->files);
    if (!hashes.ok()) return refuse(std::move(hashes).error());
    model->sha256 = model_sha256(model->files, *hashes);
    return model;
  });
}

std::optional<Model> import_bytes(std::string_view bytes, const std::filesystem::path& folder,
                                  const ImportOptions& options, Diagnostics& diagnostics) {
  Sink sink(diagnostics);
  return guarded(sink, [&]() -> std::optional<Model> {
    auto kept = std::make_shared<const std::string>(bytes);
    ModelMessage message;
    if (Status parsed = parse_model(kept, message); !parsed.ok()) {
      sink.add(std::move(parsed).error());
      return std::nullopt;
    }
    auto model = import_message(message, folder, options, sink);
    if (!model || !options.hash) return model;
    auto hashes = file_hashes(model->files);
    if (!hashes.ok()) {
      sink.add(std::move(hashes).error());
      return std::nullopt;
    }
    hashes->insert(hashes->begin(), sha256_hex(bytes));
    std::vector<ModelFile> files = model->files;
    files.insert(files.begin(), ModelFile{});
    model->sha256 = model_sha256(files, *hashes);
    return model;
  });
}

Result<std::vector<std::string>> file_hashes(const std::vector<ModelFile>& files) {
  std::vector<std::string> hashes;
  for (const ModelFile& file : files) {
    MRVLC_ASSIGN(std::string hash, file.bytes->sha256());
    hashes.push_back(std::move(hash));
  }
  return hashes;
}

std::string model_sha256(const std::vector<ModelFile>& files, const std::vector<std::string>& hashes) {
  // Of several files that of the list which sha256sum prints of them.
  if (files.size() == 1 && !hashes.empty()) return hashes[0];
  std::string list;
  for (size_t i = 0; i < files.size(); ++i)
    list += hashes[i] + "  " + (i == 0 ? "-" : files[i].location) + "\n";
  return sha256_hex(list);
}

Result<Tensor> read_tensor_pb(const std::filesystem::path& path) {
  MRVLC_ASSIGN(auto file, MappedFile::open(path, uint64_t{INT32_MAX}));
  pb::TensorProto message;
  MRVLC_TRY(parse_message(file->text(), message));
  return TensorDecoder({path.parent_path()}).decode(message);
}

}  // namespace mrvlc::onnx
