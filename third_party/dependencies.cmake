# How each dependency is found. All come from Debian (third_party/packages.txt); none is vendored.
find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(Protobuf 3.21 REQUIRED)
find_library(RE2_LIBRARY re2 REQUIRED)
find_path(RE2_INCLUDE_DIR re2/re2.h REQUIRED)
# Only the schema of libonnx is used: we compile onnx.proto ourselves and link nothing of the library.
find_path(ONNX_PROTO_DIR onnx/onnx.proto REQUIRED)
if(MRVLC_TESTS)
  find_package(Catch2 2 REQUIRED)
endif()
