// See runtime.h.
#include "py/runtime.h"
