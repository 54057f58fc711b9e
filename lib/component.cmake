# One target a folder. `mrvlc_component(tensor DEPS support LIBS fmt::fmt)` builds lib/tensor/*.cpp into the static
# library mrvlc_tensor; DEPS are other components (edges of docs/architecture.md, checked by a test), LIBS are external;
# FLAT: its folders are not compiled.
add_library(mrvlc_options INTERFACE)
target_include_directories(mrvlc_options INTERFACE ${PROJECT_SOURCE_DIR}/include)
# Checks of the C++ library and of glibc, and a guarded stack, in what is shipped; a debug build says itself what it checks.
target_compile_options(mrvlc_options INTERFACE
  $<$<CONFIG:Release>:-D_GLIBCXX_ASSERTIONS -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong>)
target_link_options(mrvlc_options INTERFACE $<$<CONFIG:Release>:-Wl,-z,relro,-z,now>)
target_compile_options(mrvlc_options INTERFACE -Wall -Wextra -Wshadow -Wconversion
  $<$<BOOL:${MRVLC_WERROR}>:-Werror>
  # GCC 12 reports std::string concatenation at -O2 and above (GCC bug 105329 and its duplicates).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)

# The sources of a folder are compiled as one: three quarters of a translation unit are headers and templates that its
# neighbours need too. What is in an anonymous namespace is therefore seen by the whole folder; sources whose names clash
# are listed behind SEPARATE. The preset `dev` compiles each source by itself.
function(mrvlc_compile_together target)
  cmake_parse_arguments(ARG "" "" "SEPARATE" ${ARGN})
  if(NOT MRVLC_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_filename_component(source ${source} ABSOLUTE)
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${CMAKE_CURRENT_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER "all_${folder}" group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  list(TRANSFORM ARG_SEPARATE PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_source_files_properties(${ARG_SEPARATE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

function(mrvlc_component name)
  cmake_parse_arguments(ARG "FLAT" "" "DEPS;LIBS;PRIVATE_LIBS;SOURCES;SEPARATE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(NOT ARG_FLAT)
    file(GLOB rooms CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*/*.cpp)
    list(APPEND sources ${rooms})
  endif()
  list(APPEND sources ${ARG_SOURCES})
  if(NOT sources)
    message(FATAL_ERROR "component ${name} has no sources")
  endif()
  add_library(mrvlc_${name} STATIC ${sources})
  target_include_directories(mrvlc_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  list(TRANSFORM ARG_DEPS PREPEND mrvlc_)
  target_link_libraries(mrvlc_${name} PUBLIC ${ARG_DEPS} ${ARG_LIBS} PRIVATE mrvlc_options ${ARG_PRIVATE_LIBS})
  target_include_directories(mrvlc_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include)
  mrvlc_compile_together(mrvlc_${name} SEPARATE ${ARG_SEPARATE})
endfunction()
