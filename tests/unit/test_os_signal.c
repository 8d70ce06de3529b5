/* Signals, timers and faults of the operating system, on a scripted core (rig_os_script.inc): what
 * handlers find, what comes back, and how a program ends. Cycles are exact: an act takes 10, a
 * delivery none. */
#include "rig_os_script.inc"

/* ---- signals ---- */

#define SIGACTION(signal, handler, flags)                                                          \
    PUT(DATA(40), handler), PUT(DATA(41), flags), CALL(173, signal, DATA(40), 0, 8)

enum { SIGINFO = 4, RESTART = 0x10000000, ONSTACK = 0x08000000 };

/* A handler with siginfo finds its arguments, the interrupted place and registers, and all comes
 * back. */
static void a_handler_finds_its_frame(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {SIGACTION(10, AT(20), SIGINFO),
                                        SET(1, STACK(1)),
                                        SET(14, 1414),
                                        CALL(20),
                                        CALL(250, 1000, 1000, 10),
                                        NOTE("back"),
                                        REGISTER(14),
                                        NOTE("r14"),
                                        EXIT(0),
                                        [20] = NOTE("signal"),
                                        SET(14, 0),
                                        LOAD(4, 8),
                                        NOTE("code"),
                                        LOAD(4, 12),
                                        NOTE("pid"),
                                        LOAD(5, 48),
                                        SET(15, 0),
                                        REGISTER(5),
                                        LOAD(5, 192 + 4 * 32),
                                        NOTE("nip"),
                                        LOAD(5, 192 + 4 * 14),
                                        NOTE("old r14"),
                                        REGISTER(1),
                                        NOTE("r1"),
                                        RETURN};
    RUN(&run, 1, script);
    char expected[512];
    /* The frame is 1536 bytes below r1, the stack frame 80 below that. The nip is the act after
     * tgkill. */
    (void)snprintf(
        expected, sizeof expected,
        "80/0 signal 10\n110/0 code -6\n130/0 pid 1000\n180/0 nip %u\n200/0 old r14 1414\n220/0 r1 %u\n"
        "260/0 back 0\n280/0 r14 1414\n",
        AT(7), STACK(1) - 1536 - 80);
    EXPECT_LOG(&run, expected);
}

/* Without SA_SIGINFO the frame is the old one: r4 is a sigcontext whose last word leads to the
 * registers. */
static void an_old_handler_finds_its_frame(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {
        SIGACTION(10, AT(20), 0), SET(1, STACK(1)), CALL(37, 1000, 10), NOTE("back"), EXIT(0),
        [20] = NOTE("signal"),    LOAD(4, 16),      NOTE("number"),     LOAD(4, 28),  SET(15, 0),
        LOAD(4, 32 + 4 * 32),     NOTE("nip"),      REGISTER(1),        NOTE("r1"),   RETURN};
    RUN(&run, 1, script);
    char expected[512];
    (void)snprintf(expected, sizeof expected,
                   "60/0 signal 10\n80/0 number 10\n120/0 nip %u\n140/0 r1 %u\n180/0 back 0\n",
                   AT(5), STACK(1) - 1248 - 64);
    EXPECT_LOG(&run, expected);
}

static void a_handler_runs_on_its_stack(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {PUT(DATA(50), STACK(3)),
                                        PUT(DATA(52), 0x2000),
                                        CALL(185, DATA(50), 0),
                                        NOTE("set"),
                                        SIGACTION(10, AT(20), SIGINFO | ONSTACK),
                                        CALL(37, 1000, 10),
                                        NOTE("back"),
                                        EXIT(0),
                                        [20] = REGISTER(1),
                                        NOTE("r1"),
                                        CALL(185, 0, DATA(60)),
                                        GET(DATA(61)),
                                        NOTE("on it"),
                                        CALL(185, DATA(50), 0),
                                        NOTE("busy"),
                                        RETURN};
    RUN(&run, 1, script);
    char expected[512];
    (void)snprintf(expected, sizeof expected,
                   "40/0 set 0\n100/0 r1 %u\n130/0 on it 1\n150/0 busy !1\n190/0 back 0\n",
                   STACK(2) - 1536 - 80);
    EXPECT_LOG(&run, expected);
}

