#include "generate/graph/rotation_scale.h"

#include <math.h>

double rotation_scale(double w, double y)
{
    const double n = sqrt(y), s = n > 0 ? 2 * atan2(n, fabs(w)) / n : 2 / fabs(w);
    return w < 0 ? -s : s;
}

/* 2/w^3 (-1/3 + 2 x/5 - 3 x^2/7 + ...) where x = y/w^2 is small */
double rotation_scale_slope(double w, double y)
{
    const double x = y / (w * w);
    if (!(x < 0.01)) return (w / (w * w + y) - rotation_scale(w, y) / 2) / y;
    double sum = 0;
    for (int j = 9; j > 0; j--) sum = j / (2.0 * j + 1) - x * sum;
    return -2 * sum / (w * w * w);
}

void rotation_scale_write(FILE *file, bool slope)
{
    fputs("/* The rotation vector of a quaternion (w, v) is rotation_scale(w, v.v) v */\n"
          "static double rotation_scale(double w, double y)\n{\n"
          "    const double n = sqrt(y), s = n > 0 ? 2 * atan2(n, fabs(w)) / n : 2 / fabs(w);\n"
          "    return w < 0 ? -s : s;\n}\n\n",
          file);
    if (!slope) return;
    fputs("/* Its derivative with respect to y */\n"
          "static double rotation_scale_slope(double w, double y)\n{\n"
          "    const double x = y / (w * w);\n"
          "    if (!(x < 0.01)) return (w / (w * w + y) - rotation_scale(w, y) / 2) / y;\n"
          "    double sum = 0;\n"
          "    for (int j = 9; j > 0; j--) sum = j / (2.0 * j + 1) - x * sum;\n"
          "    return -2 * sum / (w * w * w);\n}\n\n",
          file);
}
