// Commands of the x-IMU3: an object with one key, answered by one with the same key. null reads a
// setting or has something done, another value writes; what is not known is answered {"error":
// why}.
#pragma once

#include <optional>
#include <string_view>

#include "drivers/dialogue.h"

namespace drivers::ximu3 {

bool say(Request&, std::string_view key, std::string_view value);  // true: as steps want it

struct Answer {
  std::string_view value;  // as it stands; outlived by the frame
  std::string_view error;  // empty: none
};

// Keys are the same whatever their case, and without what is no letter or digit. Empty: the frame
// answers something else, or nothing.
std::optional<Answer> answer_in(const Frame& frame, std::string_view key);

}  // namespace drivers::ximu3
