# Stands for the package of its name.
set(std_msgs_FOUND TRUE)
if(NOT TARGET std_msgs::std_msgs)
  add_library(std_msgs::std_msgs INTERFACE IMPORTED)
  target_include_directories(std_msgs::std_msgs INTERFACE ${CMAKE_CURRENT_LIST_DIR}/../include)
  target_compile_features(std_msgs::std_msgs INTERFACE cxx_std_17)
endif()
