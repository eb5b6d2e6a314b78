// Checks that nothing vanished without a reason between the wire and the stream.
#pragma once

#include <string>
#include <vector>

#include "app/lidarctl/diagnosis.h"

namespace lidarctl {

// The equations of one sensor that do not hold, in words; none when the books balance.
std::vector<std::string> imbalances(const Diagnosis& sensor);

// What was dropped, by reason: "stale 3, late 1"; "none".
std::string drops(const Diagnosis& sensor);

}  // namespace lidarctl
