# Stands for rclcpp_components 16.0.11 (Humble).
set(rclcpp_components_FOUND TRUE)
if(NOT TARGET rclcpp_components::component)
  add_library(rclcpp_components::component INTERFACE IMPORTED)
  target_include_directories(rclcpp_components::component INTERFACE
    ${CMAKE_CURRENT_LIST_DIR}/../include)
endif()

macro(rclcpp_components_register_node target)
  cmake_parse_arguments(_of "" "PLUGIN;EXECUTABLE" "" ${ARGN})
  get_target_property(_type ${target} TYPE)
  if(NOT _type STREQUAL "SHARED_LIBRARY" OR NOT _of_PLUGIN OR NOT _of_EXECUTABLE)
    message(FATAL_ERROR "rclcpp_components_register_node() called with: ${target};${ARGN}")
  endif()
endmacro()
