#include "licenses.h"

#include <stddef.h>

/* clang-format off */
static const char bsd_terms[] =
    "Redistribution and use in source and binary forms, with or without\n"
    "modification, are permitted provided that the following conditions are met:\n"
    "\n"
    "1. Redistributions of source code must retain the above copyright notice, this\n"
    "   list of conditions and the following disclaimer.\n"
    "\n"
    "2. Redistributions in binary form must reproduce the above copyright notice,\n"
    "   this list of conditions and the following disclaimer in the documentation\n"
    "   and/or other materials provided with the distribution.\n"
    "\n"
    "3. Neither the name of the copyright holder nor the names of its\n"
    "   contributors may be used to endorse or promote products derived from\n"
    "   this software without specific prior written permission.\n"
    "\n"
    "THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS \"AS IS\"\n"
    "AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE\n"
    "IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE\n"
    "DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE\n"
    "FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL\n"
    "DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR\n"
    "SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER\n"
    "CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY,\n"
    "OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE\n"
    "OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.\n";

static const char sundials_notice[] =
    "\n"
    "This work was produced under the auspices of the U.S. Department of\n"
    "Energy by Lawrence Livermore National Laboratory under Contract\n"
    "DE-AC52-07NA27344.\n"
    "\n"
    "This work was prepared as an account of work sponsored by an agency of\n"
    "the United States Government. Neither the United States Government nor\n"
    "Lawrence Livermore National Security, LLC, nor any of their employees\n"
    "makes any warranty, expressed or implied, or assumes any legal liability\n"
    "or responsibility for the accuracy, completeness, or usefulness of any\n"
    "information, apparatus, product, or process disclosed, or represents that\n"
    "its use would not infringe privately owned rights.\n"
    "\n"
    "Reference herein to any specific commercial product, process, or service\n"
    "by trade name, trademark, manufacturer, or otherwise does not necessarily\n"
    "constitute or imply its endorsement, recommendation, or favoring by the\n"
    "United States Government or Lawrence Livermore National Security, LLC.\n"
    "\n"
    "The views and opinions of authors expressed herein do not necessarily\n"
    "state or reflect those of the United States Government or Lawrence\n"
    "Livermore National Security, LLC, and shall not be used for advertising\n"
    "or product endorsement purposes.\n";

static const char mit_terms[] =
    "Permission is hereby granted, free of charge, to any person obtaining a\n"
    "copy of this software and associated documentation files (the \"Software\"),\n"
    "to deal in the Software without restriction, including without limitation\n"
    "the rights to use, copy, modify, merge, publish, distribute, sublicense,\n"
    "and/or sell copies of the Software, and to permit persons to whom the\n"
    "Software is furnished to do so, subject to the following conditions:\n"
    "\n"
    "The above copyright notice and this permission notice shall be included\n"
    "in all copies or substantial portions of the Software.\n"
    "\n"
    "THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR\n"
    "IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,\n"
    "FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE\n"
    "AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER\n"
    "LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,\n"
    "OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE\n"
    "SOFTWARE.\n";

static const char zpl_terms[] =
    "Redistribution and use in source and binary forms, with or without\n"
    "modification, are permitted provided that the following conditions\n"
    "are met:\n"
    "\n"
    "   1. Redistributions in source code must retain the accompanying\n"
    "      copyright notice, this list of conditions, and the following\n"
    "      disclaimer.\n"
    "   2. Redistributions in binary form must reproduce the accompanying\n"
    "      copyright notice, this list of conditions, and the following\n"
    "      disclaimer in the documentation and/or other materials provided\n"
    "      with the distribution.\n"
    "   3. Names of the copyright holders must not be used to endorse or\n"
    "      promote products derived from this software without prior\n"
    "      written permission from the copyright holders.\n"
    "   4. The right to distribute this software or to use it for any\n"
    "      purpose does not give you the right to use Servicemarks (sm) or\n"
    "      Trademarks (tm) of the copyright holders.  Use of them is\n"
    "      covered by separate agreement with the copyright holders.\n"
    "   5. If any files are modified, you must cause the modified files to\n"
    "      carry prominent notices stating that you changed the files and\n"
    "      the date of any change.\n"
    "\n"
    "Disclaimer\n"
    "\n"
    "THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS ``AS IS'' AND ANY\n"
    "EXPRESSED OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE\n"
    "IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR\n"
    "PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDERS BE\n"
    "LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR\n"
    "CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF\n"
    "SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR\n"
    "BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY,\n"
    "WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE\n"
    "OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE,\n"
    "EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.\n";

