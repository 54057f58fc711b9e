# What the build makes of the sources of kernels, chost/kernels/*.c, for the components that emit C: each in its forms, in MRVLC_KERNELS, and
# their structs in mrvlc/ops/kernel_structs.h below MRVLC_KERNEL_HEADERS. Targets that use them depend on mrvlc_kernels.
file(GLOB MRVLC_KERNEL_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/chost/kernels/*.c)
list(SORT MRVLC_KERNEL_SOURCES)
set(MRVLC_KERNELS ${PROJECT_BINARY_DIR}/lib/kernels)
set(MRVLC_KERNEL_HEADERS ${PROJECT_BINARY_DIR}/lib/kernel_headers)
set(MRVLC_KERNEL_FORMS ${MRVLC_KERNEL_SOURCES})
list(TRANSFORM MRVLC_KERNEL_FORMS REPLACE ".*/" "${MRVLC_KERNELS}/")
set(kernel_structs ${MRVLC_KERNEL_HEADERS}/mrvlc/ops/kernel_structs.h)
add_custom_command(
  OUTPUT ${MRVLC_KERNEL_FORMS} ${kernel_structs}
  COMMAND ${CMAKE_COMMAND} "-DFILES=${MRVLC_KERNEL_SOURCES}" -DOUT=${MRVLC_KERNELS} -P ${PROJECT_SOURCE_DIR}/lib/chost/forms.cmake
  COMMAND ${CMAKE_COMMAND} "-DFILES=${MRVLC_KERNEL_FORMS}" -DHEADER=${kernel_structs} -P ${PROJECT_SOURCE_DIR}/lib/chost/structs.cmake
  DEPENDS ${MRVLC_KERNEL_SOURCES} ${PROJECT_SOURCE_DIR}/lib/chost/forms.cmake ${PROJECT_SOURCE_DIR}/lib/chost/structs.cmake
  VERBATIM)
add_custom_target(mrvlc_kernels DEPENDS ${MRVLC_KERNEL_FORMS} ${kernel_structs})
