/* Tasks, processes and time of the operating system, on a scripted core (rig_os_script.inc): who
 * runs when and what calls return. Every number of cycles is demanded exactly: an act takes 10, a
 * call no more than its act. */
#include "rig_os_script.inc"

/* ---- calls ---- */

static void every_call_has_the_name_linux_gives_it(void **state)
{
    (void)state;
#define X(number, name, handler) assert_string_equal(os_call_name(number), #name);
#include "machine/os/os_calls.def"
#undef X
    assert_null(os_call_name(511));
    assert_null(os_call_name(UINT32_MAX));
}

static void exit_status_passes_through(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {CALL(20), NOTE("pid"), CALL(24), NOTE("uid"), EXIT(42)};
    RUN(&run, 1, script);
    EXPECT_LOG(&run, "20/0 pid 1000\n40/0 uid 1000\n");
    assert_int_equal(run.result.status, 42);
    assert_false(run.result.killed);
    assert_int_equal(run.result.cycles, 50);
}

static void unsupported_calls_are_named_once(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {CALL(26),     NOTE("ptrace"), CALL(26),     CALL(387),
                                        NOTE("rseq"), CALL(600),      NOTE("none"), EXIT(0)};
    RUN(&run, 1, script);
    EXPECT_LOG(&run, "20/0 ptrace !38\n50/0 rseq !38\n70/0 none !38\n");
    assert_string_equal(run.cores.said,
                        "system call 'ptrace' (26) is not supported; returning ENOSYS\n"
                        "system call '?' (600) is not supported; returning ENOSYS\n");
}

static void random_numbers_are_the_same_every_time(void **state)
{
    (void)state;
    struct run run, again;
    static const struct act script[] = {
        CALL(359, DATA(0), 8), NOTE("length"), GET(DATA(0)), NOTE("first"),
        GET(DATA(1)),          NOTE("second"), EXIT(0)};
    RUN(&run, 1, script);
    RUN(&again, 1, script);
    assert_non_null(strstr(run.cores.log, "length 8\n"));
    EXPECT_LOG(&again, run.cores.log);
}

/* ---- threads, futexes, time ---- */

/* The waiter is on core 1 since cycle 10; it cannot return before the waker's call at 1030, and its
 * act of 10 follows.
 */
static void a_woken_task_does_not_run_before_its_waker(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {
        PTHREAD(STACK(0), 8),          JUMP_ZERO(20),  NOTE("tid"), SPEND(1000),
        FUTEX_WAKE(DATA(0), 1),        NOTE("woken"),  SPEND(3000), EXIT(0),
        [20] = FUTEX_WAIT(DATA(0), 0), NOTE("waited"), THREAD_EXIT};
    RUN(&run, 2, script);
    EXPECT_LOG(&run, "30/0 tid 1001\n1050/0 woken 1\n1050/1 waited 0\n");
}

static void futexes_wake_in_the_order_of_waiting(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {PTHREAD(STACK(0), 8),
                                        JUMP_ZERO(40),
                                        PTHREAD(STACK(1), 9),
                                        JUMP_ZERO(20),
                                        SPEND(5000),
                                        FUTEX_WAKE(DATA(0), 1),
                                        SPEND(3000),
                                        FUTEX_WAKE(DATA(0), 10),
                                        NOTE("rest"),
                                        SPEND(3000),
                                        EXIT(0),
                                        [20] = SPEND(100),
                                        JUMP(40),
                                        [40] = SPEND(50),
                                        FUTEX_WAIT(DATA(0), 0),
                                        CALL(207),
                                        NOTE("tid"),
                                        THREAD_EXIT};
    RUN(&run, 4, script);
    EXPECT_LOG(&run, "5070/1 tid 1001\n8070/0 rest 1\n8080/2 tid 1002\n");
}

static void futex_values_and_limits(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {PUT(DATA(0), 7),
                                        FUTEX_WAIT(DATA(0), 6),
                                        NOTE("changed"),
                                        PUT(DATA(3), 1000),
                                        CALL(221, DATA(0), 128, 7, DATA(2)),
                                        NOTE("relative"),
                                        CALL(403, 1, DATA(4)),
                                        GET(DATA(7)),
                                        NOTE("ns"),
                                        PUT(DATA(3), 4000),
                                        CALL(221, DATA(0), 137, 7, DATA(2), 0, UINT32_MAX),
                                        NOTE("absolute"),
                                        CALL(221, DATA(0) + 2, 128, 7),
                                        NOTE("unaligned"),
                                        CALL(221, 0, 128, 7),
                                        NOTE("unmapped"),
                                        EXIT(0)};
    RUN(&run, 1, script);
    EXPECT_LOG(&run,
               "30/0 changed !11\n1060/0 relative !110\n1090/0 ns 1070\n4010/0 absolute !110\n"
               "4030/0 unaligned !22\n4050/0 unmapped !14\n");
}