static const char lucent_notice[] =
    "\n"
    "Conversion of numbers (gdtoa):\n"
    "\n"
    "Copyright (c) 1997-2001 Lucent Technologies\n"
    "\n"
    "Permission to use, copy, modify, and distribute this software and\n"
    "its documentation for any purpose and without fee is hereby\n"
    "granted, provided that the above copyright notice appear in all\n"
    "copies and that both that the copyright notice and this\n"
    "permission notice and warranty disclaimer appear in supporting\n"
    "documentation, and that the name of Lucent or any of its entities\n"
    "not be used in advertising or publicity pertaining to\n"
    "distribution of the software without specific, written prior\n"
    "permission.\n"
    "\n"
    "LUCENT DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE,\n"
    "INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS.\n"
    "IN NO EVENT SHALL LUCENT OR ANY OF ITS ENTITIES BE LIABLE FOR ANY\n"
    "SPECIAL, INDIRECT OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES\n"
    "WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER\n"
    "IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION,\n"
    "ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF\n"
    "THIS SOFTWARE.\n";

static const char limber_head[] =
    "BSD 3-Clause License\n"
    "\n"
    "Copyright (c) 2026, the Limber authors\n"
    "\n";

static const char sundials_head[] =
    "BSD 3-Clause License\n"
    "\n"
    "Copyright (c) 2002-2022, Lawrence Livermore National Security and Southern Methodist University.\n"
    "All rights reserved.\n"
    "\n";

static const char json_c_head[] =
    "MIT License\n"
    "\n"
    "Copyright (c) 2004-2005, 2013 Metaparadigm Pte. Ltd.\n"
    "Copyright (c) 2008-2009 Yahoo! Inc.\n"
    "Copyright (c) 2009-2012 Hewlett-Packard Development Company, L.P.\n"
    "Copyright (c) 2012, 2017-2022 Eric Haszlakiewicz\n"
    "Copyright (c) 2016 Alexandru Ardelean\n"
    "\n";

static const char three_head[] =
    "MIT License\n"
    "\n"
    "three.js: Copyright (c) 2010-2026 three.js authors\n"
    "wasi-libc and musl: Copyright (c) 2005-2020 Rich Felker, et al., and the wasi-libc authors\n"
    "\n";

static const char mingw_head[] =
    "Zope Public License (ZPL) Version 2.1\n"
    "\n"
    "Copyright (c) 2009-2016 by the mingw-w64 project\n"
    "\n";
/* clang-format on */

const struct license licenses[] = {
    {"Limber",
     "equations of motion, FMI functions",
     "BSD-3-Clause",
     "limber.txt",
     {limber_head, bsd_terms, NULL},
     false},
    {"SUNDIALS (CVODE)",
     "integration",
     "BSD-3-Clause",
     "sundials.txt",
     {sundials_head, bsd_terms, sundials_notice},
     false},
    {"json-c", "reading the robot file", "MIT", "json-c.txt", {json_c_head, mit_terms, NULL}, false},
    {.what = "three.js, wasi-libc",
     .role = "the scene in this documentation",
     .name = "MIT",
     .file = "three.txt",
     .parts = {three_head, mit_terms, NULL},
     .of_scene = true},
    {"mingw-w64",
     "run-time support for C programs on Windows",
     "ZPL-2.1",
     "mingw-w64.txt",
     {mingw_head, zpl_terms, lucent_notice},
     false},
};
const int license_count = sizeof licenses / sizeof licenses[0];