/* A second task sends SIGUSR1 at about 1000 while the first waits for a child, then sleeps. */
static void calls_restart_or_end_with_eintr(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {SIGACTION(10, AT(40), RESTART),
                                        SET(1, STACK(2)),
                                        CALL(2),
                                        JUMP_ZERO(20),
                                        CALL(114, UINT32_MAX, DATA(1), 0, 0),
                                        NOTE("restarted"),
                                        PUT(DATA(1), 5000),
                                        CALL(2),
                                        JUMP_ZERO(20),
                                        CALL(162, DATA(0), DATA(2)),
                                        NOTE("sleep"),
                                        GET(DATA(3)),
                                        NOTE("left"),
                                        EXIT(0),
                                        [20] = SPEND(1000),
                                        CALL(37, 1000, 10),
                                        SPEND(500),
                                        EXIT(0),
                                        [40] = NOTE("handler"),
                                        RETURN};
    RUN(&run, 2, script);
    EXPECT_LOG(
        &run,
        "1080/0 handler 10\n1590/0 restarted 1001\n2640/0 handler !10\n2680/0 sleep !4\n2700/0 left !4000\n");
}

static void sigsuspend_changes_the_mask_for_its_time(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {SIGACTION(10, AT(20), SIGINFO),
                                        SET(1, STACK(2)),
                                        PUT(DATA(0), 0x200),
                                        CALL(174, 0, DATA(0), 0, 8),
                                        CALL(37, 1000, 10),
                                        NOTE("blocked"),
                                        CALL(175, DATA(4), 8),
                                        GET(DATA(4)),
                                        NOTE("pending"),
                                        CALL(178, DATA(2), 8),
                                        NOTE("suspended"),
                                        CALL(174, 0, 0, DATA(4), 8),
                                        GET(DATA(4)),
                                        NOTE("mask"),
                                        EXIT(0),
                                        [20] = NOTE("handler"),
                                        LOAD(5, 52),
                                        NOTE("saved mask"),
                                        RETURN};
    RUN(&run, 1, script);
    EXPECT_LOG(
        &run,
        "80/0 blocked 0\n110/0 pending 512\n130/0 handler !10\n150/0 saved mask !512\n190/0 suspended !4\n"
        "220/0 mask 512\n");
}

static void sigtimedwait_takes_signals_and_time(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {PUT(DATA(0), 0x200),
                                        CALL(174, 0, DATA(0), 0, 8),
                                        CALL(2),
                                        JUMP_ZERO(20),
                                        CALL(176, DATA(0), DATA(4), 0, 8),
                                        NOTE("signal"),
                                        GET(DATA(7)),
                                        NOTE("from"),
                                        PUT(DATA(3), 2000),
                                        CALL(176, DATA(0), 0, DATA(2), 8),
                                        NOTE("time"),
                                        EXIT(0),
                                        [20] = SPEND(500),
                                        CALL(37, 1000, 10),
                                        EXIT(0)};
    RUN(&run, 2, script);
    EXPECT_LOG(&run, "560/0 signal 10\n580/0 from 1001\n2610/0 time !11\n");
}

static void real_time_signals_queue_with_their_values(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {PUT(DATA(1), 0x2),
                                        PUT(DATA(0), 0),
                                        CALL(174, 0, DATA(0), 0, 8),
                                        PUT(DATA(10), (uint32_t)-1),
                                        PUT(DATA(13), 11),
                                        CALL(177, 1000, 34, DATA(8)),
                                        PUT(DATA(13), 22),
                                        CALL(177, 1000, 34, DATA(8)),
                                        CALL(176, DATA(0), DATA(50), 0, 8),
                                        NOTE("signal"),
                                        GET(DATA(55)),
                                        NOTE("value"),
                                        CALL(176, DATA(0), DATA(50), 0, 8),
                                        GET(DATA(55)),
                                        NOTE("value"),
                                        EXIT(0)};
    RUN(&run, 1, script);
    EXPECT_LOG(&run, "100/0 signal 34\n120/0 value 11\n150/0 value 22\n");
}

static void timers_fire_in_simulated_time(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {SIGACTION(14, AT(20), 0),
                                        SET(1, STACK(2)),
                                        PUT(DATA(1), 3),
                                        PUT(DATA(3), 2),
                                        CALL(104, 0, DATA(0), 0),
                                        SPEND(9000),
                                        CALL(105, 0, DATA(4)),
                                        GET(DATA(7)),
                                        NOTE("left"),
                                        EXIT(0),
                                        [20] = NOTE("alarm"),
                                        RETURN};
    RUN(&run, 1, script);
    /* Set at 70 for 2000 ns, then every 3000: 2070, 5070, 8070; the handlers cost 40 cycles each.
     */
    EXPECT_LOG(&run, "2080/0 alarm 14\n5080/0 alarm 14\n8080/0 alarm 14\n9220/0 left 1\n");
}

