#include "test/sim/sick_safety_catalogue.h"

namespace sim::sick_safety {
namespace {

// The description gives the microScan3's 2751 beams and 30 ms; the others are as their kind is
// sold: 1651 beams in 30 ms, and 706 in 40 ms.
constexpr Model kModels[] = {
    {"microScan3", "MICS3-CBAZ40ZA1P01", "1075845", "R 03.20.00", 20430241, 2751, 275.0, 30, 40000,
     0},
    {"nanoScan3", "NANS3-CAAZ30AN1P02", "1100334", "R 01.10.00", 20430242, 1651, 275.0, 30, 40000,
     4},
    {"outdoorScan3", "MICS3-CBUZ40IZ1P01", "1094472", "R 03.20.00", 20430243, 706, 275.0, 40, 40000,
     1},
};

}  // namespace

const Model& find_model(std::string_view name) {
  for (const Model& model : kModels)
    if (model.name == name) return model;
  return kModels[0];
}

}  // namespace sim::sick_safety
