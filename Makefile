# Chiliad's build: one Makefile, everything under build/.
#
#   make            the program build/chiliad and the library build/libchiliad.a
#   make demo       sets the machine up and shows the product's main job
#   make guest      headers and libraries for programs on the machine: $(BUILD)/guest
#   make check      sets the machine up and runs every quick test, plain and under ASan+UBSan and TSan
#   make check-long the same, with many more random programs, a build for arm64, and the packages on a clean Debian
#   make check-night the same, with still more of them: some hours
#   make compare BASE=REV   whether this tree counts as revision REV did
#   make bench      speed, as ratios
#   make lint       format, clang-tidy, warnings of gcc and clang, layers, data rows, banned functions
#   make install    PREFIX=/usr/local DESTDIR=
#   make deb        Debian packages: $(DEB)/*.deb, $(BUILD)/deb/*.deb by default
#
# A variant is the same sources built with other flags into another folder: see `variant` below.

BUILD    := build
VERSION  := 0.1.0
PREFIX   ?= /usr/local
DESTDIR  ?=
CC       ?= gcc

PACKAGES := jansson inih libelf libdw libarchive expat zlib libseccomp libmicrohttpd
WARNINGS := -Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Werror
CPPFLAGS += -Iinclude -Isrc -D_GNU_SOURCE -DCHILIAD_VERSION='"$(VERSION)"' -DCHILIAD_PREFIX='"$(PREFIX)"'
OPTIMIZE ?= -O2 -g
CFLAGS   ?= $(OPTIMIZE)
COMMON   := -std=gnu17 -ffp-contract=off -pthread -MMD -MP $(WARNINGS)

