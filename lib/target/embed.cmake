# cmake -DFILES="a/target.json;b/target.json" -DOUTPUT=out.cpp -P embed.cmake
set(arrays "")
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
  file(GLOB code RELATIVE ${folder} ${folder}/*.h ${folder}/*.c)
  list(SORT code)
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
  string(APPEND targets "    {\"${name}\", R\"TARGET(${json})TARGET\",\n     R\"TARGET(${rules})TARGET\", ${files}},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"builtin.h\"

namespace mrvlc::target {
namespace {

${arrays}
}  // namespace

const BuiltinTarget kBuiltinTargets[] = {
${targets}};
const size_t kBuiltinTargetCount = std::size(kBuiltinTargets);

}  // namespace mrvlc::target
")
