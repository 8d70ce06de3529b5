// C++ names in call paths: namespaces, templates, operators, overloads, lambdas.
#include <cstdio>

namespace grid {
template <typename T> struct Field {
    T value[4];
    __attribute__((noinline)) T sum() const
    {
        T total{};
        for (T x : value)
            total += x;
        return total;
    }
    __attribute__((noinline)) Field operator/(T by) const { return {value[0] / by, value[1] / by, 0, 0}; }
};
__attribute__((noinline)) double norm(const Field<double> &f)
{
    return f.sum() + 1;
}
__attribute__((noinline)) int norm(int x)
{
    return x * 3;
}
} // namespace grid

template <typename F> __attribute__((noinline)) int apply(F f, int n)
{
    return f(n) + 1;
}

int main()
{
    grid::Field<double> field{{8, 4, 2, 1}};
    std::printf("%g %d %d\n", grid::norm(field / 2.0), grid::norm(4), apply([](int x) { return x * x; }, 5));
    return 0;
}
