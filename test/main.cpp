// Runs the unit tests.
#include "config/load.h"

// After all others: it defines a macro `new`.
#include <CppUTest/CommandLineTestRunner.h>

int main(int argc, char** argv) {
  // yaml-cpp keeps tables from its first use on, which the first test to parse would seem to leak.
  (void)config::load_text("{a: [1, 'b', \"c\"], ? d : !e &f g, h: *f}", "warm-up");
  (void)config::load_text("a: [1, 'b', \"c\\n\"]\nk: |\n  l\nm: {n: ~, o: &p 1, q: *p}\n",
                          "warm-up");
  return CommandLineTestRunner::RunAllTests(argc, argv);
}
