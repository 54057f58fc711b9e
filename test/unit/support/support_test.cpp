#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "mrvlc/support/base64.h"
#include "mrvlc/support/checked.h"
#include "mrvlc/support/diag/all.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/file_names.h"
#include "mrvlc/support/file_writer.h"
#include "mrvlc/support/hash.h"
#include "mrvlc/support/other_files.h"
#include "paths.h"

using namespace mrvlc;
namespace fs = std::filesystem;

namespace {

fs::path scratch(const std::string& name) {
  fs::path folder = fs::path(MRVLC_BINARY_DIR) / "test-output" / name;
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

TEST_CASE("SHA-256 of FIPS 180-4's examples") {
  CHECK(sha256_hex(std::string_view("abc")) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex(std::string_view("")) ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("base64 of RFC 4648's examples, and back; nothing else is read") {
  const std::pair<std::string, std::string> kExamples[] = {{"", ""},
                                                           {"f", "Zg=="},
                                                           {"fo", "Zm8="},
                                                           {"foo", "Zm9v"},
                                                           {"foob", "Zm9vYg=="},
                                                           {"fooba", "Zm9vYmE="},
                                                           {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, text] : kExamples) {
    CHECK(base64(plain) == text);
    CHECK(from_base64(text) == plain);
  }
  std::string all;
  for (int i = 0; i < 1000; ++i) {
    CHECK(from_base64(base64(all)) == all);
    all += static_cast<char>(i * 37 >> 2);
  }
  for (const char* wrong : {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zm9v=", "====", "=AAA", "Zg==Zg==", " Zm9",
                            "Zm9v\n\n\n\n", "Zm-v", "Zm9\xff"})
    CHECK_FALSE(from_base64(wrong).has_value());
}

TEST_CASE("CRC-32C without inversion, at every length around the slicing width") {
  // With the usual inversions the check value of "123456789" is 0xe3069283; from seed 0 without them it is
  // this.
  CHECK(crc32c(bytes("123456789")) == 0x58e3fa20u);
  std::string text = "The quick brown fox jumps over the lazy dog";
  for (size_t n = 0; n <= text.size(); ++n) {
    uint32_t expected = 0;
    for (size_t i = 0; i < n; ++i) {
      expected ^= static_cast<unsigned char>(text[i]);
      for (int k = 0; k < 8; ++k)
        expected = (expected & 1) != 0 ? 0x82f63b78u ^ (expected >> 1) : expected >> 1;
    }
    CHECK(crc32c(bytes(text.substr(0, n))) == expected);
    CHECK(crc32c_portable(bytes(text.substr(0, n))) == expected);
  }
}

TEST_CASE("SHA-256 in pieces") {
  std::string text(100'000, 'a');
  Sha256 hash;
  for (size_t at = 0, n = 1; at < text.size(); at += n, n = 2 * n + 1) {
    hash.add(bytes(text).subspan(at, std::min(n, text.size() - at)));
  }
  CHECK(hash.hex() == sha256_hex(text));
}

TEST_CASE("checked arithmetic") {
  CHECK(checked_product(std::vector<int64_t>{3, 4}) == 12);
  CHECK(checked_product(std::vector<int64_t>{INT64_MAX, 2}) == std::nullopt);
  CHECK(checked_product(std::vector<int64_t>{INT64_MAX, 2, 0}) == std::nullopt);
  CHECK(checked_product(std::vector<int64_t>{0, 5}) == 0);
  CHECK(checked_product(std::vector<int64_t>{-1}) == std::nullopt);
  CHECK(round_up(129, 128) == 256);
}

TEST_CASE("diagnostics name file, node, operator, severity and code") {
  Diag d = at_node(make_diag<DiagCode::MRV0206>(7, 4), "conv\n7", "Conv");
  CHECK(format_diag("model.onnx", d) ==
        "model.onnx: node 'conv\\x0a7' (Conv): error MRV0206: axis 7 is out of range for rank 4");
  CHECK(d.exit_class() == ExitClass::Rejected);
}

TEST_CASE("names of a model are printed without control or direction characters") {
  CHECK(printable("a\x1b[31mb") == "a\\x1b[31mb");
  CHECK(printable("\xe2\x80\xae"
                  "evil") == "\\u{202e}evil");
  CHECK(printable("\xd8\x9c\xc2\xad\xf3\xa0\x81\x81") == "\\u{61c}\\u{ad}\\u{e0041}");
  CHECK(printable("na\xc3\xafve") == "na\xc3\xafve");
  CHECK(printable("\xff") == "\\xff");
  CHECK(printable("\xe0\x80\x80") == "\\xe0\\x80\\x80");           // longer than need be
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // a surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  CHECK(printable("\xf4\x8f\xbf\xbd") == "\xf4\x8f\xbf\xbd");
  CHECK(printable(std::string(1000, 'x')).size() < 300);
}

// A code that two components claimed would be a redefinition in diag/all.h.
TEST_CASE("a code stands for its name, severity, exit code and text") {
  CHECK(diag_info(DiagCode::MRV0404).name == "MRV0404");
  CHECK(make_diag<DiagCode::MRV0404>(9, 8).message == "batch 9: the target takes 1 to 8");
  CHECK(make_diag<DiagCode::MRV0113>().severity() == Severity::Warning);
  CHECK(make_diag<DiagCode::MRV0801>("x").exit_class() == ExitClass::Internal);
}

TEST_CASE("files that are not regular are refused, not waited for") {
  fs::path folder = scratch("fifo");
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  CHECK_FALSE(read_file(folder / "fifo").ok());
  CHECK_FALSE(read_file(folder).ok());
  CHECK_FALSE(read_file("/dev/zero").ok());
  CHECK_FALSE(read_file(folder / "missing").ok());
  { std::ofstream(folder / "big") << std::string(100, 'x'); }
  auto limited = read_file(folder / "big", 99);
  REQUIRE_FALSE(limited.ok());
  CHECK(limited.error().exit_class() == ExitClass::Limit);
}

TEST_CASE("an output folder appears whole, replaces an old one, and is left alone without a commit") {
  fs::path folder = scratch("output"), out = folder / "out";
  {
    auto dir = OutputDir::create(out);
    REQUIRE(dir.ok());
    REQUIRE(dir->write("manifest.json", "1").ok());
  }
  CHECK_FALSE(fs::exists(out));
  for (const char* text : {"one", "two"}) {
    auto dir = OutputDir::create(out);
    REQUIRE(dir.ok());
    REQUIRE(dir->write("manifest.json", text).ok());
    REQUIRE(dir->commit().ok());
  }
  CHECK(*read_file(out / "manifest.json") == "two");
  CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 1);
}

TEST_CASE("while a new output replaces an old one, one of them is there, whole") {
  fs::path out = scratch("window") / "out";
  constexpr int kFiles = 40, kRounds = 60;
  auto write = [&](int round) {
    auto dir = OutputDir::create(out);
    REQUIRE(dir.ok());
    REQUIRE(dir->write("manifest.json", std::to_string(round)).ok());
    for (int i = 0; i < kFiles; ++i) REQUIRE(dir->write(std::to_string(i), std::to_string(round)).ok());
    return std::move(dir).value();
  };
  REQUIRE(write(0).commit().ok());
  // Whoever looks, or kills the compiler, at any moment finds a folder with all its files. What was removed
  // while its name was looked up has gone with the folder that was exchanged, so a second look finds the new
  // one.
  std::atomic<bool> done = false;
  std::atomic<int> looks = 0, missing = 0;
  std::thread watcher([&] {
    for (; !done; ++looks)
      if (::access(out.c_str(), F_OK) != 0 || (::access((out / "manifest.json").c_str(), R_OK) != 0 &&
                                               ::access((out / "manifest.json").c_str(), R_OK) != 0))
        ++missing;
  });
  bool committed = true;
  for (int round = 1; round <= kRounds; ++round) {
    auto dir = write(round);
    int before = looks;
    while (looks == before) std::this_thread::yield();
    committed = committed && dir.commit().ok();
  }
  done = true;
  watcher.join();
  CHECK(committed);
  CHECK(missing == 0);
  CHECK(*read_file(out / "39") == std::to_string(kRounds));
}

TEST_CASE("files of an output folder are listed by name") {
  {
    auto twice = OutputDir::create(scratch("twice") / "out");
    REQUIRE(twice.ok());
    CHECK(twice->write("bare.c", "1").ok());
    const Status again = twice->write("bare.c", "2");
    REQUIRE(!again.ok());
    CHECK(again.error().message.find("two files") != std::string::npos);
  }
  auto dir = OutputDir::create(scratch("listed") / "out");
  REQUIRE(dir.ok());
  for (const char* name : {"b", "c", "a"}) REQUIRE(dir->write(name, name).ok());
  std::vector<std::string> names;
  for (const auto& [name, hash] : dir->files()) names.push_back(name);
  CHECK(names == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("files in folders of an output folder come and go with it") {
  const fs::path folder = scratch("inner"), out = folder / "out";
  for (const char* name : {"old/a.h", "new/b.h"}) {
    auto dir = OutputDir::create(out);
    REQUIRE(dir.ok());
    REQUIRE(dir->write("manifest.json", "1").ok());
    REQUIRE(dir->write(name, name).ok());
    CHECK(dir->files()[1].first == name);
    CHECK_FALSE(fs::exists(out / name));
    REQUIRE(dir->commit().ok());
    CHECK(*read_file(out / name) == name);
  }
  CHECK_FALSE(fs::exists(out / "old"));
  {
    auto dir = OutputDir::create(out);
    REQUIRE(dir.ok());
    REQUIRE(dir->write("manifest.json", "2").ok());
    const Status through_a_file = dir->write("manifest.json/b.h", "");
    REQUIRE_FALSE(through_a_file.ok());
    CHECK(through_a_file.error().message.find((out / "manifest.json/b.h").string()) != std::string::npos);
  }
  CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 1);
}

TEST_CASE("a folder that holds something else is left alone") {
  fs::path folder = scratch("foreign"), out = folder / "out";
  fs::create_directory(out);
  CHECK(OutputDir::create(out).ok());  // empty
  { std::ofstream(out / "thesis.txt") << "years"; }
  CHECK_FALSE(OutputDir::create(out).ok());
  CHECK(*read_file(out / "thesis.txt") == "years");
  CHECK_FALSE(OutputDir::create(out / "thesis.txt").ok());
  CHECK(*read_file(out / "thesis.txt") == "years");
}

TEST_CASE("two writers of one folder: the second waits, and is refused when it waits long") {
  fs::path out = scratch("writers") / "out";
  auto first = OutputDir::create(out);
  REQUIRE(first.ok());
  CHECK_FALSE(OutputDir::create(out).ok());
  std::thread done([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const OutputDir gone = std::move(*first);
  });
  CHECK(OutputDir::create(out).ok());
  done.join();
}

TEST_CASE("a symbolic link is not followed as output") {
  fs::path folder = scratch("link");
  fs::create_directory(folder / "real");
  fs::create_directory_symlink(folder / "real", folder / "out");
  CHECK_FALSE(OutputDir::create(folder / "out").ok());
}

TEST_CASE("file names of values") {
  CHECK(file_name("out/a b:0.x-y_Z") == "out_a_b_0.x-y_Z");
  CHECK(file_name("") == "_");
  std::string longest(kMaxFileStem, 'n');
  CHECK(file_name(longest) == longest);
  CHECK(file_name(longest + "x").size() == kMaxFileStem);
  CHECK(file_name(longest + "x") != file_name(longest + "y"));
}

TEST_CASE("file names of one list are distinct, and names that need no change keep theirs") {
  std::vector<std::string> names = {
      "a:0", "a_0", "a/0", "b:0", std::string(300, 'n') + "1", std::string(300, 'n') + "2"};
  auto files = file_names(names);
  CHECK(files[1] == "a_0");
  CHECK(files[3] == "b_0");
  CHECK(std::set<std::string>(files.begin(), files.end()).size() == names.size());
  CHECK(file_names(names) == files);
  std::vector<std::string> twice = {"y:0", "y:0"};
  CHECK(file_names(twice) == std::vector<std::string>{"y_0", "y_0"});
}

TEST_CASE("a file written piece by piece appears whole or not at all") {
  fs::path dir = scratch("writer");
  fs::path file = dir / "trace.json";
  REQUIRE(write_file_atomic(file, "old").ok());
  std::string all;
  {
    auto writer = FileWriter::create(file);
    REQUIRE(writer.ok());
    for (size_t n : {0u, 1u, 100u, 70000u, 7u, 65535u, 65536u, 3u}) {
      std::string piece(n, static_cast<char>('a' + n % 26));
      REQUIRE(writer->append(piece).ok());
      all += piece;
      CHECK(read_file(file).value() == "old");
    }
    REQUIRE(writer->commit().ok());
  }
  CHECK(read_file(file).value() == all);
  {
    auto writer = FileWriter::create(file);
    REQUIRE(writer->append("half of it").ok());
  }
  CHECK(read_file(file).value() == all);
  CHECK(std::distance(fs::directory_iterator(dir), fs::directory_iterator()) == 1);  // nothing is left over
  CHECK(FileWriter::create(dir / "no" / "folder").error().code == DiagCode::MRV0002);
  fs::create_symlink(file, dir / "link");  // written through
  REQUIRE(write_file_atomic(dir / "link", "new").ok());
  CHECK(read_file(file).value() == "new");
  CHECK(fs::is_symlink(dir / "link"));
}

TEST_CASE("files that nobody of ours wrote stay when an output folder is written again") {
  const fs::path folder = scratch("others"), out = folder / "out";
  const auto write = [&](const std::vector<std::string>& names,
                         const WrittenFiles& own) -> Result<WrittenFiles> {
    MRVLC_ASSIGN(OutputDir dir, OutputDir::create(out));
    for (const std::string& name : names) MRVLC_TRY(dir.write(name, name));
    MRVLC_TRY(keep_other_files(out, own, dir));
    WrittenFiles files = dir.files();
    MRVLC_TRY(dir.commit());
    return files;
  };
  auto first = write({"manifest.json", "main.c", "mrvl/a.h", "changed.c"}, {});
  REQUIRE(first.ok());
  fs::create_directories(out / ".git/objects");
  fs::create_directories(out / "empty");
  for (const char* name : {".git/config", "mrvl/mine.h", "notes"}) std::ofstream(out / name) << "mine";
  std::ofstream(out / "changed.c") << "mine";
  fs::create_symlink("/etc", out / "link");
  const auto second = write({"manifest.json", "main.c", "other.c"}, *first);
  REQUIRE(second.ok());
  for (const char* name : {".git/config", "mrvl/mine.h", "notes", "changed.c"})
    CHECK(*read_file(out / name) == "mine");
  CHECK(fs::is_directory(out / ".git/objects"));
  CHECK(fs::is_directory(out / "empty"));
  CHECK(fs::is_symlink(out / "link"));
  CHECK_FALSE(fs::exists(out / "mrvl/a.h"));
  CHECK(*read_file(out / "other.c") == "other.c");
  // In the way: neither replaced nor deleted.
  const auto third = write({"manifest.json", "notes"}, *second);
  REQUIRE_FALSE(third.ok());
  CHECK_THAT(third.error().message,
             Catch::Matchers::Contains("notes") && Catch::Matchers::Contains("--force"));
  CHECK(*read_file(out / "notes") == "mine");
  CHECK(*read_file(out / "other.c") == "other.c");
  remove_own_files(out, *second);
  CHECK_FALSE(fs::exists(out / "main.c"));
  CHECK(*read_file(out / ".git/config") == "mine");
  CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 1);
}
