# Stands for ament_cmake_gtest 1.3.11 (Humble).
set(ament_cmake_gtest_FOUND TRUE)

function(ament_add_gtest target)
  add_executable(${target} ${ARGN} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../gtest_main.cpp)
  target_compile_features(${target} PRIVATE cxx_std_17)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../include)
  add_test(NAME ${target} COMMAND ${target})
endfunction()
