#include "test/support/places.h"

// The only file that is compiled with the folders' names, so that a tree built elsewhere shares
// all other objects of a compiler cache.
namespace test {

std::string in_source(const std::string& name) { return LIDARD_SOURCE "/" + name; }
std::string in_captures(const std::string& name) { return LIDARD_CAPTURES "/" + name; }

}  // namespace test
