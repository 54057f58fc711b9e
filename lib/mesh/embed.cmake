# cmake -DFILES="a.c;b.h" -DOUTPUT=out.cpp -P embed.cmake
# Texts as lists of string literals: a literal has a length that compilers guarantee.
set(body "#include \"code/runtime_text.h\"\n\nnamespace mrvlc::mesh {\n\nconst std::vector<RuntimeText>& runtime_texts() {\n")
string(APPEND body "  static const std::vector<RuntimeText> texts = {\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  if(name STREQUAL "pe.h")
    set(name "mrvl/pe.h")
  endif()
  file(READ ${file} text)
  string(APPEND body "      {\"${name}\", R\"MESH(${text})MESH\"},\n")
endforeach()
string(APPEND body "  };\n  return texts;\n}\n\n}  // namespace mrvlc::mesh\n")
file(WRITE ${OUTPUT} "${body}")