static void processor_time_has_its_own_timer(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {SIGACTION(27, AT(20), 0),
                                        SET(1, STACK(2)),
                                        PUT(DATA(3), 2),
                                        CALL(104, 2, DATA(0), 0),
                                        PUT(DATA(5), 7000),
                                        CALL(162, DATA(4), 0),
                                        SPEND(5000),
                                        EXIT(0),
                                        [20] = NOTE("prof"),
                                        RETURN};
    RUN(&run, 1, script);
    /* Armed at 60; asleep from 80 to 7080; 2000 cycles of use are over at 9060. */
    EXPECT_LOG(&run, "9070/0 prof 27\n");
}

/* ---- faults ---- */

static void a_fault_without_handler_is_a_crash(void **state)
{
    (void)state;
    static const struct {
        enum core_reason reason;
        int signal, code;
        uint32_t address;
    } rows[] = {{CORE_LOAD, 11, 1, 0x1234},     {CORE_STORE, 11, 1, 0x1234},
                {CORE_FETCH, 11, 1, AT(1)},     {CORE_ILLEGAL, 4, 1, AT(1)},
                {CORE_PRIVILEGED, 4, 5, AT(1)}, {CORE_TRAP, 5, 1, AT(1)},
                {CORE_ALIGNMENT, 7, 1, 0x1234}, {CORE_CALLTHRU, 4, 1, AT(1) - 4},
                {CORE_FP, 8, 14, AT(1)}};
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        struct run run;
        const struct act script[] = {SET(3, 5), STOP(rows[row].reason, 0x1234)};
        RUN(&run, 1, script);
        assert_int_equal(run.result.status, 128 + rows[row].signal);
        assert_true(run.result.killed);
        const struct os_crash *crash = &run.result.crash;
        assert_int_equal(crash->signal, rows[row].signal);
        assert_int_equal(crash->code, rows[row].code);
        assert_int_equal(crash->address, rows[row].address);
        assert_int_equal(crash->pc, rows[row].reason == CORE_CALLTHRU ? AT(1) - 4 : AT(1));
        assert_true(crash->has_instruction);
        assert_int_equal(crash->regs.gpr[3], 5);
        assert_int_equal(crash->tid, 1000);
    }
}

static void a_fault_can_be_handled_but_not_blocked(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {SIGACTION(11, AT(20), SIGINFO),
                                        SET(1, STACK(2)),
                                        STOP(CORE_LOAD, 0x99),
                                        NOTE("not here"),
                                        EXIT(1),
                                        [20] = LOAD(4, 12),
                                        NOTE("address"),
                                        PUT(DATA(0), 0x400),
                                        CALL(174, 0, DATA(0), 0, 8),
                                        STOP(CORE_LOAD, 0x77)};
    RUN(&run, 1, script);
    EXPECT_LOG(&run, "70/0 address 153\n");
    assert_int_equal(run.result.status, 128 + 11);
    assert_int_equal(run.result.crash.address, 0x77);
}

/* A handler whose stack is gone: SIGSEGV, whatever the signal was. */
static void a_frame_that_does_not_fit_is_a_crash(void **state)
{
    (void)state;
    struct run run;
    static const struct act script[] = {SIGACTION(10, AT(0), SIGINFO), SET(1, 0x100),
                                        CALL(37, 1000, 10), EXIT(0)};
    RUN(&run, 1, script);
    assert_int_equal(run.result.status, 128 + 11);
    assert_int_equal(run.result.crash.signal, 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handler_finds_its_frame),
        cmocka_unit_test(an_old_handler_finds_its_frame),
        cmocka_unit_test(a_handler_runs_on_its_stack),
        cmocka_unit_test(calls_restart_or_end_with_eintr),
        cmocka_unit_test(sigsuspend_changes_the_mask_for_its_time),
        cmocka_unit_test(sigtimedwait_takes_signals_and_time),
        cmocka_unit_test(real_time_signals_queue_with_their_values),
        cmocka_unit_test(timers_fire_in_simulated_time),
        cmocka_unit_test(processor_time_has_its_own_timer),
        cmocka_unit_test(a_fault_without_handler_is_a_crash),
        cmocka_unit_test(a_fault_can_be_handled_but_not_blocked),
        cmocka_unit_test(a_frame_that_does_not_fit_is_a_crash),
    };
    return cmocka_run_group_tests(tests, make_program, remove_program);
}