static void futex_requeue_moves_waiters(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {PTHREAD(STACK(0), 8),
                                        JUMP_ZERO(20),
                                        PTHREAD(STACK(1), 9),
                                        JUMP_ZERO(20),
                                        SPEND(5000),
                                        CALL(221, DATA(0), 132, 1, 10, DATA(1), 0),
                                        NOTE("requeued"),
                                        SPEND(1000),
                                        FUTEX_WAKE(DATA(0), 10),
                                        NOTE("old"),
                                        FUTEX_WAKE(DATA(1), 10),
                                        EXIT(3),
                                        [20] = FUTEX_WAIT(DATA(0), 0),
                                        CALL(207),
                                        NOTE("tid"),
                                        THREAD_EXIT};
    RUN(&run, 4, script);
    EXPECT_LOG(&run, "5060/0 requeued 2\n5070/1 tid 1001\n6080/0 old 0\n");
    assert_int_equal(run.result.status, 3);
}

/* pthread_join: the word that CLONE_CHILD_CLEARTID names is cleared and woken when the thread is
 * gone. */
static void the_end_of_a_thread_is_seen(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {
        PTHREAD(STACK(0), 8), JUMP_ZERO(20), CALL(221, DATA(8), 0, 1001), NOTE("joined"),
        GET(DATA(8)),         EXIT(0),       [20] = SPEND(500),           THREAD_EXIT};
    RUN(&run, 2, script);
    EXPECT_LOG(&run, "540/0 joined 0\n");
}

static void robust_locks_outlive_their_owner(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {
        PTHREAD(STACK(0), 8),
        JUMP_ZERO(20),
        SPEND(2000),
        FUTEX_WAIT(DATA(20), 0x800003e9),
        NOTE("lock"),
        GET(DATA(20)),
        JUMP(40),
        /* the list has one entry, DATA(22), whose word is 8 bytes before it */[20] =
            PUT(DATA(24), DATA(22)),
        PUT(DATA(22), DATA(24)),
        PUT(DATA(25), (uint32_t)-8),
        CALL(300, DATA(24), 12),
        PUT(DATA(20), 0x800003e9),
        SPEND(3000),
        THREAD_EXIT,
        [40] = NOTE("word"),
        EXIT(0)};
    RUN(&run, 2, script);
    EXPECT_LOG(&run, "3090/0 lock 0\n3120/0 word -1073741824\n");
}

static void tasks_of_one_core_take_turns(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {
        PTHREAD(STACK(0), 8), JUMP_ZERO(20), SPEND(150000),    JUMP(40),
        [20] = SPEND(120000), JUMP(40),      [40] = CALL(207), NOTE("tid"),
        THREAD_EXIT};
    RUN(&run, 1, script);
    /* 1000 runs 100000 cycles, then 1001, then 1000 to its end: 100000 of 1001 came between. */
    EXPECT_LOG(&run, "250050/0 tid 1000\n270100/0 tid 1001\n");
}

static void affinity_moves_a_task(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {CALL(223, 0, 8, DATA(0)),
                                        NOTE("bytes"),
                                        GET(DATA(0)),
                                        NOTE("mask"),
                                        PUT(DATA(0), 4),
                                        CALL(222, 0, 4, DATA(0)),
                                        CALL(302, DATA(1), 0),
                                        GET(DATA(1)),
                                        NOTE("core"),
                                        PUT(DATA(0), 16),
                                        CALL(222, 0, 4, DATA(0)),
                                        NOTE("none"),
                                        EXIT(0)};
    RUN(&run, 4, script);
    EXPECT_LOG(&run, "20/0 bytes 4\n40/0 mask 15\n90/2 core 2\n120/2 none !22\n");
}

static void sleeping_takes_the_time_asked_for(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {PUT(DATA(1), 5000),
                                        CALL(162, DATA(0), 0),
                                        NOTE("slept"),
                                        PUT(DATA(1), 12345),
                                        CALL(248, 1, 1, DATA(0), 0),
                                        NOTE("until"),
                                        CALL(78, DATA(2), 0),
                                        GET(DATA(2)),
                                        NOTE("1970"),
                                        GET(DATA(3)),
                                        NOTE("us"),
                                        PUT(DATA(1), 1000000000),
                                        CALL(162, DATA(0), 0),
                                        NOTE("bad"),
                                        CALL(246, 2, DATA(2)),
                                        GET(DATA(3)),
                                        NOTE("used"),
                                        EXIT(0)};
    RUN(&run, 1, script);
    EXPECT_LOG(
        &run,
        "5030/0 slept 0\n12355/0 until 0\n12385/0 1970 1230768000\n12405/0 us 12\n12435/0 bad !22\n"
        "12465/0 used 150\n");
}

