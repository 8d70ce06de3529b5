! The module mpi_f08; prints one line if all is well. Handles are types, errors may be left out.
program check_mpi_f08
    use mpi_f08
    implicit none
    type(MPI_Comm) :: half
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: status, statuses(2)
    type(MPI_Datatype) :: column
    type(MPI_Op) :: op
    integer :: rank, ranks, error, total, bad, length, index
    double precision :: sent(1000), got(1000), matrix(10, 10)
    character(len=MPI_MAX_OBJECT_NAME) :: name
    external :: largest

    bad = 0
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    if (error /= MPI_SUCCESS) bad = bad + 1
    sent = rank
    call MPI_Irecv(got, 1000, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(sent, 1000, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 3, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, statuses)
    if (got(1000) /= mod(rank + ranks - 1, ranks)) bad = bad + 1
    if (statuses(1)%MPI_SOURCE /= mod(rank + ranks - 1, ranks) .or. statuses(1)%MPI_TAG /= 3) bad = bad + 1
    if (requests(1) /= MPI_REQUEST_NULL .or. .not. requests(2) == MPI_REQUEST_NULL) bad = bad + 1
    call MPI_Get_count(statuses(1), MPI_DOUBLE_PRECISION, length)
    if (length /= 1000) bad = bad + 1
    call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE)
    if (index /= MPI_UNDEFINED) bad = bad + 1
    total = rank
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (total /= ranks * (ranks - 1) / 2) bad = bad + 1
    call MPI_Op_create(largest, .true., op)
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
    if (total /= ranks - 1) bad = bad + 1
    matrix = rank
    call MPI_Type_vector(10, 1, 10, MPI_DOUBLE_PRECISION, column)
    call MPI_Type_commit(column)
    call MPI_Bcast(matrix(3, 1), 1, column, ranks - 1, MPI_COMM_WORLD)
    if (matrix(3, 10) /= ranks - 1 .or. matrix(4, 10) /= rank) bad = bad + 1
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
    if (half == MPI_COMM_WORLD .or. half == MPI_COMM_NULL) bad = bad + 1
    call MPI_Comm_set_name(half, 'a half of them')
    call MPI_Comm_get_name(half, name, length)
    if (name /= 'a half of them' .or. length /= 14) bad = bad + 1
    call MPI_Comm_free(half)
    if (half /= MPI_COMM_NULL) bad = bad + 1
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, rank, 1, total, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, status)
    if (total /= rank .or. status%MPI_SOURCE /= rank) bad = bad + 1
    if (MPI_Wtime() <= 0 .or. MPI_Wtick() > 1d-6) bad = bad + 1
    call MPI_Sizeof(matrix, length)
    call MPI_Sizeof(rank, index)
    if (length /= 8 .or. index /= 4) bad = bad + 1
    if (PMPI_Wtime() <= 0) bad = bad + 1
    call MPI_Allreduce(MPI_IN_PLACE, bad, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0 .and. bad == 0) print '(a, i0, a)', 'all is well on ', ranks, ' ranks'
    call MPI_Finalize()
end program

subroutine largest(in, inout, count, type)
    use mpi_f08
    implicit none
    integer :: count, in(count), inout(count)
    type(MPI_Datatype) :: type
    if (type == MPI_INTEGER) inout = max(in, inout)
end subroutine
