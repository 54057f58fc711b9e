# One target a folder. `mrvlc_component(tensor DEPS support LIBS fmt::fmt)` builds lib/tensor/*.cpp into the static
# library mrvlc_tensor; DEPS are other components (edges of docs/architecture.md, checked by a test), LIBS are external.
add_library(mrvlc_options INTERFACE)
target_include_directories(mrvlc_options INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_compile_options(mrvlc_options INTERFACE -Wall -Wextra -Wshadow -Wconversion
  $<$<BOOL:${MRVLC_WERROR}>:-Werror>
  # GCC 12 reports std::string concatenation at -O2 and above (GCC bug 105329 and its duplicates).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)

function(mrvlc_component name)
  cmake_parse_arguments(ARG "" "" "DEPS;LIBS;PRIVATE_LIBS;SOURCES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/*/*.cpp)
  list(APPEND sources ${ARG_SOURCES})
  if(NOT sources)
    message(FATAL_ERROR "component ${name} has no sources")
  endif()
  add_library(mrvlc_${name} STATIC ${sources})
  target_include_directories(mrvlc_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  list(TRANSFORM ARG_DEPS PREPEND mrvlc_)
  target_link_libraries(mrvlc_${name} PUBLIC ${ARG_DEPS} ${ARG_LIBS} PRIVATE mrvlc_options ${ARG_PRIVATE_LIBS})
  target_include_directories(mrvlc_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include)
endfunction()
