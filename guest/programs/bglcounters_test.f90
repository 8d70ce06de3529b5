! BGLCounters from Fortran: every call, its results against those of the C form. Lines "ok - NAME" or "not ok - NAME".
program bglcounters_fortran
    use, intrinsic :: iso_c_binding
    implicit none
    include 'bglcounters.inc'
    interface
        integer(c_int) function c_start() bind(C, name="BGLCounters_Start")
            import
        end function
        integer(c_int) function c_stop() bind(C, name="BGLCounters_Stop")
            import
        end function
        integer(c_int) function c_reset() bind(C, name="BGLCounters_Reset")
            import
        end function
        integer(c_int) function c_read(user, kernel) bind(C, name="BGLCounters_Read")
            import
            integer(c_int64_t) :: user(*), kernel(*)
        end function
        type(c_ptr) function c_name(counter) bind(C, name="BGLCounters_Name")
            import
            integer(c_int), value :: counter
        end function
        integer(c_size_t) function c_length(text) bind(C, name="strlen")
            import
            type(c_ptr), value :: text
        end function
    end interface
    integer, parameter :: INST = 0, FP_LOAD = 10, FP_STORE = 11, FP_ADD = 42
    integer(8) :: user(0:BGLCOUNTERS-1, 0:2), kernel(0:BGLCOUNTERS-1), c(0:BGLCOUNTERS-1, 0:2)
    real(8), volatile :: a(2000) = 1
    character(16) :: name
    character(48) :: text
    character(3) :: little
    integer :: i, wrong

    call same(int(BGLCounters_Init(), 8), 0_8, "Init")
    do i = 0, 2 ! shared libraries are bound in round 0
        call same(int(BGLCounters_Reset() + BGLCounters_Start(), 8), 0_8, "Reset and Start")
        call work(1000 * i)
        call same(int(BGLCounters_Stop(), 8), 0_8, "Stop")
        call same(int(BGLCounters_Read(user(:, i), kernel), 8), 0_8, "Read")
        wrong = c_reset() + c_start()
        call work(1000 * i)
        wrong = c_stop() + c_read(c(:, i), kernel)
        call same(user(FP_ADD, i), 1000_8 * i, "adds of the loop")
        call same(user(FP_ADD, i), c(FP_ADD, i), "as many as in C")
        call same(user(FP_LOAD, i) + user(FP_STORE, i), c(FP_LOAD, i) + c(FP_STORE, i), "loads and stores as in C")
    end do
    call same(user(INST, 2) - user(INST, 1), c(INST, 2) - c(INST, 1), "1000 rounds have as many instructions as in C")
    user = -1
    i = BGLCounters_Read(user=user(:, 1))
    call same(user(FP_ADD, 1), c(FP_ADD, 2), "the kernel's counts may be left out")
    i = BGLCounters_Select(ibset(0_8, FP_STORE)) + BGLCounters_Reset() + BGLCounters_Start()
    call work(10)
    i = BGLCounters_Stop() + BGLCounters_Read(user(:, 1), kernel)
    call same(user(FP_STORE, 1), 10_8, "Select: this one")
    call same(sum(user(:, 1)), 10_8, "and no other")
    call same(sum(kernel), 0_8, "without a kernel its counts are 0")

    wrong = 0
    do i = -1, BGLCOUNTERS
        call BGLCounters_Name(i, name)
        if (c_associated(c_name(i)) .neqv. name /= "") wrong = wrong + 1
        if (c_associated(c_name(i))) then
            if (c_length(c_name(i)) /= len_trim(name)) wrong = wrong + 1
        end if
    end do
    call same(int(wrong, 8), 0_8, "names are those of C")
    call BGLCounters_Name(13, name)
    call BGLCounters_Text(13, text)
    call same(merge(1_8, 0_8, name == "BGL_FMA" .and. text == "Fused multiply-adds"), 1_8, "Name and Text")
    call BGLCounters_Text(99, text)
    call BGLCounters_Name(13, little)
    call same(merge(1_8, 0_8, text == "" .and. little == "BGL"), 1_8, "without a counter, without room")
contains
    ! One add, one load and one store each.
    subroutine work(count)
        integer, intent(in) :: count
        integer :: at
        do at = 1, count
            a(at) = a(at) + 1d0
        end do
    end subroutine

    subroutine same(got, wanted, what)
        integer(8), intent(in) :: got, wanted
        character(*), intent(in) :: what
        print '(3a)', trim(merge("ok    ", "not ok", got == wanted)), " - Fortran: ", what
        if (got /= wanted) print '(a, i0, a, i0)', "# got ", got, ", wanted ", wanted
    end subroutine
end program
