# Stands for the commands of Zephyr's build system that a module calls (Zephyr's main branch, as
# read in November 2026, cmake/modules/extensions.cmake): the same arguments do the same to a plain
# library. ${AUTOCONF} is the header with the values of Kconfig.
macro(zephyr_library_named name)
  add_library(${name} STATIC)
  set(ZEPHYR_CURRENT_LIBRARY ${name})
endmacro()
macro(zephyr_library_sources)
  target_sources(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
endmacro()
macro(zephyr_include_directories)
  target_include_directories(${ZEPHYR_CURRENT_LIBRARY} PUBLIC ${ARGN})
endmacro()
macro(zephyr_library_compile_options)
  target_compile_options(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
endmacro()
macro(zephyr_library_compile_definitions)
  target_compile_definitions(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
endmacro()
# A snippet is included into the linker script, which the preprocessor of C reads with the values
# of Kconfig.
function(zephyr_linker_sources location file)
  if(NOT location STREQUAL "RODATA")
    message(FATAL_ERROR "the stand-in knows RODATA only")
  endif()
  set(script "${CMAKE_CURRENT_BINARY_DIR}/snippets-rodata")
  file(WRITE "${script}.in" "SECTIONS {\n .snippets_rodata : {\n#include "
    "\"${CMAKE_CURRENT_SOURCE_DIR}/${file}\"\n }\n} INSERT AFTER .rodata;\n")
  execute_process(
    COMMAND ${CMAKE_C_COMPILER} -E -P -x c -imacros ${AUTOCONF} "${script}.in" -o "${script}.ld"
    COMMAND_ERROR_IS_FATAL ANY)
  target_link_options(${ZEPHYR_CURRENT_LIBRARY} INTERFACE "-Wl,-T,${script}.ld")
endfunction()
