/* chiliad cc, fc, cxx: compile and link a program for the machine, with the guest libraries.
 * mpicc, mpifort and mpicxx are the same, under the names that MPI programs are built with.
 *
 *     $ chiliad cc -O3 cg.c -o cg && chiliad stat ./cg
 *
 * Debian's cross compiler does the work. All words go to it unchanged, between those for the
 * processor, so that -mcpu on the command line wins, and those for headers and libraries, so that
 * the user's own are found first. Programs are static unless -dynamic (which is taken out) or
 * another kind of output is asked for; a static program runs anywhere. Shared libraries are found
 * at run time where they are now (rpath), as the simulator lets guests read the host's files.
 *
 * The guest libraries are in the folder `guest` with `include` and `lib`: $CHILIAD_GUEST, which is
 * obeyed or refused, beside or above the program in a build folder, or below the install prefix.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All but these words are the compiler's, so that options_parse does not read them. */
static const struct option_row option_rows[] = {
    {"print", 0, NULL, "print the compiler's command line and do nothing; only as the first word",
     .kind = OPTION_OTHER},
    {"dynamic", '-', NULL, "link with shared libraries (default: a static program)",
     .kind = OPTION_OTHER},
};

const struct option_table cmd_cc_options = {
    .forms = {"[--print] WORDS..."},
    .about = "Compiles C (cc), Fortran (fc) or C++ (cxx) for the machine with Debian's "
             "cross compiler, which gets WORDS as they are, and links the guest libraries: "
             "MPI, libHPM, PAPI, BGP_UPC, bgl_perfctr, BGLCounters and libm. --help is an "
             "option only as the first word.",
    .groups = {OPTION_ROWS(option_rows)},
    .notes = "Libraries and headers: $CHILIAD_GUEST, else 'guest' beside the program, else "
             "the install prefix.\n"
             "Exit status: the compiler's; 2 when there is none.",
};

enum { EXTRA_WORDS = 32 };

/* libgfortran.a refers to these weakly and takes them all for there when one is: a static program
 * with OpenMP would call address 0 at its end.
 */
#define FORTRAN_THREADS                                                                                 \
    "-Wl,-u,pthread_mutex_init,-u,pthread_mutex_trylock,-u,pthread_mutex_destroy,-u,pthread_cond_init," \
    "-u,pthread_cond_wait,-u,pthread_cond_broadcast,-u,pthread_cond_destroy,-u,pthread_key_create,"     \
    "-u,pthread_key_delete,-u,pthread_getspecific,-u,pthread_setspecific,-u,pthread_create,-u,pthread_join"

/* libgomp.a calls dlopen for a profiling library, and the linker warns of dlopen in every static
 * program. __dlopen is the same function without the warning.
 */
#define OPENMP_DLOPEN "-Wl,--wrap=dlopen,--defsym=__wrap_dlopen=__dlopen"

static const struct language {
    const char *command, *compiler, *packages;
    const char *threads; /* for static programs with threads, or NULL */
    const char *more;    /* for all programs, or NULL */
} languages[] = {
    {"cc", "powerpc-linux-gnu-gcc", "gcc-powerpc-linux-gnu libc6-dev-powerpc-cross", NULL, NULL},
    {"fc", "powerpc-linux-gnu-gfortran", "gfortran-powerpc-linux-gnu libc6-dev-powerpc-cross",
     FORTRAN_THREADS, NULL},
    {"cxx", "powerpc-linux-gnu-g++", "g++-powerpc-linux-gnu libc6-dev-powerpc-cross", NULL, NULL},
    {"mpicc", "powerpc-linux-gnu-gcc", "gcc-powerpc-linux-gnu libc6-dev-powerpc-cross", NULL, NULL},
    {"mpifort", "powerpc-linux-gnu-gfortran", "gfortran-powerpc-linux-gnu libc6-dev-powerpc-cross",
     FORTRAN_THREADS, "-fallow-argument-mismatch"}, /* mpif.h has no interfaces */
    {"mpicxx", "powerpc-linux-gnu-g++", "g++-powerpc-linux-gnu libc6-dev-powerpc-cross", NULL,
     NULL},
};

/* Libraries that use others come first, for the linker. A build may lack some. */
static const char *const libraries[] = {"-lmpi",     "-lchiliad",    "-lchiliad_net",
                                        "-lhpm",     "-lpapi",       "-lbgl_perfctr",
                                        "-lbgp_upc", "-lbglcounters"};

/* What the words of the command line ask for. */
struct wanted {
    bool link, shared, is_static, libraries, threads, openmp;
};

/* The compiler's command line. */
struct line {
    const char **words;
    size_t count;
    char include[PATH_MAX + 16], lib[PATH_MAX + 16]; /* -I and -L */
};

/* --- Where the libraries are ----------------------------------------------------------------- */

static bool is_guest(const char *folder)
{
    char path[PATH_MAX + 32];
    (void)snprintf(path, sizeof path, "%s/include/libhpm.h", folder);
    if (access(path, R_OK) != 0) return false;
    (void)snprintf(path, sizeof path, "%s/lib/libhpm.a", folder);
    return access(path, R_OK) == 0;
}

static bool find_beside_program(char folder[PATH_MAX])
{
    static const char *const places[] = {"guest", "../guest", "../share/chiliad/guest"};
    char self[PATH_MAX], path[PATH_MAX + 32];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) return false;
    self[length] = 0;
    *strrchr(self, '/') = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", self, places[i]);
        if (realpath(path, folder) && is_guest(folder)) return true;
    }
    return false;
}

