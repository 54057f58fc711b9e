# cmake -DFOLDER=... "-DSTYLE=a.css;b.css" "-DSCRIPT=a.js;b.js" -DOUTPUT=page.cpp -P embed.cmake
function(join_files result)
  set(all "")
  foreach(name ${ARGN})
    file(READ ${FOLDER}/${name} text)
    string(APPEND all "${text}")
  endforeach()
  set(${result} "${all}" PARENT_SCOPE)
endfunction()

join_files(page page/page.html)
join_files(style ${STYLE})
join_files(script ${SCRIPT})
file(WRITE ${OUTPUT} "#include \"page.h\"

namespace mrvlc::report {

const std::string_view kPage = R\"PAGE(${page})PAGE\";
const std::string_view kStyle = R\"PAGE(${style})PAGE\";
const std::string_view kScript = R\"PAGE('use strict';
${script})PAGE\";

}  // namespace mrvlc::report
")
