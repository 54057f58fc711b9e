# cmake -DFILES="a.c;b.c" -DOUTPUT=out.cpp -P embed.cmake
set(text "#include \"kernel_text.h\"\n\nnamespace mrvlc::chost {\n\nconst KernelText kKernelTexts[] = {\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} code)
  string(APPEND text "    {\"${name}\", R\"KERNEL(${code})KERNEL\"},\n")
endforeach()
string(APPEND text "};\nconst size_t kKernelTextCount = std::size(kKernelTexts);\n\n}  // namespace mrvlc::chost\n")
file(WRITE ${OUTPUT} "${text}")
