// Where the files are that tests read.
#pragma once

#include <string>

namespace test {

std::string in_source(const std::string& name);    // a file of the project
std::string in_captures(const std::string& name);  // bytes of real devices; may be absent

}  // namespace test
