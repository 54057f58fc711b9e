// Where a node comes from, of what PyTorch's exporters write beside it, and of what nobody should have
// written.
#include "mrvlc/ir/metadata.h"

#include <catch2/catch.hpp>

using namespace mrvlc;

namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

ir::Origin of_trace(const std::string& trace) {
  return ir::read_origin(Entries{{"pkg.torch.onnx.stack_trace", trace}});
}

}  // namespace

TEST_CASE("the innermost line that is the user's", "[metadata]") {
  const std::string user = "  File \"/home/me/net.py\", line 12, in forward\n    x = self.a(x)\n";
  const std::string torch = "File \"/x/site-packages/torch/nn/modules/module.py\", line 1751, in _call\n";
  const std::string vision = "File \"/x/site-packages/torchvision/models/resnet.py\", line 97, in forward\n";
  CHECK(ir::to_string(of_trace(user + torch)) == "/home/me/net.py:12");
  CHECK(ir::to_string(of_trace("File \"main.py\", line 3, in <module>\n" + user)) == "/home/me/net.py:12");
  CHECK(ir::to_string(of_trace(user + vision + torch)) == "/home/me/net.py:12");
  CHECK(of_trace(vision + torch).line == 97);
  CHECK(of_trace(torch).line == 1751);
  CHECK(of_trace("File \"C:\\x\\site-packages\\torch\\nn\\linear.py\", line 4, in f\n" + vision).line == 97);
  CHECK(of_trace(user + "File \"<eval_with_key>.3\", line 9, in forward").line == 12);
  CHECK(of_trace("File \"a\", line 7, in f").file == "a");
}

TEST_CASE("a traceback that is none says nothing", "[metadata]") {
  for (const char* text :
       {"", "\n\n", "File", "File \"", "File \"a.py\"", "File \"a.py\", line ", "File \"a.py\", line x",
        "File \"\", line 3", "File \"a.py\", line 99999999999999999999, in f", "line 3 of a.py"})
    CHECK_FALSE(of_trace(text).known());
}

TEST_CASE("the innermost module and its class", "[metadata]") {
  const auto read = [](const std::string& scopes, const std::string& classes, const std::string& space) {
    return ir::read_origin(Entries{{"namespace", space},
                                   {"pkg.torch.onnx.name_scopes", scopes},
                                   {"pkg.torch.onnx.class_hierarchy", classes}});
  };
  const auto text = [&](const std::string& s, const std::string& c, const std::string& n) {
    return ir::to_string(read(s, c, n));
  };
  CHECK(text("['', 'layer1', 'layer1.0', 'relu']", "['Net', 'a.Seq', 'a.ReLU', 'aten.relu.default']", "") ==
        "layer1.0 (ReLU)");
  CHECK(text("", "", ": net.Net/layer1: a.Linear/linear: aten.linear.default") == "layer1 (Linear)");
  CHECK(text("", "", "__main__.SimpleAddModel/add: aten.add.Tensor") ==
        "the outermost module (SimpleAddModel)");
  CHECK(text("['', 'add']", "['net.Net', 'aten.add.Tensor']", "") == "the outermost module (Net)");
  CHECK(text("['', \"it's\", 'x\\'y']", "", "") == "it's");
  CHECK_FALSE(read("['add']", "['aten.add.Tensor']", "add: aten.add.Tensor").known());
  CHECK_FALSE(read("", "", "").known());
  CHECK_FALSE(read("'", "[[[", "no slash").known());
}

TEST_CASE("long names keep their end, long texts both ends", "[metadata]") {
  const std::string file = std::string(5000, 'a') + "/net.py";
  const ir::Origin origin = of_trace("File \"" + file + "\", line 2, in f");
  CHECK(origin.file.str().size() < 1100);
  CHECK(origin.file.str().ends_with("a/net.py"));
  CHECK(ir::shortened("short") == "short");
  const std::string text = "begin" + std::string(size_t{1} << 20, 'x') + "end";
  const std::string kept = ir::shortened(text);
  CHECK(kept.size() < ir::kMaxPropertyBytes + 100);
  CHECK(kept.starts_with("begin"));
  CHECK(kept.ends_with("end"));
  CHECK(kept.find("[... 983048 bytes left out ...]") != std::string::npos);
  // No character is cut in two.
  std::string wide = "a";
  for (int i = 0; i < 60000; ++i) wide += "\u00e9";
  const std::string half = ir::shortened(wide);
  const size_t cut = half.find("[...");
  CHECK(half.substr(cut - 2, 2) == "\u00e9");
  CHECK(half.substr(half.find("...]") + 4, 2) == "\u00e9");
}