static void deadlock_is_said_and_ends(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {FUTEX_WAIT(DATA(0), 0), NOTE("never"), EXIT(0)};
    RUN(&run, 1, script);
    EXPECT_LOG(&run, "");
    assert_int_equal(run.result.status, 128 + 9);
    assert_non_null(strstr(run.cores.said, "deadlock"));
    assert_non_null(strstr(run.cores.said, "'futex'"));
}

/* ---- processes ---- */

static void fork_copies_and_wait_tells(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {PUT(DATA(0), 1),
                                        CALL(2),
                                        JUMP_ZERO(20),
                                        NOTE("fork"),
                                        CALL(114, UINT32_MAX, DATA(1), 0, 0),
                                        NOTE("wait"),
                                        GET(DATA(1)),
                                        NOTE("status"),
                                        GET(DATA(0)),
                                        NOTE("own"),
                                        CALL(114, UINT32_MAX, DATA(1), 0, 0),
                                        JUMP(40),
                                        [20] = PUT(DATA(0), 2),
                                        CALL(64),
                                        NOTE("parent"),
                                        CALL(234, 9),
                                        [40] = NOTE("no more"),
                                        EXIT(5)};
    RUN(&run, 2, script);
    EXPECT_LOG(&run,
               "40/0 fork 1001\n60/1 parent 1000\n80/0 wait 1001\n100/0 status 2304\n120/0 own 1\n"
               "150/0 no more !10\n");
    assert_int_equal(run.result.status, 5);
}

static void vfork_shares_memory_and_waits(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {CALL(189),        JUMP_ZERO(20), NOTE("child"),
                                        GET(DATA(0)),     JUMP(40),      [20] = SPEND(300),
                                        PUT(DATA(0), 77), CALL(234, 0),  [40] = NOTE("shared"),
                                        EXIT(0)};
    RUN(&run, 2, script);
    EXPECT_LOG(&run, "360/0 child 1001\n390/0 shared 77\n");
}

/* execve of the same script: with two arguments it ends at once. */
static void exec_replaces_the_program(void **state)
{
    (void)state;
    static struct act script[] = {LOAD(1, 0),
                                  NOTE("argc"),
                                  CALL(207),
                                  NOTE("tid"),
                                  GET(DATA(0)),
                                  NOTE("data"),
                                  LOAD(1, 8),
                                  JUMP_ZERO(20), /* no argv[1] */
                                  EXIT(6),
                                  [20] = PUT(DATA(0), 99),
                                  CALL(11, DATA(4), DATA(0), 0),
                                  NOTE("missing"),
                                  PUT(DATA(0), DATA(8)),
                                  PUT(DATA(1), DATA(8)),
                                  JUMP(40),
                                  /* the path */[40] = PUT(DATA(8), 0),
                                  PUT(DATA(9), 0),
                                  PUT(DATA(10), 0),
                                  PUT(DATA(11), 0),
                                  PUT(DATA(12), 0),
                                  PUT(DATA(13), 0),
                                  CALL(11, DATA(8), DATA(0), 0),
                                  NOTE("failed"),
                                  EXIT(1)};
    for (unsigned w = 0; w < sizeof program / 4; w++)
        script[40 + w].b[0] = mem_host_get32(program + (size_t)4 * w);
    struct run run;
    RUN(&run, 1, script);
    EXPECT_LOG(&run, "20/0 argc 1\n40/0 tid 1000\n60/0 data 0\n110/0 missing !14\n"
                     "230/0 argc 2\n250/0 tid 1000\n270/0 data 0\n");
    assert_int_equal(run.result.status, 6);
}

static void a_signal_kills_a_process(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {CALL(2),      JUMP_ZERO(20),
                                        SPEND(100),   CALL(37, 1001, 15),
                                        NOTE("kill"), CALL(7, 1001, DATA(1), 0),
                                        GET(DATA(1)), NOTE("status"),
                                        EXIT(0),      [20] = CALL(29),
                                        NOTE("never")};
    RUN(&run, 2, script);
    EXPECT_LOG(&run, "140/0 kill 0\n170/0 status 15\n");
    assert_false(run.result.killed);
}

/* ---- the same run gives the same bits ---- */

