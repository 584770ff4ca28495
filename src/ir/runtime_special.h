// Special functions of double numbers: the runtime functions of formulas (runtime.h), and those
// that kernels call element by element. All are pure and thread-safe.
#pragma once

namespace fg::ir::special {

double log_gamma(double x);
double digamma(double x);
long double long_digamma(long double x);  // x > 0
// The derivative of digamma of that order; of order 0 digamma itself.
double polygamma(double order, double x);
// The sum of (q + k)^-s over k = 0, 1, ... for s > 1.
double zeta(double s, double q);

// The regularised incomplete gamma functions: P(a, x) and 1 - P(a, x).
double gammainc(double a, double x);
double gammaincc(double a, double x);
// dx/da of P(a, x) = const: how a gamma-distributed x moves with its shape.
double gamma_slope(double a, double x);
// dx/da of I_x(a, b) = const: how a beta-distributed x moves with its first shape.
double beta_slope(double x, double a, double b);

// Modified Bessel functions of the first kind, and the same times exp(-|x|).
double i0(double x);
double i0e(double x);
double i1(double x);
double i1e(double x);

}  // namespace fg::ir::special
