# Chiliad's build: one Makefile, everything under build/.
#
#   make            the program build/chiliad and the library build/libchiliad.a
#   make demo       sets the machine up and shows the product's main job
#   make check      sets the machine up and runs every quick test, plain and under ASan+UBSan and TSan
#   make check-long the same, with many more random programs
#   make bench      speed, as ratios
#   make lint       format, clang-tidy, warnings of gcc and clang, layers, data rows, banned functions
#   make install    PREFIX=/usr/local DESTDIR=
#
# A variant is the same sources built with other flags into another folder: see `variant` below.

BUILD    := build
VERSION  := 0.1.0
PREFIX   ?= /usr/local
DESTDIR  ?=
CC       ?= gcc

PACKAGES := jansson inih libelf libdw
WARNINGS := -Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Werror
CPPFLAGS += -Iinclude -Isrc -D_GNU_SOURCE -DCHILIAD_VERSION='"$(VERSION)"' -DCHILIAD_PREFIX='"$(PREFIX)"'
OPTIMIZE ?= -O2 -g
CFLAGS   ?= $(OPTIMIZE)
BASE     := -std=gnu17 -ffp-contract=off -pthread -MMD -MP $(WARNINGS)

LIB_SRC   := $(sort $(filter-out src/cmd/%,$(wildcard src/*/*.c)))
CMD_SRC   := $(sort $(wildcard src/cmd/*.c))
TEST_SRC  := $(sort $(wildcard tests/unit/test_*.c))
HELP_SRC  := $(sort $(filter-out $(TEST_SRC),$(wildcard tests/unit/*.c)))
BENCH_SRC := $(sort $(wildcard bench/*.c))
ALL_C     := $(LIB_SRC) $(CMD_SRC) $(TEST_SRC) $(HELP_SRC) $(BENCH_SRC) $(sort $(wildcard tests/fuzz/*.c))
ALL_H     := $(sort $(wildcard include/chiliad/*.h src/*/*.h tests/unit/*.h))

.DEFAULT_GOAL := all
.PHONY: all guest demo check check-long bench lint install clean setup-build setup-demo setup-check tests

# $(call variant,NAME,FOLDER,FLAGS): rules for the program, the library and the tests of one variant.
define variant
$(1)_LIB   := $$(LIB_SRC:%.c=$(2)/obj/%.o)
$(1)_CMD   := $$(CMD_SRC:%.c=$(2)/obj/%.o)
$(1)_HELP  := $$(HELP_SRC:%.c=$(2)/obj/%.o)
$(1)_TESTS := $$(TEST_SRC:tests/unit/%.c=$(2)/tests/%)

$(2)/obj/%.o: %.c
	@mkdir -p $$(@D)
	$$(CC) $$(BASE) $$(CPPFLAGS) $$(CFLAGS) $(3) -c $$< -o $$@

$(2)/libchiliad.a: $$($(1)_LIB)
	@rm -f $$@
	ar rcs $$@ $$^

$(2)/chiliad: $$($(1)_CMD) $(2)/libchiliad.a
	$$(CC) $$(CFLAGS) $(3) -pthread $$(LDFLAGS) $$^ $$(LIBS) -o $$@

$(2)/tests/%: $(2)/obj/tests/unit/%.o $$($(1)_HELP) $(2)/libchiliad.a
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS) $(3) -pthread $$(LDFLAGS) $$^ $$(LIBS) -lcmocka -o $$@

.PRECIOUS: $(2)/obj/%.o
-include $$($(1)_LIB:.o=.d) $$($(1)_CMD:.o=.d) $$($(1)_HELP:.o=.d) $$(TEST_SRC:%.c=$(2)/obj/%.d)
endef

comma := ,
LIBS = $(PACKAGES:%=-l%) -lm
LIBS := $(subst -llib,-l,$(LIBS))
$(eval $(call variant,PLAIN,$(BUILD),))
$(eval $(call variant,ASAN,$(BUILD)/asan,-fsanitize=address$(comma)undefined -fno-sanitize-recover=all -fno-omit-frame-pointer))
$(eval $(call variant,TSAN,$(BUILD)/tsan,-fsanitize=thread))

all: $(BUILD)/chiliad

# Programs for the machine itself: what `validate` runs.
GUEST_CC := powerpc-linux-gnu-gcc -O2 -mcpu=440fp -static -Wall -Iguest/include
guest: $(BUILD)/guest/rose
$(BUILD)/guest/rose: guest/validate/rose.c guest/lib/bglcounters.c guest/include/bglcounters.h
	@mkdir -p $(@D)
	$(GUEST_CC) guest/validate/rose.c guest/lib/bglcounters.c -o $@

setup-build:
	@tools/setup build
setup-check:
	@tools/setup check

setup-demo:
	@tools/setup demo

demo: setup-demo
	@$(MAKE) --no-print-directory -s all
	@tools/demo $(BUILD)/chiliad

# Tests print TAP; tools/run-tests adds them up. TSan runs only what has threads.
tests: $(PLAIN_TESTS) $(ASAN_TESTS) $(BUILD)/tsan/tests/test_upc_threads $(BUILD)/chiliad $(BUILD)/asan/chiliad guest

check check-long: setup-check
	@$(MAKE) --no-print-directory -s -j$$(nproc) tests
	@tools/run-tests $(BUILD) $(if $(filter check-long,$@),long,quick)

$(BUILD)/bench/%: $(BUILD)/obj/bench/%.o $(BUILD)/libchiliad.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -pthread $(LDFLAGS) $^ $(LIBS) -o $@
-include $(BENCH_SRC:%.c=$(BUILD)/obj/%.d)

bench: setup-check
	@$(MAKE) --no-print-directory -s all $(BENCH_SRC:%.c=$(BUILD)/%)
	@for b in $(BENCH_SRC:%.c=$(BUILD)/%); do $$b || exit 1; done
	@bench/bench_programs $(BUILD)/chiliad

lint: setup-check
	@tools/lint $(BUILD) $(ALL_C) $(ALL_H)

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include/chiliad
	install -m 755 $(BUILD)/chiliad $(DESTDIR)$(PREFIX)/bin/
	install -m 644 $(BUILD)/libchiliad.a $(DESTDIR)$(PREFIX)/lib/
	install -m 644 include/chiliad/*.h $(DESTDIR)$(PREFIX)/include/chiliad/
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@PACKAGES@|$(PACKAGES)|' \
		tools/chiliad.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/chiliad.pc
	for kind in machines events; do \
		install -d $(DESTDIR)$(PREFIX)/share/chiliad/$$kind && \
		install -m 644 data/$$kind/* $(DESTDIR)$(PREFIX)/share/chiliad/$$kind/ || exit 1; done
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man3
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	for page in docs/man/*.md; do \
		section=$$(sed -n '1s/.*(\([0-9]\)).*/\1/p' $$page); \
		tools/manpage $(VERSION) $$page > $(DESTDIR)$(PREFIX)/share/man/man$$section/$$(basename $$page .md).$$section || exit 1; done
	for kind in include lib; do \
		(cd guest && find $$kind -type f) | while read -r file; do \
		install -D -m 644 guest/$$file $(DESTDIR)$(PREFIX)/share/chiliad/guest/$$file || exit 1; done; done
	install -m 644 tools/chiliad.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/chiliad

clean:
	rm -rf $(BUILD)