# The translator generates code for x86-64; on other hosts guests are interpreted.
JIT      := $(if $(filter x86_64%,$(shell $(CC) -dumpmachine 2>/dev/null)),yes,no)
NOT_JIT  := $(if $(filter yes,$(JIT)),src/machine/jit/none.c, \
            $(filter-out src/machine/jit/none.c,$(wildcard src/machine/jit/*.c)))

LIB_SRC   := $(sort $(filter-out src/cmd/% $(NOT_JIT),$(wildcard src/*/*.c src/*/*/*.c)))
CMD_SRC   := $(sort $(wildcard src/cmd/*.c))
TEST_SRC  := $(sort $(filter-out $(if $(filter yes,$(JIT)),,tests/unit/test_jit.c),$(wildcard tests/unit/test_*.c)))
HELP_SRC  := $(sort $(filter-out $(TEST_SRC),$(wildcard tests/unit/*.c)))
BENCH_SRC := $(sort $(wildcard bench/*.c))
ALL_C     := $(LIB_SRC) $(CMD_SRC) $(TEST_SRC) $(HELP_SRC) $(BENCH_SRC) $(sort $(wildcard tests/fuzz/*.c tests/faults/*.c))
ALL_H     := $(sort $(wildcard include/chiliad/*.h src/*/*.h src/*/*/*.h tests/unit/*.h))

.DEFAULT_GOAL := all
.PHONY: all guest demo check check-long check-night compare bench lint install install-guest install-guest-libraries deb clean
.PHONY: setup-build setup-demo setup-check setup-arm64 tests

# What tests/faults/faults.c makes fail in chiliad-faults.
WRAPPED := $(shell tools/wrapped)

# $(call variant,NAME,FOLDER,FLAGS): rules for the program, the library and the tests of one variant.
define variant
$(1)_LIB   := $$(LIB_SRC:%.c=$(2)/obj/%.o)
$(1)_CMD   := $$(CMD_SRC:%.c=$(2)/obj/%.o)
$(1)_HELP  := $$(HELP_SRC:%.c=$(2)/obj/%.o)
$(1)_TESTS := $$(TEST_SRC:tests/unit/%.c=$(2)/tests/%)

$(2)/obj/%.o: %.c | $(BUILD)/found
	@mkdir -p $$(@D)
	$$(CC) $$(COMMON) $$(CPPFLAGS) $$(CFLAGS) $(3) -c $$< -o $$@

$(2)/libchiliad.a: $$($(1)_LIB)
	@rm -f $$@
	$$(AR) rcs $$@ $$^

$(2)/chiliad: $$($(1)_CMD) $(2)/libchiliad.a
	$$(CC) $$(CFLAGS) $(3) -pthread $$(LDFLAGS) $$^ $$(LIBS) -o $$@

$(2)/chiliad-faults: $$($(1)_CMD) $(2)/obj/tests/faults/faults.o $(2)/libchiliad.a
	$$(CC) $$(CFLAGS) $(3) -pthread $$(LDFLAGS) $$(WRAPPED:%=-Wl,--wrap=%) $$^ $$(LIBS) -o $$@

$(2)/librig.a: $$($(1)_HELP)
	@rm -f $$@
	ar rcs $$@ $$^

$(2)/tests/%: $(2)/obj/tests/unit/%.o $(2)/librig.a $(2)/libchiliad.a
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS) $(3) -pthread $$(LDFLAGS) $$^ $$(LIBS) -lcmocka -o $$@

.PRECIOUS: $(2)/obj/%.o
-include $$($(1)_LIB:.o=.d) $$($(1)_CMD:.o=.d) $$($(1)_HELP:.o=.d) $$(TEST_SRC:%.c=$(2)/obj/%.d)
endef

# Before anything is compiled: what is missing, and the command that installs it.
$(BUILD)/found:
	@tools/missing build '$(CC)'
	@mkdir -p $(@D)
	@touch $@

comma := ,
LIBS = $(PACKAGES:%=-l%) -liberty -lm
LIBS := $(subst -lzlib,-lz,$(subst -llib,-l,$(LIBS)))
$(eval $(call variant,PLAIN,$(BUILD),))
$(eval $(call variant,ASAN,$(BUILD)/asan,-fsanitize=address$(comma)undefined -fno-sanitize-recover=all -fno-omit-frame-pointer))
# The interpreters are one function of many labels each: to know where each variable is takes a third of their time.
$(BUILD)/obj/src/machine/core/core_inter%.o: CFLAGS += -g1
# For threads that run nodes: `make build/tsan/chiliad`, which tests/cmd/test_threads uses in check-long.
$(eval $(call variant,TSAN,$(BUILD)/tsan,-fsanitize=thread))
$(BUILD)/tsan/%: CFLAGS += -O1 -g1
# Fully optimized, sanitized code compiles three times as long, which is worth it only for what runs most, and not for the
# interpreters, which are most of it. Reports of sanitizers need lines, no variables.
$(BUILD)/asan/%: CFLAGS += -Og -g1
$(foreach hot,base catalog machine/cache machine/core machine/fp machine/mem measure/upc,$(BUILD)/asan/obj/src/$(hot)/%.o): CFLAGS += -O1
$(BUILD)/asan/obj/src/machine/core/core_inter%.o: CFLAGS += -Og

# The one test with threads of its own, with no more of the library than it uses.
TSAN_SRC := tests/unit/test_upc_threads.c $(sort $(wildcard src/base/*.c src/catalog/*.c src/measure/upc/*.c))
$(BUILD)/tsan/tests/test_upc_threads: $(TSAN_SRC) $(wildcard src/base/*.h src/measure/upc/*.h include/chiliad/*.h)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(filter-out -MMD -MP,$(COMMON)) $(CFLAGS) -fsanitize=thread $(TSAN_SRC) $(LIBS) -lcmocka -o $@

# The page that `chiliad page` fills. Without npm it is left out, and everything else is built.
PAGE_SRC := ui/package.json ui/package-lock.json ui/build.mjs $(sort $(wildcard ui/src/*))
$(BUILD)/page/page.html: $(PAGE_SRC) tools/page | $(BUILD)/found
	@tools/page $(BUILD)
$(BUILD)/ui/installed: ui/package-lock.json $(BUILD)/page/page.html
	@tools/page $(BUILD) test

all: $(BUILD)/chiliad $(BUILD)/page/page.html

# For the machine itself: what `validate` runs, and $(GUEST) with the headers and libraries of programs, static and
# shared, which `chiliad cc` uses and `make install` copies. CROSS is the cross compiler's prefix.
CROSS       ?= powerpc-linux-gnu-
GUEST       := $(BUILD)/guest
GUEST_FLAGS := -std=gnu17 -O2 -g -mcpu=440fp -Wall -Wextra -Werror -Iguest/include
GUEST_H     := $(sort $(wildcard guest/include/*.h guest/include/*/*.h guest/include/*.inc))
PAPI_FH     := $(addprefix $(GUEST)/include/,f77papi.h f90papi.h fpapi.h)
GUEST_H     := $(GUEST_H:guest/%=$(GUEST)/%) $(PAPI_FH) \
               $(GUEST)/include/bgp_upc_events.inc $(GUEST)/include/bgl_perfctr_events.inc

$(GUEST)/found:
	@tools/missing guest '$(CROSS)'
	@mkdir -p $(@D)
	@touch $@
$(GUEST)/obj/%.o: guest/lib/%.c | $(GUEST)/found
	@mkdir -p $(@D)
	$(CROSS)gcc $(GUEST_FLAGS) -MMD -MP -c $< -o $@
$(GUEST)/pic/%.o: guest/lib/%.c | $(GUEST)/found
	@mkdir -p $(@D)
	$(CROSS)gcc $(GUEST_FLAGS) -fPIC -MMD -MP -c $< -o $@

# $(call guest_library,NAME,SOURCES,SONAME,USED): libNAME.a, and libNAME.so with what it uses of the libraries USED.
define guest_library
ifneq ($(2),)
GUEST_LIBS += $(GUEST)/lib/lib$(1).a $(GUEST)/lib/lib$(1).so
GUEST_OBJ  += $(2:guest/lib/%.c=$(GUEST)/obj/%.o) $(2:guest/lib/%.c=$(GUEST)/pic/%.o)

$(GUEST)/lib/lib$(1).a: $(2:guest/lib/%.c=$(GUEST)/obj/%.o)
	@mkdir -p $$(@D)
	@rm -f $$@
	$(CROSS)ar rcs $$@ $$^

$(GUEST)/lib/$(3): $(2:guest/lib/%.c=$(GUEST)/pic/%.o) $(4:%=$(GUEST)/lib/lib%.so)
	@mkdir -p $$(@D)
	$(CROSS)gcc -shared -Wl,-soname,$(3) -Wl,-rpath,'$$$$ORIGIN' -Wl,-z,defs -Wl,--as-needed $$(filter %.o,$$^) \
		-L$(GUEST)/lib $(4:%=-l%) -lm -o $$@

$(GUEST)/lib/lib$(1).so: $(GUEST)/lib/$(3)
	ln -sf $(3) $$@
endif
endef
$(eval $(call guest_library,chiliad,$(wildcard guest/lib/chiliad*.c),libchiliad.so.1))
$(eval $(call guest_library,chiliad_net,$(wildcard guest/lib/net*.c),libchiliad_net.so.1))
$(eval $(call guest_library,bglcounters,$(wildcard guest/lib/bglcounters*.c),libbglcounters.so.1))
$(eval $(call guest_library,bgp_upc,$(wildcard guest/lib/bgp_upc*.c),libbgp_upc.so.1))
$(eval $(call guest_library,bgl_perfctr,$(wildcard guest/lib/bgl_perfctr*.c),libbgl_perfctr.so.1))
$(eval $(call guest_library,hpm,$(wildcard guest/lib/libhpm*.c),libhpm.so.1,bglcounters))
$(eval $(call guest_library,papi,$(wildcard guest/lib/papi*.c),libpapi.so.7.0,bglcounters bgp_upc))
-include $(GUEST_OBJ:.o=.d)

# MPI: mpi.h and the Fortran bindings come from the table guest/mpi/calls.
MPI_SRC     := $(sort $(wildcard guest/mpi/*.c))
MPI_OBJ     := $(MPI_SRC:guest/mpi/%.c=%) mpi_fortran_calls
MPI_OBJ     := $(MPI_OBJ:%=$(GUEST)/mpi/%.o) $(MPI_OBJ:%=$(GUEST)/mpi/%.pic.o)
MPI_H       := $(addprefix $(GUEST)/include/,mpi.h mpif.h $(if $(shell command -v $(CROSS)gfortran),mpi.mod mpi_f08.mod))
MPI_COMPILE  = $(CROSS)gcc $(GUEST_FLAGS) -D_GNU_SOURCE -Iguest/mpi -I$(GUEST)/include -MMD -MP -c $< -o $@
GUEST_LIBS  += $(GUEST)/lib/libmpi.a $(GUEST)/lib/libmpi.so
$(MPI_OBJ): $(GUEST)/include/mpi.h
$(GUEST)/include/mpi.h: guest/mpi/mpi.h.in guest/mpi/calls tools/mpi-calls
	@mkdir -p $(@D)
	tools/mpi-calls header guest/mpi > $@ || { rm -f $@; exit 1; }
$(GUEST)/include/mpif.h: guest/mpi/mpi.h.in guest/mpi/calls tools/mpi-calls
	@mkdir -p $(@D)
	CC='$(CC)' tools/mpi-calls mpif guest/mpi > $@ || { rm -f $@; exit 1; }
$(GUEST)/include/mpi.mod: $(GUEST)/include/mpif.h guest/mpi/calls tools/mpi-calls
	@mkdir -p $(GUEST)/mpi
	tools/mpi-calls module guest/mpi > $(GUEST)/mpi/mpi.f90 || { rm -f $(GUEST)/mpi/mpi.f90; exit 1; }
	$(CROSS)gfortran -mcpu=440fp -ffree-line-length-none -fsyntax-only -I$(GUEST)/include -J$(GUEST)/include $(GUEST)/mpi/mpi.f90
	@touch $@
$(GUEST)/include/mpi_f08.mod: $(GUEST)/include/mpif.h guest/mpi/calls tools/mpi-calls
	@mkdir -p $(GUEST)/mpi
	CC='$(CC)' tools/mpi-calls f08 guest/mpi > $(GUEST)/mpi/mpi_f08.f90 || { rm -f $(GUEST)/mpi/mpi_f08.f90; exit 1; }
	$(CROSS)gfortran -mcpu=440fp -ffree-line-length-none -fsyntax-only -J$(GUEST)/include $(GUEST)/mpi/mpi_f08.f90
$(GUEST)/mpi/mpi_fortran_calls.c: guest/mpi/calls tools/mpi-calls
	@mkdir -p $(@D)
	tools/mpi-calls fortran guest/mpi > $@ || { rm -f $@; exit 1; }
$(GUEST)/mpi/%.o: guest/mpi/%.c | $(GUEST)/found
	@mkdir -p $(@D)
	$(MPI_COMPILE)
$(GUEST)/mpi/%.pic.o: guest/mpi/%.c | $(GUEST)/found
	@mkdir -p $(@D)
	$(MPI_COMPILE) -fPIC
$(GUEST)/mpi/%.o: $(GUEST)/mpi/%.c
	$(MPI_COMPILE)
$(GUEST)/mpi/%.pic.o: $(GUEST)/mpi/%.c
	$(MPI_COMPILE) -fPIC
$(GUEST)/lib/libmpi.a: $(filter-out %.pic.o,$(MPI_OBJ))
	@mkdir -p $(@D)
	@rm -f $@
	$(CROSS)ar rcs $@ $^
$(GUEST)/lib/libmpi.so.1: $(filter %.pic.o,$(MPI_OBJ)) $(GUEST)/lib/libchiliad_net.so
	$(CROSS)gcc -shared -Wl,-soname,libmpi.so.1 -Wl,-rpath,'$$ORIGIN' -Wl,-z,defs $(filter %.o,$^) \
		-L$(GUEST)/lib -lchiliad_net -lm -o $@
$(GUEST)/lib/libmpi.so: $(GUEST)/lib/libmpi.so.1
	ln -sf libmpi.so.1 $@
-include $(MPI_OBJ:.o=.d)

$(GUEST)/include/%: guest/include/%
	@mkdir -p $(@D)
	cp $< $@
# The event ids of spi/UPC.h for bgp_upc.inc.
$(GUEST)/include/bgp_upc_events.inc: guest/include/spi/UPC.h Makefile
	@mkdir -p $(@D)
	sed -n -e '/ BGP_UPC_/d' -e 's/^    \(BGP_[A-Z0-9_]* = [0-9]*\),/integer(4), parameter :: \1/p' $< > $@
# Those of bgl_perfctr_events.h for bgl_perfctr.inc, in fixed form as in free form.
$(GUEST)/include/bgl_perfctr_events.inc: guest/include/bgl_perfctr_events.h Makefile
	@mkdir -p $(@D)
	sed -n 's/^    \(BGL_[A-Z0-9_]*\) = \([0-9]*\),/      integer(4) \1\n      parameter (\1=\2)/p' $< > $@
# The constants of papi.h.
$(PAPI_FH): guest/include/papi.h guest/include/papiStdEventDefs.h tools/papi-fortran
	@mkdir -p $(@D)
	CC='$(CC)' tools/papi-fortran $(@F) guest/include > $@ || { rm -f $@; exit 1; }

guest: $(GUEST)/rose $(GUEST_LIBS) $(GUEST_H) $(MPI_H)
$(GUEST)/rose: guest/validate/rose.c guest/lib/bglcounters.c guest/include/bglcounters.h | $(GUEST)/found
	@mkdir -p $(@D)
	$(CROSS)gcc $(GUEST_FLAGS) -fno-pie -no-pie -static guest/validate/rose.c guest/lib/bglcounters.c -o $@

setup-build:
	@tools/setup build
setup-check:
	@tools/setup check
setup-arm64:
	@tools/setup arm64

setup-demo:
	@tools/setup demo

demo: setup-demo
	@$(MAKE) --no-print-directory -s all guest
	@tools/demo $(BUILD)/chiliad

# Tests print TAP; tools/run-tests adds them up. TSan runs only what has threads.
tests: $(PLAIN_TESTS) $(ASAN_TESTS) $(BUILD)/tsan/tests/test_upc_threads $(BUILD)/chiliad $(BUILD)/asan/chiliad \
       $(BUILD)/chiliad-faults $(BUILD)/asan/chiliad-faults \
       $(BUILD)/ui/installed guest

check: setup-check
check-long check-night: setup-arm64
check check-long check-night:
	@$(MAKE) --no-print-directory -s -j$$(nproc) tests
	@tools/run-tests $(BUILD) $(patsubst check-%,%,$(patsubst check,check-quick,$@))

$(BUILD)/bench/%: $(BUILD)/obj/bench/%.o $(BUILD)/libchiliad.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -pthread $(LDFLAGS) $^ $(LIBS) -o $@
-include $(BENCH_SRC:%.c=$(BUILD)/obj/%.d)

# The program of this tree against that of revision BASE.
compare: setup-check
	@$(MAKE) --no-print-directory -s all
	@BUILD=$(BUILD) tools/compare $(BASE)

bench: setup-check
	@$(MAKE) --no-print-directory -s all $(BENCH_SRC:%.c=$(BUILD)/%)
	@for b in $(BENCH_SRC:%.c=$(BUILD)/%); do $$b || exit 1; done
	@bench/bench_programs $(BUILD)/chiliad
	@bench/fft $(BUILD)/chiliad
	@bench/nas $(BUILD)/chiliad
	@bench/untuned $(BUILD)/chiliad
	@bench/engines $(BUILD)/chiliad
	@bench/curves $(BUILD)/chiliad
	@bench/hist $(BUILD)/chiliad
	@bench/trace $(BUILD)/chiliad
	@bench/record $(BUILD)/chiliad
	@bench/analysis $(BUILD)/chiliad

lint: setup-check
	@tools/lint $(BUILD) $(ALL_C) $(ALL_H)

# What is installed knows PREFIX, for where /proc does not say where the program is. Few files do.
PREFIX_SRC  = $(shell grep -l CHILIAD_PREFIX $(LIB_SRC) $(CMD_SRC))
PREFIX_OBJ := $(BUILD)/prefix$(subst /,-,$(PREFIX))
PREFIX_NEW := $(PREFIX_OBJ).$(shell echo $$PPID)
$(PREFIX_OBJ)/chiliad: $(BUILD)/chiliad Makefile
	@mkdir -p $(PREFIX_NEW) && cp $(BUILD)/libchiliad.a $(PREFIX_NEW)/
	$(foreach file,$(PREFIX_SRC),$(CC) $(filter-out -MMD -MP,$(COMMON)) $(CPPFLAGS) $(CFLAGS) -c $(file) \
		-o $(PREFIX_NEW)/$(notdir $(file:.c=.o)) &&) \
	$(AR) r $(PREFIX_NEW)/libchiliad.a $(patsubst %.c,$(PREFIX_NEW)/%.o,$(notdir $(filter $(LIB_SRC),$(PREFIX_SRC))))
	$(CC) $(CFLAGS) -pthread $(LDFLAGS) $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out $(PREFIX_SRC),$(CMD_SRC))) \
		$(patsubst %.c,$(PREFIX_NEW)/%.o,$(notdir $(filter $(CMD_SRC),$(PREFIX_SRC)))) $(PREFIX_NEW)/libchiliad.a $(LIBS) \
		-o $(PREFIX_NEW)/chiliad
	@rm -rf $(@D) && mv $(PREFIX_NEW) $(@D)

install: all $(PREFIX_OBJ)/chiliad
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include/chiliad
	install -m 755 $(PREFIX_OBJ)/chiliad $(DESTDIR)$(PREFIX)/bin/
	install -m 644 $(PREFIX_OBJ)/libchiliad.a $(DESTDIR)$(PREFIX)/lib/
	install -m 644 include/chiliad/*.h $(DESTDIR)$(PREFIX)/include/chiliad/
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@PACKAGES@|$(filter-out libmicrohttpd,$(PACKAGES))|' \
		tools/chiliad.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/chiliad.pc
	for kind in $(notdir $(wildcard data/*)); do \
		install -d $(DESTDIR)$(PREFIX)/share/chiliad/$$kind && \
		install -m 644 data/$$kind/* $(DESTDIR)$(PREFIX)/share/chiliad/$$kind/ || exit 1; done
	install -d $(DESTDIR)$(PREFIX)/share/chiliad/page
	install -m 644 $(BUILD)/page/page.html $(DESTDIR)$(PREFIX)/share/chiliad/page/
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man3
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	for page in docs/man/*.md; do \
		section=$$(sed -n '1s/.*(\([0-9]\)).*/\1/p' $$page); \
		tools/manpage $(VERSION) $$page > $(DESTDIR)$(PREFIX)/share/man/man$$section/$$(basename $$page .md).$$section || exit 1; done
	@$(MAKE) --no-print-directory install-guest
	install -m 644 tools/chiliad.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/chiliad

DEB ?= $(BUILD)/deb
deb: all guest
	@tools/deb $(BUILD) $(VERSION) $(DEB)

# Headers and sources always; libraries only where there is a compiler for the machine.
GUEST_TO := $(DESTDIR)$(PREFIX)/share/chiliad/guest
install-guest: $(GUEST_H) $(MPI_H)
	install -d $(GUEST_TO)/include $(GUEST_TO)/src
	cp -R $(GUEST)/include/. $(GUEST_TO)/include/
	install -m 644 guest/lib/*.[ch] $(GUEST_TO)/src/
	@if command -v $(CROSS)gcc >/dev/null; then $(MAKE) --no-print-directory install-guest-libraries; else \
		echo "guest libraries are left out: there is no $(CROSS)gcc; 'tools/setup demo' installs it"; fi
install-guest-libraries: guest
	install -d $(GUEST_TO)/lib $(DESTDIR)$(PREFIX)/lib/chiliad/guest
	cp -P $(GUEST)/lib/* $(GUEST_TO)/lib/
	install -m 755 $(GUEST)/rose $(DESTDIR)$(PREFIX)/lib/chiliad/guest/

clean:
	rm -rf $(BUILD)
