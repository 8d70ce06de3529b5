! The Fortran bindings of MPI; prints one line if all is well.
program check_mpi
    use mpi
    implicit none
    integer :: rank, ranks, error, total, index, length, key, requests(2), status(MPI_STATUS_SIZE), bad, op, column
    integer :: counts(8), places(8), all(8)
    double precision :: sent(1000), got(1000), matrix(10, 10)
    character(len=MPI_MAX_OBJECT_NAME) :: name
    logical :: flag
    integer(kind=MPI_ADDRESS_KIND) :: value
    external :: largest, query, release, cancel

    bad = 0
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    sent = rank
    call MPI_Irecv(got, 1000, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, requests(1), error)
    call MPI_Isend(sent, 1000, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 3, MPI_COMM_WORLD, requests(2), error)
    call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE, error)
    if (index < 1 .or. index > 2) bad = bad + 1
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    if (got(1000) /= mod(rank + ranks - 1, ranks)) bad = bad + 1
    total = rank
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    if (total /= ranks * (ranks - 1) / 2) bad = bad + 1
    call MPI_Op_create(largest, .true., op, error)
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, op, MPI_COMM_WORLD, error)
    if (total /= ranks - 1) bad = bad + 1
    matrix = rank
    call MPI_Type_vector(10, 1, 10, MPI_DOUBLE_PRECISION, column, error)
    call MPI_Type_commit(column, error)
    call MPI_Bcast(matrix(3, 1), 1, column, ranks - 1, MPI_COMM_WORLD, error)
    if (matrix(3, 10) /= ranks - 1 .or. matrix(4, 10) /= rank) bad = bad + 1
    call MPI_Comm_set_name(MPI_COMM_WORLD, 'all of them', error)
    call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, error)
    if (name /= 'all of them' .or. length /= 11) bad = bad + 1
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, error)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 77_MPI_ADDRESS_KIND, error)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag, error)
    if (.not. flag .or. value /= 77) bad = bad + 1
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, rank, 1, total, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, status, error)
    if (total /= rank .or. status(MPI_SOURCE) /= rank .or. status(MPI_TAG) /= 1) bad = bad + 1
    counts = 1 ! beside a buffer, 0 is an array, too
    places = [(index, index = 0, 7)]
    all = rank
    if (ranks <= 8) then
        call MPI_Alltoallv(MPI_IN_PLACE, 0, 0, MPI_DATATYPE_NULL, all, counts, places, MPI_INTEGER, MPI_COMM_WORLD, error)
        do index = 1, ranks
            if (all(index) /= index - 1) bad = bad + 1
        end do
    end if
    value = MPI_Aint_add(40_MPI_ADDRESS_KIND, 2_MPI_ADDRESS_KIND)
    if (value /= 42 .or. MPI_Aint_diff(value, 2_MPI_ADDRESS_KIND) /= 40) bad = bad + 1
    call MPI_Grequest_start(query, release, cancel, value, requests(1), error)
    call MPI_Grequest_complete(requests(1), error)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
    call look_at(value)
    if (value /= 41) bad = bad + 1
    call MPI_Sizeof(matrix, length, error)
    call MPI_Sizeof(rank, index, error)
    if (length /= 8 .or. index /= 4) bad = bad + 1
    if (PMPI_Wtime() <= 0) bad = bad + 1
    call MPI_Allreduce(MPI_IN_PLACE, bad, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    if (rank == 0 .and. bad == 0) print '(a, i0, a)', 'all is well on ', ranks, ' ranks'
    call MPI_Finalize(error)
end program

subroutine largest(in, inout, count, type)
    implicit none
    integer :: count, type, in(count), inout(count)
    inout = max(in, inout)
end subroutine

! Of a generalised request: its release counts the program's variable down.
subroutine query(extra, status, error)
    use mpi
    implicit none
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), error
    call MPI_Status_set_elements(status, MPI_INTEGER, 1, error)
    call MPI_Status_set_cancelled(status, .false., error)
end subroutine

subroutine release(extra, error)
    use mpi
    implicit none
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: error
    extra = extra - 1
    error = MPI_SUCCESS
end subroutine

subroutine cancel(extra, complete, error)
    use mpi
    implicit none
    integer(kind=MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: error
    error = MPI_SUCCESS
end subroutine

subroutine look_at(value)
    use mpi
    implicit none
    integer(kind=MPI_ADDRESS_KIND) :: value
end subroutine
