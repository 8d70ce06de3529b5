! bgl_perfctr from Fortran: every call, its counts against those of the C form. Lines "ok - NAME" or "not ok - NAME".
program bgl_perfctr_fortran
    use, intrinsic :: iso_c_binding
    implicit none
    include 'bgl_perfctr.inc'
    interface
        integer(c_int) function c_copy_counters(values, bytes) bind(C, name="bgl_perfctr_copy_counters")
            import
            integer(c_long_long) :: values(*)
            integer(c_size_t), value :: bytes
        end function
    end interface
    integer, parameter :: ADDS = BGL_FPU_ARITH_ADD_SUBTRACT, HIGH = BGL_PERFCTR_UPC_EDGE_HI
    integer(8) :: values(0:BGL_PERFCTR_NUM_COUNTERS-1), c(0:BGL_PERFCTR_NUM_COUNTERS-1)
    real(8), volatile :: a(1000) = 1
    type(bgl_perfctr_control_t), pointer :: state
    type(bgl_perfctr_control_t) :: copy
    character(40) :: name
    character(80) :: text
    integer :: i, bytes

    bytes = size(values) * 8
    call same(bgl_perfctr_commit(), -1, "nothing before init_synch")
    call same(bgl_perfctr_init_synch(BGL_PERFCTR_MODE_REMOTE), -1, "init_synch refuses what there is not")
    call same(bgl_perfctr_init_synch(BGL_PERFCTR_MODE_LOCAL), BGL_PERFCTR_MODE_LOCAL, "init_synch returns the mode")
    call same(bgl_perfctr_add_event(ADDS, BGL_PERFCTR_UPC_EDGE_RISE), -1, "add_event: FPUs have no edges")
    call same(bgl_perfctr_add_event(ADDS, HIGH), 0, "add_event")
    call same(bgl_perfctr_add_event(BGL_UPC_L3_CACHE_HIT, BGL_PERFCTR_UPC_EDGE_RISE), 0, "and another")
    call same(bgl_perfctr_commit(), 0, "commit")
    do i = 1, 1000
        a(i) = a(i) + 1d0
    end do
    call same(bgl_perfctr_update(), 0, "update")
    call same(bgl_perfctr_copy_counters(values, bytes), 0, "copy_counters")
    call same(bgl_perfctr_copy_counters(values, bytes - 1), -2, "too little room")
    call same(bgl_perfctr_copy_counters(values, -1), -2, "less than none")
    i = c_copy_counters(c, int(bytes, c_size_t))
    call same(int(values(48)), 1000, "adds of the loop")
    call same(int(values(48) - c(48)), 0, "as many as in C")
    call same(bgl_perfctr_copy_state(copy, int(storage_size(copy)) / 8), 0, "copy_state")
    call c_f_pointer(bgl_perfctr_hwstate(), state)
    call same(state%nmapped, 2, "hwstate: what is mapped")
    call same(state%map(0)%event + state%map(0)%counter_register, ADDS + 48, "an event and its counter")
    call same(state%map(1)%event, BGL_UPC_L3_CACHE_HIT, "and the other")
    call same(state%map(1)%edge + state%map(1)%ref_count, BGL_PERFCTR_UPC_EDGE_RISE + 1, "its edge, how often it is added")
    call same(int(copy%vdata(48) - state%vdata(48)), 0, "vdata: the counts")
    call same(merge(1, 0, copy%in_use == ibset(ibset(0_8, 48), copy%map(1)%counter_register)), 1, "in_use: a bit each")
    call same(copy%ctrl(state%map(1)%cntrl_register), state%ctrl(state%map(1)%cntrl_register), "ctrl: the control words")
    call same(merge(1, 0, copy%latest_update > 0 .and. copy%last(48) == 1000), 1, "latest_update, last")
    call same(bgl_perfctr_remove_event(ADDS, HIGH), 0, "remove_event")
    call same(state%map(0)%new_count, 0, "takes effect later")
    call same(bgl_perfctr_revoke(), 0, "revoke")
    call same(state%map(0)%new_count, 1, "forgets it")
    call same(bgl_perfctr_remove_event(BGL_UPC_TS_ZP_PKTS, HIGH), -1, "remove_event of one that is not there")
    call same(bgl_perfctr_add_remote_counters(), -1, "add_remote_counters")
    call same(bgl_perfctr_dump_state(), 0, "dump_state")
    call same(bgl_perfctr_event_name(BGL_UPC_L3_CACHE_HIT, name), 0, "event_name")
    call same(bgl_perfctr_event_descr(BGL_UPC_L3_CACHE_HIT, text), 0, "event_descr")
    call same(merge(1, 0, name == "BGL_UPC_L3_CACHE_HIT" .and. text /= "" .and. index(text, char(0)) == 0), 1, "filled up")
    call same(bgl_perfctr_event_name(BGL_PERFCTR_NUMEVENTS, name), -1, "no event")
    call same(merge(1, 0, name == ""), 1, "has no name")
    call same(bgl_perfctr_shutdown(), 0, "shutdown")
    call same(bgl_perfctr_update(), -1, "and nothing after it")
contains
    subroutine same(got, wanted, what)
        integer, intent(in) :: got, wanted
        character(*), intent(in) :: what
        print '(3a)', trim(merge("ok    ", "not ok", got == wanted)), " - Fortran: ", what
        if (got /= wanted) print '(a, i0, a, i0)', "# got ", got, ", wanted ", wanted
    end subroutine
end program
