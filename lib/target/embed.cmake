# cmake -DFILES="a/target.json;b/target.json" -DOUTPUT=out.cpp -P embed.cmake
set(arrays "")
set(entries "")
set(targets "")
set(number 0)
foreach(file ${FILES})
  get_filename_component(folder ${file} DIRECTORY)
  get_filename_component(name ${folder} NAME)
  file(READ ${file} json)
  set(rules "")
  if(EXISTS ${folder}/${name}.rules)
    file(READ ${folder}/${name}.rules rules)
  endif()
  string(JSON kind ERROR_VARIABLE none GET "${json}" kind)
  set(code "")
  set(entry "nullptr")
  if(NOT kind STREQUAL "plugin")
    file(GLOB code RELATIVE ${folder} ${folder}/*.h ${folder}/*.c)
    list(SORT code)
  else()
    file(GLOB compiled ${folder}/*.cpp)
    if(NOT compiled)
      message(FATAL_ERROR "${folder}: a plug-in that is built in has C++ sources")
    endif()
    string(MAKE_C_IDENTIFIER ${name} id)
    set(entry "mrvl_plugin_open_${id}")
    string(APPEND entries "extern \"C\" const mrvl_plugin* ${entry}(void);\n")
  endif()
  set(files "{}")
  if(code)
    math(EXPR number "${number} + 1")
    set(files "kFiles${number}")
    string(APPEND arrays "const BuiltinFile ${files}[] = {\n")
    foreach(source ${code})
      # Whole, not as a list: the text has semicolons.
      file(READ ${folder}/${source} text)
      string(APPEND arrays "    {\"${source}\", R\"TARGET(${text})TARGET\"},\n")
    endforeach()
    string(APPEND arrays "};\n")
  endif()
  string(APPEND targets "    {\"${name}\", R\"TARGET(${json})TARGET\",\n     R\"TARGET(${rules})TARGET\", ${files}, ${entry}},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"builtin.h\"

${entries}
namespace mrvlc::target {
namespace {

${arrays}
}  // namespace

const BuiltinTarget kBuiltinTargets[] = {
${targets}};
const size_t kBuiltinTargetCount = std::size(kBuiltinTargets);

}  // namespace mrvlc::target
")
