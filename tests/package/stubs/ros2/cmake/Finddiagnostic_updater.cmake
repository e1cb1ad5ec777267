# Stands for the package of its name.
set(diagnostic_updater_FOUND TRUE)
if(NOT TARGET diagnostic_updater::diagnostic_updater)
  add_library(diagnostic_updater::diagnostic_updater INTERFACE IMPORTED)
  target_include_directories(diagnostic_updater::diagnostic_updater INTERFACE ${CMAKE_CURRENT_LIST_DIR}/../include)
  target_compile_features(diagnostic_updater::diagnostic_updater INTERFACE cxx_std_17)
endif()
