! BGP_UPC from Fortran: a known loop counted, names, buffers, refusals. Lines "ok - NAME" or "not ok - NAME".
program bgp_upc_fortran
    implicit none
    include 'bgp_upc.inc'
    integer(4) :: generation, status, i
    integer(8) :: values(BGP_UPC_MAX_MONITORED_EVENTS)
    character(len=BGP_UPC_MAXIMUM_LENGTH_EVENT_NAME) :: name
    real(8), volatile :: a(1000)

    a = 1
    call BGP_UPC_Initialize()
    call same(int(BGP_UPC_Check_Active(), 8), 0_8, "a job begins stopped")
    generation = BGP_UPC_Start(1)
    do i = 1, 1000
        a(i) = a(i) + 1d0
    end do
    status = BGP_UPC_Stop()
    call same(int(status - generation, 8), 1_8, "Start and Stop return generations")
    call same(BGP_UPC_Read_Counter(BGP_PU0_FPU_ADD_SUB_1, BGP_UPC_READ_EXCLUSIVE), 1000_8, "adds of the loop")
    status = BGP_UPC_Read_Counters(values, 8 * size(values), BGP_UPC_READ_SHARED)
    call same(values(BGP_PU0_FPU_ADD_SUB_1 + 1), 1000_8, "Read_Counters fills an array")
    status = BGP_UPC_Set_Counter_Value(BGP_PU0_FPU_ADD_SUB_1, 2_8**40)
    call same(BGP_UPC_Read_Counter_Value(BGP_PU0_FPU_ADD_SUB_1, BGP_UPC_READ_SHARED), 2_8**40, "values of 64 bits")
    status = BGP_UPC_Get_Event_Name(BGP_PU0_FPU_ADD_SUB_1, len(name), name)
    call same(int(index(name, "BGP_PU0_FPU_ADD_SUB_1" // char(0)), 8), 1_8, "Get_Event_Name fills a character")
    status = BGP_UPC_Monitor_Event(BGP_PU0_FPU_ADD_SUB_1 + 512, BGP_UPC_CFG_EDGE_DEFAULT)
    call same(int(status, 8), int(BGP_UPC_INCOMPATIBLE_COUNTER_FOR_CURRENT_COUNTER_MODE, 8), "codes are those of C")
contains
    subroutine same(got, wanted, text)
        integer(8), intent(in) :: got, wanted
        character(len=*), intent(in) :: text
        if (got == wanted) then
            print '(a)', "ok - Fortran: " // text
        else
            print '(a)', "not ok - Fortran: " // text
            print '(a, i0, a, i0)', "# got ", got, ", wanted ", wanted
        end if
    end subroutine
end program
