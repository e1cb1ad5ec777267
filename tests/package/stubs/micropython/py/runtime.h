// Stands for py/obj.h, py/objstr.h, py/objtuple.h and py/runtime.h of MicroPython 1.26.1: the parts
// that a model's module uses, with floats of 32 bits as on most boards.
#ifndef MICROPY_INCLUDED_PY_RUNTIME_H
#define MICROPY_INCLUDED_PY_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MICROPY_FLOAT_IMPL_NONE (0)
#define MICROPY_FLOAT_IMPL_FLOAT (1)
#define MICROPY_FLOAT_IMPL MICROPY_FLOAT_IMPL_FLOAT
#define MICROPY_OBJ_REPR_A (0)
#define MICROPY_OBJ_REPR_C (2)
#ifndef MICROPY_OBJ_REPR
#define MICROPY_OBJ_REPR MICROPY_OBJ_REPR_A
#endif
#ifndef MICROPY_PY_ATTRTUPLE
#define MICROPY_PY_ATTRTUPLE (1)
#endif

typedef unsigned char byte;
typedef intptr_t mp_int_t;
typedef uintptr_t mp_uint_t;
typedef size_t qstr;
typedef void *mp_obj_t;
typedef const void *mp_const_obj_t;
typedef mp_const_obj_t mp_rom_obj_t;

#include "genhdr/qstrdefs.generated.h"

typedef struct _mp_obj_type_t {
    const char *name;
} mp_obj_type_t;
typedef struct _mp_obj_base_t {
    const mp_obj_type_t *type;
} mp_obj_base_t;
extern const mp_obj_type_t mp_type_tuple, mp_type_attrtuple, mp_type_list, mp_type_str;
extern const mp_obj_type_t mp_type_dict, mp_type_module, mp_type_fun, mp_type_float, mp_type_array;
extern const mp_obj_type_t mp_type_ValueError, mp_type_TypeError, mp_type_RuntimeError;

#define MP_OBJ_SENTINEL ((mp_obj_t)8)
#define MP_OBJ_NEW_SMALL_INT(small_int) \
    ((mp_obj_t)((((mp_uint_t)(small_int)) << 1) | 1))
#define MP_OBJ_SMALL_INT_VALUE(o) (((mp_int_t)(o)) >> 1)
#define MP_OBJ_NEW_QSTR(qst) ((mp_obj_t)((((mp_uint_t)(qst)) << 3) | 2))
#define MP_OBJ_FROM_PTR(p) ((mp_obj_t)p)
#define MP_ROM_INT(i) MP_OBJ_NEW_SMALL_INT(i)
#define MP_ROM_QSTR(q) MP_OBJ_NEW_QSTR(q)
#define MP_ROM_PTR(p) (p)
#define MP_ERROR_TEXT(x) x
#define MP_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MP_BUFFER_READ (1)
#define MP_REGISTER_MODULE(module_name, obj_module)

typedef struct _mp_rom_map_elem_t {
    mp_rom_obj_t key;
    mp_rom_obj_t value;
} mp_rom_map_elem_t;
typedef struct _mp_obj_dict_t {
    mp_obj_base_t base;
    size_t used;
    const mp_rom_map_elem_t *table;
} mp_obj_dict_t;
#define MP_DEFINE_CONST_DICT(dict_name, table_name) \
    const mp_obj_dict_t dict_name = { {&mp_type_dict}, MP_ARRAY_SIZE(table_name), table_name }
typedef struct _mp_obj_module_t {
    mp_obj_base_t base;
    mp_obj_dict_t *globals;
} mp_obj_module_t;
typedef struct _mp_obj_str_t {
    mp_obj_base_t base;
    size_t hash;
    size_t len;
    const byte *data;
} mp_obj_str_t;
#define MP_DEFINE_STR_OBJ(obj_name, str) \
    mp_obj_str_t obj_name = {{&mp_type_str}, 0, sizeof(str) - 1, (const byte *)str}
typedef struct _mp_rom_obj_tuple_t {
    mp_obj_base_t base;
    size_t len;
    mp_rom_obj_t items[];
} mp_rom_obj_tuple_t;
typedef struct _mp_obj_fun_t {
    mp_obj_base_t base;
    mp_obj_t (*fun_0)(void);
    mp_obj_t (*fun_1)(mp_obj_t);
} mp_obj_fun_t;
#define MP_DEFINE_CONST_FUN_OBJ_0(obj_name, fun_name) \
    const mp_obj_fun_t obj_name = {.base = {&mp_type_fun}, .fun_0 = fun_name}
#define MP_DEFINE_CONST_FUN_OBJ_1(obj_name, fun_name) \
    const mp_obj_fun_t obj_name = {.base = {&mp_type_fun}, .fun_1 = fun_name}
typedef struct _mp_buffer_info_t {
    void *buf;
    size_t len;
    int typecode;
} mp_buffer_info_t;

bool mp_get_buffer(mp_obj_t obj, mp_buffer_info_t *bufinfo, mp_uint_t flags);
bool mp_obj_is_type(mp_const_obj_t o, const mp_obj_type_t *t);
mp_obj_t mp_call_function_1(mp_obj_t fun, mp_obj_t arg);
void mp_obj_get_array(mp_obj_t o, size_t *len, mp_obj_t **items);
float mp_obj_get_float_to_f(mp_obj_t o);
mp_obj_t mp_obj_new_float_from_f(float o);
mp_obj_t mp_obj_new_int_from_uint(mp_uint_t value);
mp_obj_t mp_obj_new_bool(mp_int_t x);
mp_obj_t mp_obj_new_tuple(size_t n, const mp_obj_t *items);
mp_obj_t mp_obj_new_attrtuple(const qstr *fields, size_t n, const mp_obj_t *items);
mp_obj_t mp_obj_subscr(mp_obj_t base, mp_obj_t index, mp_obj_t val);
__attribute__((noreturn)) void mp_raise_ValueError(const char *msg);
__attribute__((noreturn)) void mp_raise_msg(const mp_obj_type_t *exc_type, const char *msg);

#endif
