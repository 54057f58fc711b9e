# find_package(mrvlc) gives
#   mrvlc::mrvlc          the compiler, an executable
#   mrvlc::device         the headers that generated code includes
#   mrvlc::simdev         the simulator as a device (mrvl_simulator_open)
#   mrvlc_add_model(...)  a library from an ONNX model; see mrvlcAddModel.cmake
get_filename_component(MRVLC_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET mrvlc::mrvlc)
  add_executable(mrvlc::mrvlc IMPORTED GLOBAL)
  set_target_properties(mrvlc::mrvlc PROPERTIES IMPORTED_LOCATION "${MRVLC_PREFIX}/bin/mrvlc")
  add_library(mrvlc::device INTERFACE IMPORTED GLOBAL)
  set_target_properties(mrvlc::device PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${MRVLC_PREFIX}/include")
  add_library(mrvlc::simdev SHARED IMPORTED GLOBAL)
  set_target_properties(mrvlc::simdev PROPERTIES IMPORTED_LOCATION "${MRVLC_PREFIX}/lib/libmrvl_simdev.so"
                        IMPORTED_SONAME libmrvl_simdev.so INTERFACE_LINK_LIBRARIES mrvlc::device)
endif()
include("${CMAKE_CURRENT_LIST_DIR}/mrvlcAddModel.cmake")
