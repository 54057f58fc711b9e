#include "subject.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

#include "mrvlc/tensor/npy.h"
#include "paths.h"
#include "support/folders.h"

namespace mrvlc::stubtest {
namespace fs = std::filesystem;
using test::shared_data, test::slurp;
namespace {

Tensor read(const fs::path& file) {
  auto tensor = read_npy(file);
  if (!tensor.ok()) FAIL(tensor.error().message);
  return std::move(tensor).value();
}

// Names of the inputs or outputs, from the constants of the generated header.
std::vector<std::string> port_names(const Subject& s, const std::string& kind) {
  std::string header = slurp(s.out() / (s.name + ".h"));
  std::vector<std::string> names;
  while (true) {
    std::string define = fmt::format("#define {}_{}{}_NAME \"", s.name, kind, names.size());
    size_t begin = header.find(define);
    if (begin == std::string::npos) return names;
    begin += define.size();
    names.push_back(header.substr(begin, header.find('"', begin) - begin));
  }
}

// How a tensor's name appears in file names.
std::string file_form(std::string name) {
  for (char& c : name) {
    bool keep = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
                c == '.' || c == '-';
    if (!keep) c = '_';
  }
  return name;
}

Subject compile(const std::string& name, const fs::path& model, bool host) {
  Subject s;
  s.name = name;
  s.host = host;
  s.folder = fs::path(MRVLC_BINARY_DIR) / "test-output" / "stub" / name;
  fs::remove_all(s.folder);
  fs::create_directories(s.folder);
  must_run(s.folder, fmt::format("'{}/bin/mrvlc' compile '{}' --name {} -o out{}", MRVLC_BINARY_DIR,
                                 model.string(), name, host ? " --target host" : ""));
  for (const std::string& output : port_names(s, "OUTPUT"))
    s.output_files.push_back(file_form(output) + ".npy");
  REQUIRE(!s.output_files.empty());
  return s;
}

// Handwritten digits with their classes, which ship with the project.
Subject digits(const std::string& name, bool host) {
  fs::path folder = fs::path(MRVLC_SOURCE_DIR) / "models" / "digits";
  Subject s = compile(name, folder / "digits.onnx", host);
  s.inputs = {port_names(s, "INPUT").at(0) + "=" + (folder / "test_x.npy").string()};
  s.run_options = "--repeat-axis0";
  s.labels = read(folder / "test_y.npy");
  return s;
}

// A real network with outputs of ONNX Runtime: in_K_NAME.npy and out_K_NAME.npy.
Subject real_network(const std::string& model, bool host, double tolerance) {
  Subject s = compile(model, shared_data() / "zoo" / (model + ".onnx"), host);
  std::vector<std::string> inputs = port_names(s, "INPUT");
  fs::path golden = shared_data() / "golden" / model;
  s.tolerance = tolerance;
  for (size_t k = 0; k < inputs.size(); ++k) {
    fs::path file = golden / fmt::format("in_{}_{}.npy", k, file_form(inputs[k]));
    s.inputs.push_back(inputs[k] + "=" + file.string());
  }
  for (size_t k = 0; k < s.output_files.size(); ++k) {
    s.expected.push_back(read(golden / fmt::format("out_{}_{}", k, s.output_files[k])));
  }
  return s;
}

std::vector<Subject> make_subjects() {
  std::vector<Subject> list = {digits("digits_device", false), digits("digits_host", true)};
  if (fs::exists(shared_data() / "golden")) {
    list.push_back(real_network("deeploy_cct2_op20", true, 1e-4));  // a transformer
    list.push_back(real_network("fastestdet", true, 1e-4));         // depthwise, concatenation, resize
    list.push_back(
        real_network("selfie_seg_landscape", true, 1e-4));  // attention by channel, transposed convolution
  } else {
    WARN("no shared data: only the models that ship with the project are tested");
  }
  for (Subject& s : list) {
    must_run(s.folder, fmt::format("make -C out MRVLC_PREFIX='{}' CFLAGS='-O2 {}'", MRVLC_BINARY_DIR,
                                   s.host ? "" : simulator_flags()));
    s.plain = run_program(s, fmt::format("out/{}_example", s.name));
  }
  return list;
}

}  // namespace

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> list = make_subjects();
  return list;
}

bool have_tool(const std::string& tool, const std::string& purpose) {
  bool found = test::have_tool(tool);
  if (!found) WARN("skipped: " << purpose << " (" << tool << " is not installed)");
  return found;
}

std::string simulator_flags() {
#if defined(__SANITIZE_ADDRESS__)
  return "-fsanitize=address,undefined";
#else
  return "";
#endif
}

std::vector<Tensor> build_and_run(const Subject& s, const std::string& compiler, const std::string& runner) {
  std::string libraries = "-lm";
  if (!s.host)
    libraries = fmt::format("-L'{0}/lib' -Wl,-rpath,'{0}/lib' -lmrvl_simdev -lm", MRVLC_BINARY_DIR);
  must_run(s.folder, fmt::format("{} {} -Iout -o program out/main.c out/{}.c out/{}_weights.S {}", compiler,
                                 kStrict, s.name, s.name, libraries));
  return run_program(s, runner + " ./program");
}

std::vector<Tensor> run_program(const Subject& s, const std::string& program) {
  fs::remove_all(s.folder / "results");
  fs::create_directories(s.folder / "results");
  std::string command = fmt::format("{} {} --output-dir results", program, s.run_options);
  if (!s.host) command += " --dir out";
  for (const std::string& input : s.inputs) command += fmt::format(" --input '{}'", input);
  must_run(s.folder, command);
  std::vector<Tensor> outputs;
  for (const std::string& file : s.output_files) outputs.push_back(read(s.folder / "results" / file));
  return outputs;
}

double accuracy(const Tensor& scores, const Tensor& labels) {
  int64_t rows = labels.elements(), classes = rows == 0 ? 0 : scores.elements() / rows, right = 0;
  for (int64_t i = 0; i < rows; ++i) {
    int64_t best = 0;
    for (int64_t c = 1; c < classes; ++c) {
      if (scores.as_double(i * classes + c) > scores.as_double(i * classes + best)) best = c;
    }
    right += best == labels.as_int(i);
  }
  return rows == 0 ? 0 : static_cast<double>(right) / static_cast<double>(rows);
}

}  // namespace mrvlc::stubtest
