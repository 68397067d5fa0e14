# Toolchain: 64-bit Windows by Debian's mingw-w64, with the libraries that build/windows.sh made.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-win32) # Windows' own threads: no library of threads is needed
set(CMAKE_FIND_ROOT_PATH ${CMAKE_CURRENT_LIST_DIR}/out/windows /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(LIMBER_MARCH "" CACHE STRING "-march=: any x86-64")
