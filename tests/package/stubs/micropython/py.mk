# Stands for py/mkenv.mk, py/py.mk and the Makefile of the unix port, MicroPython 1.26.1.
CC := gcc
CWARN := -Wall -Werror -Wextra -Wno-unused-parameter -Wpointer-arith -Wdouble-promotion
CWARN += -Wfloat-conversion
CFLAGS += -I$(BUILD) -I$(HERE) $(CWARN) -std=gnu99 -O1 -ffp-contract=fast $(CFLAGS_EXTRA)

all: $(BUILD)/board

SRC_USERMOD_C :=
SRC_USERMOD_LIB_C :=
define include_module
USERMOD_DIR := $(1)
include $(1)/micropython.mk
endef
$(foreach module,$(wildcard $(USER_C_MODULES)/*/micropython.mk),\
	$(eval $(call include_module,$(patsubst %/micropython.mk,%,$(module)))))

OBJECTS := $(SRC_USERMOD_C:$(USER_C_MODULES)/%.c=$(BUILD)/%.o)
OBJECTS += $(SRC_USERMOD_LIB_C:$(USER_C_MODULES)/%.c=$(BUILD)/%.o) $(BUILD)/board.o

# The names that sources use; each has a number.
$(BUILD)/genhdr/qstrdefs.generated.h: $(SRC_USERMOD_C) $(HERE)/board.c
	mkdir -p $(@D)
	(echo 'enum { MP_QSTRnull,'; grep -oh 'MP_QSTR_[A-Za-z0-9_]*' $^ | sort -u | sed 's/$$/,/'; \
	echo '};') > $@

$(BUILD)/%.o: $(USER_C_MODULES)/%.c $(BUILD)/genhdr/qstrdefs.generated.h
	mkdir -p $(@D)
	$(CC) $(CFLAGS) -c -o $@ $<
$(BUILD)/board.o: $(HERE)/board.c $(BUILD)/genhdr/qstrdefs.generated.h
	$(CC) $(CFLAGS) -c -o $@ $<
$(BUILD)/board: $(OBJECTS)
	$(CC) -o $@ $^
