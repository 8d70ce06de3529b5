! PAPI from Fortran: every PAPIF call, its results against those of the C form. Lines "ok - NAME" or "not ok - NAME".
program papi_fortran
    use, intrinsic :: iso_c_binding
    implicit none
    include 'f90papi.h'
    interface
        integer(c_int) function c_start(set) bind(C, name="PAPI_start")
            import
            integer(c_int), value :: set
        end function
        integer(c_int) function c_stop(set, values) bind(C, name="PAPI_stop")
            import
            integer(c_int), value :: set
            integer(c_long_long) :: values(*)
        end function
        integer(c_int) function c_read(set, values) bind(C, name="PAPI_read")
            import
            integer(c_int), value :: set
            integer(c_long_long) :: values(*)
        end function
        integer(c_int) function c_num_hwctrs() bind(C, name="PAPI_num_hwctrs")
            import
        end function
        integer(c_long_long) function c_real_cyc() bind(C, name="PAPI_get_real_cyc")
            import
        end function
    end interface
    integer, parameter :: EVENTS(4) = [PAPI_TOT_INS, PAPI_FP_OPS, PAPI_FAD_INS, PAPI_LST_INS]
    real(8), volatile :: a(4000) = 1
    integer :: set = PAPI_NULL, check

    check = PAPI_VER_CURRENT
    call PAPIF_library_init(check)
    call same(check, PAPI_VER_CURRENT, "library_init returns the version")
    call names()
    call sets()
    call counts()
    call options()
    call threads()
    call times()
    call machine()
    call regions()
    call PAPIF_shutdown()
    call PAPIF_is_initialized(check)
    call same(check, PAPI_NOT_INITED, "shutdown")
