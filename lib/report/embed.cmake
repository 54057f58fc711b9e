# cmake -DFOLDER=... "-DREPORT_STYLE=a.css;b.css" "-DREPORT_SCRIPT=a.js;b.js" ... -DOUTPUT=page.cpp -P embed.cmake
# A page begins with @HEAD:its title@, in the place of head.html.
file(READ ${FOLDER}/page/head.html head)
function(literal name)
  set(all "")
  foreach(file ${ARGN})
    file(READ ${FOLDER}/${file} text)
    string(APPEND all "${text}")
  endforeach()
  if(all MATCHES "^@HEAD:([^@\n]+)@\n")
    string(REPLACE "@TITLE@" "${CMAKE_MATCH_1}" own_head "${head}")
    string(REPLACE "${CMAKE_MATCH_0}" "${own_head}" all "${all}")
  endif()
  set(${name} "R\"PAGE(${all})PAGE\"" PARENT_SCOPE)
endfunction()

literal(report_page page/page.html)
literal(report_style ${REPORT_STYLE})
literal(report_script ${REPORT_SCRIPT})
literal(graph_page page/graph.html)
literal(graph_style ${GRAPH_STYLE})
literal(graph_script ${GRAPH_SCRIPT})
literal(batch_page page/batch.html)
literal(batch_style ${BATCH_STYLE})
literal(batch_script ${BATCH_SCRIPT})
set(strict "\"'use strict';\\n\"")
file(WRITE ${OUTPUT} "#include \"page.h\"

namespace mrvlc::report {

const PageParts kReportPage = {${report_page}, ${report_style}, ${strict} ${report_script}};
const PageParts kGraphPage = {${graph_page}, ${graph_style}, ${strict} ${graph_script}};
const PageParts kBatchPage = {${batch_page}, ${batch_style}, ${strict} ${batch_script}};

}  // namespace mrvlc::report
")