static int find_guest(const char *command, char folder[PATH_MAX])
{
    const char *wanted = getenv("CHILIAD_GUEST");
    if (wanted && *wanted) {
        if (realpath(wanted, folder) && is_guest(folder)) return 0;
        return cmd_fail(
            command,
            "CHILIAD_GUEST is '%.200s', which has no include/libhpm.h and lib/libhpm.a; correct it or "
            "unset it",
            wanted);
    }
    if (find_beside_program(folder)) return 0;
    (void)snprintf(folder, PATH_MAX, "%s/share/chiliad/guest", CHILIAD_PREFIX);
    if (is_guest(folder)) return 0;
    return cmd_fail(command,
                    "no guest libraries beside the program or in '%s'; 'make guest' builds them, "
                    "or set CHILIAD_GUEST to their folder",
                    folder);
}

/* --- The command line ------------------------------------------------------------------------ */

static bool is_one_of(const char *word, const char *const *list)
{
    while (*list && strcmp(word, *list) != 0)
        list++;
    return *list;
}

static struct wanted read_words(int argc, char **argv)
{
    static const char *const no_link[] = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only",
                                          "-r", NULL};
    static const char *const not_static[] = {"-shared", "-pie", "-static-pie", NULL};
    static const char *const alone[] = {"-nostdlib", "-nodefaultlibs", NULL};
    static const char *const threads[] = {"-fopenmp", "-pthread", NULL};
    struct wanted w = {.libraries = true};
    bool stops = false, inputs = false;
    for (int i = 0; i < argc; i++) {
        stops |= is_one_of(argv[i], no_link);
        w.shared |= strcmp(argv[i], "-dynamic") == 0 || is_one_of(argv[i], not_static);
        w.is_static |= strcmp(argv[i], "-static") == 0;
        w.threads |= is_one_of(argv[i], threads);
        w.openmp |= strcmp(argv[i], "-fopenmp") == 0;
        if (is_one_of(argv[i], alone)) w.libraries = false;
        if (strcmp(argv[i], "-o") == 0)
            i++; /* a file, but no input */
        else
            inputs |= argv[i][0] != '-' || argv[i][1] == 0 || argv[i][1] == 'l';
    }
    w.link = inputs && !stops; /* without a file the compiler is asked about itself */
    return w;
}

static void add(struct line *line, const char *word)
{
    line->words[line->count++] = word;
}

static void add_libraries(struct line *line, const char *folder, bool shared)
{
    (void)snprintf(line->lib, sizeof line->lib, "-L%s/lib", folder);
    add(line, line->lib);
    if (shared) {
        add(line, "-Xlinker");
        add(line, "-rpath");
        add(line, "-Xlinker");
        add(line, line->lib + 2);
    }
    add(line, "-Wl,--push-state,--as-needed");
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        char path[PATH_MAX + 64];
        (void)snprintf(path, sizeof path, "%s/lib/lib%s.a", folder, libraries[i] + 2);
        if (access(path, R_OK) == 0) add(line, libraries[i]);
    }
    add(line, "-lm");
    add(line, "-Wl,--pop-state");
}

static void build_line(struct line *line, const struct language *l, int argc, char **argv,
                       const char *folder)
{
    struct wanted w = read_words(argc, argv);
    add(line, l->compiler);
    add(line, "-mcpu=440fp");
    if (l->more) add(line, l->more);
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "-dynamic") != 0) add(line, argv[i]);
    (void)snprintf(line->include, sizeof line->include, "-I%s/include", folder);
    add(line, line->include);
    if (w.link && !w.shared && !w.is_static) add(line, "-static");
    bool is_static = w.link && (w.is_static || !w.shared);
    if (is_static && w.threads && l->threads) add(line, l->threads);
    if (is_static && w.openmp) add(line, OPENMP_DLOPEN);
    if (w.link && w.libraries) add_libraries(line, folder, w.shared && !w.is_static);
}

/* As a shell would read it back. */
static void print_line(const struct line *line)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
    for (size_t i = 0; i < line->count; i++) {
        const char *word = line->words[i];
        if (i) (void)putchar(' ');
        if (*word && !word[strspn(word, plain)]) {
            (void)fputs(word, stdout);
            continue;
        }
        (void)putchar('\'');
        for (; *word; word++)
            *word == '\'' ? (void)fputs("'\\''", stdout) : (void)putchar(*word);
        (void)putchar('\'');
    }
    (void)putchar('\n');
}

static int run_line(const struct language *l, const struct line *line)
{
    (void)execvp(l->compiler, (char *const *)line->words); /* which are not changed */
    if (errno == ENOENT)
        return cmd_fail(l->command, "there is no %s; install it with 'apt-get install %s'",
                        l->compiler, l->packages);
    return cmd_fail(l->command, "cannot run %s: %s", l->compiler, strerror(errno));
}

int cmd_cc(int argc, char **argv)
{
    const struct language *l = languages;
    char folder[PATH_MAX];
    while (strcmp(l->command, argv[0]) != 0)
        l++;
    bool print = argc > 1 && strcmp(argv[1], "--print") == 0;
    argc -= 1 + print;
    argv += 1 + print;
    if (argc && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)) {
        options_print_help(stdout, l->command, &cmd_cc_options);
        return 0;
    }
    if (!argc)
        return cmd_fail(l->command, "nothing to compile; see 'chiliad %s --help'", l->command);
    if (find_guest(l->command, folder)) return CMD_BAD;
    struct line *line = calloc(1, sizeof *line);
    if (line) line->words = calloc((size_t)argc + EXTRA_WORDS, sizeof *line->words);
    int status = 0;
    if (!line || !line->words)
        status = cmd_fail(l->command, "out of memory");
    else {
        build_line(line, l, argc, argv, folder);
        if (print)
            print_line(line);
        else
            status = run_line(l, line);
    }
    if (line) free(line->words);
    free(line);
    return status;
}
