! Fortran: arrays, formatted output, intrinsic functions, allocation.
program matrix
  implicit none
  integer, parameter :: n = 24
  real(8), allocatable :: a(:,:), b(:,:), c(:,:)
  integer :: i, j
  allocate (a(n,n), b(n,n))
  do j = 1, n
    do i = 1, n
      a(i,j) = 1.0d0 / (i + j - 1)
      b(i,j) = merge(1.0d0, 0.5d0 / (i + j), i == j)
    end do
  end do
  c = matmul(a, b)
  print '(a,f20.15)', 'trace ', sum([(c(i,i), i = 1, n)])
  print '(a,es22.14)', 'norm ', sqrt(sum(c * c))
  write (*, '(3f12.8)') c(1,1:3)
  print *, maxloc(c), count(c > 0.5d0)
end program matrix
