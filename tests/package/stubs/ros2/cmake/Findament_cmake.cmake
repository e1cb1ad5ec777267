# Stands for ament_cmake 1.3.11 (Humble): a package exports its targets and what it depends on.
set(ament_cmake_FOUND TRUE)
include(CTest)

macro(ament_export_dependencies)
  list(APPEND _dependencies ${ARGN})
endmacro()

macro(ament_export_targets target)
  if(NOT "${ARGN}" STREQUAL "HAS_LIBRARY_TARGET")
    message(FATAL_ERROR "ament_export_targets() called with: ${ARGN}")
  endif()
  list(APPEND _exports ${target})
  install(EXPORT ${target} DESTINATION share/${PROJECT_NAME}/cmake NAMESPACE ${PROJECT_NAME}::)
endmacro()

macro(ament_package)
  set(_config "include(CMakeFindDependencyMacro)\n")
  foreach(_dependency ${_dependencies})
    string(APPEND _config "find_dependency(${_dependency})\n")
  endforeach()
  foreach(_export ${_exports})
    string(APPEND _config "include(\${CMAKE_CURRENT_LIST_DIR}/${_export}.cmake)\n")
  endforeach()
  string(APPEND _config "${_extras}")
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${PROJECT_NAME}Config.cmake "${_config}")
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${PROJECT_NAME}Config.cmake package.xml
    DESTINATION share/${PROJECT_NAME}/cmake)
endmacro()