contains
    subroutine same8(got, wanted, text)
        integer(8), intent(in) :: got, wanted
        character(*), intent(in) :: text
        print '(3a)', trim(merge("ok    ", "not ok", got == wanted)), " - Fortran: ", text
        if (got /= wanted) print '(a, i0, a, i0)', "# got ", got, ", wanted ", wanted
    end subroutine

    subroutine same(got, wanted, text)
        integer, intent(in) :: got, wanted
        character(*), intent(in) :: text
        call same8(int(got, 8), int(wanted, 8), text)
    end subroutine

    subroutine holds(is, text)
        logical, intent(in) :: is
        character(*), intent(in) :: text
        call same(merge(1, 0, is), 1, text)
    end subroutine

    ! One add, one load and one store each.
    subroutine work(count)
        integer, intent(in) :: count
        integer :: i
        do i = 1, count
            a(i) = a(i) + 1d0
        end do
    end subroutine

    subroutine names()
        character(PAPI_MAX_STR_LEN) :: name, long, short, note
        character(5) :: little
        integer :: code, count, flags, next
        call PAPIF_event_name_to_code("PAPI_FAD_INS  ", code, check)
        call same(code, PAPI_FAD_INS, "event_name_to_code takes blanks off")
        call PAPIF_event_code_to_name(PAPI_FAD_INS, name, check)
        call holds(check == PAPI_OK .and. name == "PAPI_FAD_INS", "event_code_to_name fills up with blanks")
        call holds(index(name, char(0)) == 0, "without a zero")
        call PAPIF_event_code_to_name(PAPI_FAD_INS, little, check)
        call holds(little == "PAPI_", "and cuts off what is too long")
        call PAPIF_query_event(PAPI_FAD_INS, check)
        call same(check, PAPI_OK, "query_event")
        call PAPIF_query_named_event("BGP_PU0_FPU_ADD_SUB_1 ", check)
        call same(check, PAPI_OK, "query_named_event")
        call PAPIF_query_named_event("PAPI_NONE", check)
        call same(check, PAPI_ENOEVNT, "codes of errors are those of C")
        call PAPIF_get_event_info(PAPI_TLB_TL, name, long, short, count, note, flags, check)
        call holds(check == PAPI_OK .and. name == "PAPI_TLB_TL" .and. len_trim(long) > len_trim(short) .and. &
            len_trim(short) > 0 .and. count == 2 .and. flags == PAPI_DERIVED, "get_event_info of a sum")
        call PAPIF_get_event_info(PAPI_FAD_INS, name, long, short, count, note, flags, check)
        call holds(check == PAPI_OK .and. count == 1 .and. flags == 0, "and of one event")
        next = PAPI_L1_DCM
        call PAPIF_enum_event(next, PAPI_ENUM_EVENTS, check)
        call same(next, PAPI_L1_ICM, "enum_event goes on")
        print '(a)', "# a message on standard error:"
        call PAPIF_perror("perror   ")
    end subroutine

    subroutine sets()
        integer :: list(8), count, status, other = PAPI_NULL
        call PAPIF_create_eventset(set, check)
        call same(check, PAPI_OK, "create_eventset")
        call PAPIF_assign_eventset_component(set, 0, check)
        call same(check, PAPI_OK, "assign_eventset_component")
        call PAPIF_add_events(set, EVENTS, 4, check)
        call same(check, PAPI_OK, "add_events")
        call PAPIF_add_event(set, PAPI_TOT_CYC, check)
        call same(check, PAPI_OK, "add_event")
        call PAPIF_add_named_event(set, "PAPI_BR_INS ", check)
        call same(check, PAPI_OK, "add_named_event")
        count = size(list)
        call PAPIF_list_events(set, list, count, check)
        call holds(count == 6 .and. all(list(1:6) == [EVENTS, PAPI_TOT_CYC, PAPI_BR_INS]), "list_events")
        call PAPIF_remove_event(set, PAPI_TOT_CYC, check)
        call same(check, PAPI_OK, "remove_event")
        call PAPIF_remove_named_event(set, "PAPI_BR_INS ", check)
        call same(check, PAPI_OK, "remove_named_event")
        call PAPIF_num_events(set, count)
        call same(count, 4, "num_events")
        call PAPIF_state(set, status, check)
        call same(status, PAPI_STOPPED, "state")
        call PAPIF_create_eventset(other, check)
        call PAPIF_add_events(other, EVENTS, 4, check)
        call PAPIF_multiplex_init(check)
        call same(check, PAPI_OK, "multiplex_init")
        call PAPIF_set_multiplex(other, check)
        call same(check, PAPI_OK, "set_multiplex")
        call PAPIF_get_multiplex(other, check)
        call same(check, 1, "get_multiplex")
        call PAPIF_remove_events(other, EVENTS, 2, check)
        call PAPIF_num_events(other, count)
        call same(count, 2, "remove_events")
        call PAPIF_cleanup_eventset(other, check)
        call same(check, PAPI_OK, "cleanup_eventset")
        call PAPIF_destroy_eventset(other, check)
        call holds(check == PAPI_OK .and. other == PAPI_NULL, "destroy_eventset")
    end subroutine

    ! The way in and out of PAPIF is longer than that of PAPI, but the same for any work.
    subroutine counts()
        integer(8) :: fortran(4, 0:2), c(4, 0:2), values(4), cycles, before
        integer :: i, length
        do i = 0, 2
            length = 1000 * i
            call PAPIF_start(set, check)
            call work(length)
            call PAPIF_stop(set, fortran(:, i), check)
            check = c_start(set)
            call work(length)
            check = c_stop(set, c(:, i))
            if (i == 0) cycle ! shared libraries are bound in this round
            call same8(fortran(2, i), int(length, 8), "operations of the loop")
            call same8(fortran(2, i), c(2, i), "as many as in C")
            call same8(fortran(3, i), c(3, i), "adds as in C")
        end do
        call same8(fortran(1, 2) - fortran(1, 1), c(1, 2) - c(1, 1), "1000 rounds have as many instructions as in C")
        call same8(fortran(4, 2) - fortran(4, 1), 2000_8, "and 2000 loads and stores")
        call PAPIF_read(set, values, check)
        check = c_read(set, c(:, 1))
        call holds(all(values == c(:, 1)) .and. all(values == c(:, 2)), "read gives what C's read gives")
        call PAPIF_start(set, check)
        call work(500)
        call PAPIF_read(set, values, check)
        call same8(values(2), 500_8, "read while it runs")
        before = c_real_cyc()
        call PAPIF_read_ts(set, values, cycles, check)
        call holds(values(2) == 500 .and. cycles >= before .and. cycles <= c_real_cyc(), "read_ts")
        values = 7
        call PAPIF_accum(set, values, check)
        call same8(values(2), 507_8, "accum adds")
        call work(20)
        call PAPIF_reset(set, check)
        call work(3)
        call PAPIF_read(set, values, check)
        call same8(values(2), 3_8, "accum and reset begin anew")
        values = 100
        call PAPIF_write(set, values, check)
        call same(check, PAPI_OK, "write")
        call work(1)
        call PAPIF_stop(set, values, check)
        call same8(values(2), 101_8, "it counts on from what was written")
    end subroutine

    subroutine options()
        integer :: value
        integer(8) :: values(4)
        character(32) :: variable
        call PAPIF_num_hwctrs(value)
        call same(value, c_num_hwctrs(), "num_hwctrs")
        call PAPIF_num_cmp_hwctrs(0, value)
        call same(value, c_num_hwctrs(), "num_cmp_hwctrs")
        call PAPIF_get_clockrate(value)
        call same(value, 850, "get_clockrate: MHz")
        call PAPIF_set_domain(PAPI_DOM_ALL, check)
        call PAPIF_get_domain(set, value, PAPI_DEFDOM, check)
        call same(value, PAPI_DOM_ALL, "set_domain is for new sets")
        call PAPIF_get_domain(set, value, PAPI_DOMAIN, check)
        call same(value, PAPI_DOM_USER, "and not for this one")
        call PAPIF_set_cmp_domain(PAPI_DOM_USER, 0, check)
        call PAPIF_get_domain(set, value, PAPI_DEFDOM, check)
        call same(value, PAPI_DOM_USER, "set_cmp_domain")
        call PAPIF_get_domain(set, value, PAPI_GRANUL, check)
        call same(check, PAPI_EINVAL, "another option is refused")
        call PAPIF_set_event_domain(set, PAPI_DOM_KERNEL, check)
        call PAPIF_start(set, check)
        call work(10)
        call PAPIF_stop(set, values, check)
        call same8(values(2), 0_8, "set_event_domain: no kernel, no counts")
        call PAPIF_set_event_domain(set, PAPI_DOM_USER, check)
        call PAPIF_set_granularity(PAPI_GRN_PROC, check)
        call PAPIF_get_granularity(set, value, PAPI_DEFGRN, check)
        call same(value, PAPI_GRN_PROC, "set_granularity is for new sets")
        call PAPIF_get_granularity(set, value, PAPI_GRANUL, check)
        call same(value, PAPI_GRN_THR, "and not for this one")
        call PAPIF_set_cmp_granularity(PAPI_GRN_THR, 0, check)
        call PAPIF_get_granularity(set, value, PAPI_DEFGRN, check)
        call same(value, PAPI_GRN_THR, "set_cmp_granularity")
        call PAPIF_get_granularity(set, value, PAPI_DOMAIN, check)
        call same(check, PAPI_EINVAL, "another option is refused")
        call PAPIF_set_inherit(PAPI_INHERIT_ALL, check)
        call same(check, PAPI_ENOEVST, "set_inherit has no set")
        call PAPIF_set_debug(PAPI_QUIET, check)
        call same(check, PAPI_OK, "set_debug")
        call PAPIF_get_preload(variable, check)
        call holds(check == PAPI_OK .and. variable == "LD_PRELOAD", "get_preload")
    end subroutine

    integer function thread_number()
        thread_number = 17
    end function

    subroutine threads()
        integer :: id
        call PAPIF_thread_init(thread_number, check)
        call same(check, PAPI_OK, "thread_init")
        call PAPIF_thread_id(id)
        call same(id, 17, "thread_id calls a Fortran function")
        call PAPIF_register_thread(check)
        call same(check, PAPI_OK, "register_thread")
        call PAPIF_lock(PAPI_LOCK_USR1, check)
        call same(check, PAPI_OK, "lock")
        call PAPIF_unlock(PAPI_LOCK_USR1, check)
        call same(check, PAPI_OK, "unlock")
    end subroutine

    subroutine times()
        integer(8) :: cycles, before, after, microseconds, virtual, virtual_time, last, count, core, reference
        real(4) :: real_time, process_time, rate
        integer :: i
        call PAPIF_get_virt_cyc(virtual)
        call PAPIF_get_virt_usec(virtual_time)
        call PAPIF_get_real_nsec(before)
        call PAPIF_get_real_usec(microseconds)
        call PAPIF_get_real_cyc(cycles)
        call PAPIF_get_real_nsec(after)
        call holds(before / 1000 <= microseconds .and. microseconds <= after / 1000, "real time is one clock")
        call holds(before * 85 / 100 <= cycles .and. cycles <= after * 85 / 100, "also in cycles")
        call holds(virtual > 0 .and. virtual / 850 <= virtual_time .and. virtual_time <= microseconds, "virtual time")
        call work(100)
        call PAPIF_get_virt_cyc(last)
        call holds(last > virtual, "which goes on")
        do i = 1, 2
            call PAPIF_flops_rate(PAPI_FP_OPS, real_time, process_time, count, rate, check)
            if (i == 1) call work(1000)
        end do
        call holds(check == PAPI_OK .and. count == 1000 .and. rate > 0 .and. real_time > 0, "flops_rate")
        do i = 1, 2
            call PAPIF_flips_rate(PAPI_FP_INS, real_time, process_time, count, rate, check)
            if (i == 1) call work(1000)
        end do
        call holds(check == PAPI_OK .and. count == 1000 .and. rate > 0, "flips_rate")
        do i = 1, 2
            call PAPIF_ipc(real_time, process_time, count, rate, check)
            if (i == 1) call work(1000)
        end do
        call holds(check == PAPI_OK .and. count > 4000 .and. rate > 0 .and. rate < 2, "ipc")
        do i = 1, 2
            call PAPIF_epc(PAPI_FP_OPS, real_time, process_time, reference, core, count, rate, check)
            if (i == 1) call work(1000)
        end do
        call holds(check == PAPI_OK .and. count == 1000 .and. core > 1000 .and. reference > 1000, "epc")
        call PAPIF_rate_stop(check)
        call same(check, PAPI_OK, "rate_stop")
        call PAPIF_flops_rate(PAPI_TOT_INS, real_time, process_time, count, rate, check)
        call same(check, PAPI_EINVAL, "rates of other events are refused")
    end subroutine

    subroutine machine()
        integer :: cores, nodes, all_cores, vendor, model, handle, value
        integer(8) :: at(6), memory(PAPIF_DMEM_MAXVAL)
        real(4) :: revision, mhz
        character(PAPI_MAX_STR_LEN) :: vendor_name, model_name, name
        character(PAPI_HUGE_STR_LEN) :: full_name
        call PAPIF_get_hardware_info(cores, nodes, all_cores, vendor, vendor_name, model, model_name, revision, mhz)
        call holds(cores == 4 .and. nodes == 1 .and. all_cores == 4 .and. vendor == PAPI_VENDOR_IBM .and. &
            vendor_name == "IBM" .and. len_trim(model_name) > 0 .and. mhz == 850, "get_hardware_info")
        call PAPIF_get_exe_info(full_name, name, at(1), at(2), at(3), at(4), at(5), at(6), check)
        call holds(check == PAPI_OK .and. index(full_name, "/" // trim(name)) > 0 .and. at(1) > 0 .and. &
            at(1) < at(2) .and. at(2) <= at(3) .and. at(3) < at(4) .and. at(4) <= at(5) .and. at(5) <= at(6), &
            "get_exe_info")
        call PAPIF_get_dmem_info(memory, check)
        call holds(check == PAPI_OK .and. memory(PAPIF_DMEM_PAGESIZE) == 4096 .and. &
            memory(PAPIF_DMEM_VMSIZE) >= memory(PAPIF_DMEM_STACK) .and. memory(PAPIF_DMEM_STACK) > 0, "get_dmem_info")
        call PAPIF_get_dev_type_attr(handle, PAPI_DEV_TYPE_ATTR__INT_COUNT, value, name, check)
        call same(check, PAPI_EINVAL, "no attributes before enum_dev_type")
        call PAPIF_enum_dev_type(PAPI_DEV_TYPE_ENUM__CPU, handle, check)
        call same(check, PAPI_OK, "enum_dev_type")
        call PAPIF_get_dev_type_attr(handle, PAPI_DEV_TYPE_ATTR__CHAR_NAME, value, name, check)
        call holds(check == PAPI_OK .and. name == "IBM", "get_dev_type_attr of a text")
        call PAPIF_get_dev_type_attr(handle, PAPI_DEV_TYPE_ATTR__INT_COUNT, value, name, check)
        call same(value, 1, "and of a number")
        call PAPIF_get_dev_attr(handle, 0, PAPI_DEV_ATTR__CPU_UINT_L1D_CACHE_SIZE, value, name, check)
        call same(value, 32768, "get_dev_attr of a number")
        call PAPIF_get_dev_attr(handle, 0, PAPI_DEV_ATTR__CPU_CHAR_NAME, value, name, check)
        call holds(check == PAPI_OK .and. name == model_name, "and of a text")
        call PAPIF_enum_dev_type(PAPI_DEV_TYPE_ENUM__CPU, handle, check)
        call same(check, PAPI_EINVAL, "there is one kind of device")
    end subroutine

    subroutine regions()
        call PAPIF_hl_region_begin("solver  ", check)
        call same(check, PAPI_OK, "hl_region_begin")
        call work(1000)
        call PAPIF_hl_read("solver ", check)
        call same(check, PAPI_OK, "hl_read")
        call PAPIF_hl_region_end("solver", check)
        call same(check, PAPI_OK, "hl_region_end")
        call PAPIF_hl_region_end("never", check)
        call holds(check /= PAPI_OK, "a region that was not begun")
        call PAPIF_hl_stop(check)
        call same(check, PAPI_OK, "hl_stop")
        call PAPIF_unregister_thread(check)
        call same(check, PAPI_OK, "unregister_thread")
    end subroutine
end program
