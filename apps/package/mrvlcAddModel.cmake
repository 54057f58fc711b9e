# mrvlc_add_model(NAME MODEL FILE [TARGET T] [WEIGHTS linked|c|blob] [OPTIONS OPTION...] [OUTPUT_DIRECTORY DIR])
#
# A static library NAME from an ONNX model, whose header is NAME.h. It is compiled again when the model changes, its external
# data, rules or whatever else mrvlc read (-MD). FILE is relative to the current source folder, NAME a C identifier.
#   TARGET            as `mrvlc compile --target`
#   WEIGHTS           as `mrvlc compile --weights`; NAME_weights.bin of a blob lies in MRVLC_OUTPUT_DIRECTORY
#   OPTIONS           further options of `mrvlc compile`, one argument each
#   OUTPUT_DIRECTORY  where mrvlc writes; by default NAME.mrvlc in the current binary folder. It is a property of the library,
#                     MRVLC_OUTPUT_DIRECTORY: reports, the ID map and the binaries NAME.regionK.mrvl that a program loads
# Kernels are slow without optimisation: -O3 is added whatever the build type. For the machine at hand, add -march=native with
# target_compile_options(NAME PRIVATE -march=native).
function(mrvlc_add_model name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MODEL;TARGET;WEIGHTS;OUTPUT_DIRECTORY" "OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "mrvlc_add_model(${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "mrvlc_add_model(${name}): the name must be a C identifier")
  endif()
  if(NOT arg_MODEL)
    message(FATAL_ERROR "mrvlc_add_model(${name}): MODEL is missing")
  endif()
  if(NOT arg_WEIGHTS)
    set(arg_WEIGHTS linked)
  endif()
  if("--weights" IN_LIST arg_OPTIONS OR NOT arg_WEIGHTS MATCHES "^(linked|c|blob)$")
    message(FATAL_ERROR "mrvlc_add_model(${name}): WEIGHTS is linked, c or blob, and no option")
  endif()
  get_filename_component(model "${arg_MODEL}" ABSOLUTE)
  get_source_file_property(generated "${model}" GENERATED)
  if(NOT EXISTS "${model}" AND NOT generated)
    message(FATAL_ERROR "mrvlc_add_model(${name}): there is no file ${model}")
  endif()
  set(out "${CMAKE_CURRENT_BINARY_DIR}/${name}.mrvlc")
  if(arg_OUTPUT_DIRECTORY)
    get_filename_component(out "${arg_OUTPUT_DIRECTORY}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  set(target)
  if(arg_TARGET)
    set(target --target "${arg_TARGET}")
  endif()
  set(linked)
  set(weights "${out}/${name}_weights.bin")
  if(arg_WEIGHTS STREQUAL "c")
    set(linked "${out}/${name}_weights.c")
    set(weights ${linked})
  elseif(arg_WEIGHTS STREQUAL "linked")
    set(linked "${out}/${name}_weights.S")
    list(APPEND weights ${linked})
  endif()
  add_custom_command(
    OUTPUT "${out}/${name}.c" "${out}/${name}.h" ${weights} "${out}/manifest.json"
    COMMAND mrvlc::mrvlc compile "${model}" -o "${out}" --name "${name}" -q --weights ${arg_WEIGHTS} ${target} ${arg_OPTIONS} -MD -MF "${out}.d"
            -MQ "${out}/${name}.c" --depfile-form plain
    DEPENDS "${model}" mrvlc::mrvlc
    DEPFILE "${out}.d"
    COMMENT "mrvlc: ${name}"
    VERBATIM)
  # Assembled by the C compiler, so that no project needs to enable ASM; CMake then says -x c, the last -x counts.
  if(arg_WEIGHTS STREQUAL "linked")
    set_source_files_properties("${linked}" PROPERTIES LANGUAGE C OBJECT_DEPENDS "${out}/${name}_weights.bin"
                                COMPILE_OPTIONS "-xassembler-with-cpp;-Wa,-I${out}")
  endif()
  add_library(${name} STATIC "${out}/${name}.c" "${out}/${name}.h" ${linked})
  target_include_directories(${name} PUBLIC "${out}")
  target_compile_options(${name} PRIVATE -O3)
  target_link_libraries(${name} PUBLIC mrvlc::device m)
  set_target_properties(${name} PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF LINKER_LANGUAGE C
                        MRVLC_OUTPUT_DIRECTORY "${out}")
endfunction()
