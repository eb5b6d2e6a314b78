// CppUTest without its `new` macro, which breaks any standard header included after it. Leaks are
// still found: libCppUTest replaces the global operators at link time.
#pragma once

#include <CppUTest/TestHarness.h>
#undef new
