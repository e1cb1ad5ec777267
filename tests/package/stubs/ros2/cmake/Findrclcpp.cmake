# Stands for the package of its name.
set(rclcpp_FOUND TRUE)
if(NOT TARGET rclcpp::rclcpp)
  add_library(rclcpp::rclcpp INTERFACE IMPORTED)
  target_include_directories(rclcpp::rclcpp INTERFACE ${CMAKE_CURRENT_LIST_DIR}/../include)
  target_compile_features(rclcpp::rclcpp INTERFACE cxx_std_17)
endif()
