! libHPM from Fortran: 500 FMAs in a section that the report places in this file, one without a place.
#include "f_hpm.h"
program hpm_test
  implicit none
  integer, parameter :: n = 500
  real(8), volatile :: x(n), y(n)
  real(8) :: seconds
  integer(8) :: counts(15)
  integer :: i
  x = 1.5d0
  y = 2.5d0
  call f_hpminit(0, "hpm_test in Fortran   ")
  call f_hpmstart(4, "axpy: x - y  ")
  do i = 1, n
    y(i) = 3.0d0 * x(i) + y(i)
  end do
  call f_hpmstop(4)
  CALL F_HPMSTART(6, 'no place')
  CALL F_HPMSTOP(6)
  call f_hpmgetcounters(counts)
  call f_hpmgettimeandcounters(15, seconds, counts)
  call f_hpmterminate(0)
  if (counts(14) /= n .or. seconds <= 0) stop 1
end program hpm_test
