/* Functions of a rotation vector, smooth in y = |theta|^2 and without cancellation:
       S_k(y) = sum over j of (-y)^j/(2j + k)!,   S_k = 1/k! - y S_(k+2),   dS_k/dy = (k S_(k+2) - S_(k+1))/2
   S_0 = cos phi, S_1 = sin phi/phi, S_2 = (1 - cos phi)/phi^2, S_3 = (phi - sin phi)/phi^3, y = phi^2. */
#ifndef SYMBOLIC_STUMPFF_H
#define SYMBOLIC_STUMPFF_H

/* Terms of the series that are accurate to rounding for y < STUMPFF_SMALL, and those for y < STUMPFF_LARGE. */
enum { STUMPFF_FEW = 6, STUMPFF_MANY = 17 };
#define STUMPFF_SMALL 0.25
#define STUMPFF_LARGE 10.0

/* 1/k! */
double stumpff_inverse_factorial(int k);
double stumpff_value(int k, double y);

#endif
