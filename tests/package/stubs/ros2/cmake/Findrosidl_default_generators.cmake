# Stands for rosidl_default_generators 1.2.0 (Humble): generate.py writes the C++ of a message.
set(rosidl_default_generators_FOUND TRUE)
set(_generator ${CMAKE_CURRENT_LIST_DIR}/../generate.py)

macro(rosidl_generate_interfaces target)
  cmake_parse_arguments(_of "" "" "DEPENDENCIES" ${ARGN})
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(_generated ${CMAKE_CURRENT_BINARY_DIR}/generated)
  foreach(_file ${_of_UNPARSED_ARGUMENTS})
    execute_process(
      COMMAND ${Python3_EXECUTABLE} ${_generator}
        ${target} ${CMAKE_CURRENT_SOURCE_DIR}/${_file} ${_generated}
      RESULT_VARIABLE _failed)
    if(_failed)
      message(FATAL_ERROR "${_file} is no message")
    endif()
  endforeach()
  ament_export_dependencies(${_of_DEPENDENCIES})
  add_library(${target}__rosidl_generator_cpp INTERFACE)
  target_include_directories(${target}__rosidl_generator_cpp INTERFACE
    $<INSTALL_INTERFACE:include/${target}>)
  install(DIRECTORY ${_generated}/ DESTINATION include/${target})
  install(TARGETS ${target}__rosidl_generator_cpp EXPORT export_${target}__rosidl_generator_cpp)
  ament_export_targets(export_${target}__rosidl_generator_cpp HAS_LIBRARY_TARGET)
  string(APPEND _extras "set(${target}_TARGETS ${target}::${target}__rosidl_generator_cpp)\n")
endmacro()