static void runs_repeat_exactly(void **state)
{
    (void)state;
    struct run run, again;
    static const struct act script[] = {PTHREAD(STACK(0), 8),
                                        JUMP_ZERO(20),
                                        PTHREAD(STACK(1), 9),
                                        JUMP_ZERO(20),
                                        PTHREAD(STACK(2), 10),
                                        JUMP_ZERO(20),
                                        PTHREAD(STACK(3), 11),
                                        JUMP_ZERO(20),
                                        JUMP(20),
                                        [20] = SPEND(2500),
                                        CALL(207),
                                        NOTE("a"),
                                        FUTEX_WAKE(DATA(0), 1),
                                        NOTE("w"),
                                        CALL(221, DATA(0), 128, 0, DATA(2)),
                                        NOTE("b"),
                                        SPEND(1000),
                                        CALL(158),
                                        CALL(207),
                                        NOTE("c"),
                                        THREAD_EXIT};
    RUN(&run, 3, script);
    RUN(&again, 3, script);
    assert_true(strlen(run.cores.log) > 200);
    EXPECT_LOG(&again, run.cores.log);
    assert_int_equal(run.result.cycles, again.result.cycles);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t sort_lines(char *log, char **line, size_t limit)
{
    size_t count = 0;
    for (char *at = log, *end; count < limit && (end = strchr(at, '\n')); at = end + 1) {
        *end = 0;
        line[count++] = at;
    }
    qsort(line, count, sizeof *line, compare_lines);
    return count;
}

/* Four tasks on three cores that meet in calls only: what every call returns, and when, does not
 * depend on how far the cores may run apart. Only the order in which the host gets to the notes
 * does. */
static void calls_happen_in_the_order_of_time_whatever_the_quantum(void **state)
{
    (void)state;
    enum { LINES = 64 };
    static const struct act script[] = {PTHREAD(STACK(0), 8),
                                        JUMP_ZERO(20),
                                        PTHREAD(STACK(1), 9),
                                        JUMP_ZERO(30),
                                        PTHREAD(STACK(2), 10),
                                        JUMP_ZERO(40),
                                        SPEND(7777),
                                        JUMP(50),
                                        [20] = SPEND(3100),
                                        FUTEX_WAIT(DATA(0), 0),
                                        NOTE("waited"),
                                        SPEND(333),
                                        JUMP(50),
                                        [30] = SPEND(2900),
                                        FUTEX_WAIT(DATA(0), 0),
                                        NOTE("waited"),
                                        SPEND(111),
                                        JUMP(50),
                                        [40] = SPEND(5000),
                                        FUTEX_WAKE(DATA(0), 1),
                                        NOTE("first"),
                                        SPEND(400),
                                        FUTEX_WAKE(DATA(0), 1),
                                        NOTE("second"),
                                        JUMP(50),
                                        [50] = CALL(359, DATA(90), 4),
                                        GET(DATA(90)),
                                        NOTE("random"),
                                        SPEND(1234),
                                        CALL(207),
                                        NOTE("tid"),
                                        THREAD_EXIT};
    struct run first, other;
    char *line[LINES], *again[LINES];
    RUN_QUANTUM(&first, 3, 1000, script);
    size_t count = sort_lines(first.cores.log, line, LINES);
    assert_int_equal(count, 12);
    static const uint64_t quanta[] = {1, 37, 250, 4000};
    for (size_t q = 0; q < sizeof quanta / sizeof *quanta; q++) {
        RUN_QUANTUM(&other, 3, quanta[q], script);
        assert_int_equal(sort_lines(other.cores.log, again, LINES), count);
        for (size_t n = 0; n < count; n++)
            assert_string_equal(again[n], line[n]);
        assert_int_equal(other.result.cycles, first.result.cycles);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_has_the_name_linux_gives_it),
        cmocka_unit_test(exit_status_passes_through),
        cmocka_unit_test(unsupported_calls_are_named_once),
        cmocka_unit_test(random_numbers_are_the_same_every_time),
        cmocka_unit_test(a_woken_task_does_not_run_before_its_waker),
        cmocka_unit_test(futexes_wake_in_the_order_of_waiting),
        cmocka_unit_test(futex_values_and_limits),
        cmocka_unit_test(futex_requeue_moves_waiters),
        cmocka_unit_test(the_end_of_a_thread_is_seen),
        cmocka_unit_test(robust_locks_outlive_their_owner),
        cmocka_unit_test(tasks_of_one_core_take_turns),
        cmocka_unit_test(affinity_moves_a_task),
        cmocka_unit_test(sleeping_takes_the_time_asked_for),
        cmocka_unit_test(deadlock_is_said_and_ends),
        cmocka_unit_test(fork_copies_and_wait_tells),
        cmocka_unit_test(vfork_shares_memory_and_waits),
        cmocka_unit_test(exec_replaces_the_program),
        cmocka_unit_test(a_signal_kills_a_process),
        cmocka_unit_test(runs_repeat_exactly),
        cmocka_unit_test(calls_happen_in_the_order_of_time_whatever_the_quantum),
    };
    return cmocka_run_group_tests(tests, make_program, remove_program);
}
