# Stands for the package of its name.
set(rosidl_default_runtime_FOUND TRUE)
