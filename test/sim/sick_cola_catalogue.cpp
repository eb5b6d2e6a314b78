#include "test/sim/sick_cola_catalogue.h"

namespace sim::sick_cola {
namespace {

// Captured: 811 points of a third of a degree and 15 Hz (TiM781), 271 of a degree (TiM5xx), 541 of
// half a degree (LMS111), 1141 of a sixth at 25 Hz (LMS511), 1101 of a quarter (MRS1104), firmware
// and serial of the LMS511 and the TiM781S. The LRS4581 and the other speeds are not in any
// capture.
constexpr Pace kOneDegree[] = {{15.0, 360}};
constexpr Pace kThirds[] = {{15.0, 1080}};
constexpr Pace kLms1[] = {{50.0, 720}, {25.0, 720}, {25.0, 1440}};
constexpr Pace kLms5[] = {{25.0, 2160}, {25.0, 1440}, {35.0, 1440}, {35.0, 720},
                          {50.0, 1080}, {50.0, 720},  {75.0, 720},  {100.0, 360}};
constexpr Pace kLrs[] = {{12.5, 2880}, {25.0, 1440}};
constexpr Pace kMrs[] = {{50.0, 1440}};

constexpr std::uint32_t kClient = 0xF4724744, kSafetyClient = 0x6FD62C05;

constexpr Model kModels[] = {
    {"TiM561", "TiM561-2050101", "V3.14    ", 17250141, -45.0, 225.0, kThirds, 1,   1,     0x0000,
     2,        6190.0,           7131.0,      kClient,  false, true,  false,   0.0, false, false},
    {"TiM571", "TiM571-2050101", "V3.14    ", 17250142, -45.0, 225.0, kThirds, 1,   1,     0x0000,
     2,        6190.0,           7131.0,      kClient,  false, true,  false,   0.0, false, false},
    {"TiM581", "TiM581-2050101", "V3.14    ", 17250143, -45.0, 225.0, kThirds, 1,   1,     0x0000,
     2,        6190.0,           7131.0,      kClient,  false, true,  false,   0.0, false, false},
    {"TiM551",    "TiM551-2050001",
     "V2.54    ", 17250140,
     -45.0,       225.0,
     kOneDegree,  1,
     1,           0x0000,
     34,          6190.0,
     7131.0,      kClient,
     false,       true,
     false,       0.0,
     false,       false},
    {"TiM781", "TiM781-2174101", "V4.10    ", 18480391, -45.0, 225.0, kThirds, 1,   1,     0x0000,
     2,        6190.0,           7131.0,      kClient,  false, true,  false,   0.0, false, true},
    {"TiM781S",   "TiM781S-2174104",
     "V4.10    ", 18480390,
     -45.0,       225.0,
     kThirds,     1,
     1,           0x0000,
     2,           6190.0,
     7131.0,      kSafetyClient,
     false,       true,
     false,       0.0,
     false,       true},
    {"TiM871",    "TiM871S-2174104",
     "V5.10    ", 18480392,
     -45.0,       225.0,
     kThirds,     1,
     1,           0x0000,
     2,           6190.0,
     7131.0,      kSafetyClient,
     false,       true,
     false,       0.0,
     false,       true},
    {"LMS111", "LMS111-10100", "V2.00    ", 11020045, -45.0, 225.0, kLms1, 2,   1,     0x0000,
     0,        3000.0,         4000.0,      kClient,  true,  true,  false, 0.0, false, true},
    {"LMS511", "LMS511-20100", "V1.80    ", 18110550, -5.0, 185.0, kLms5, 5,   0,     0x0100,
     0,        19600.0,        19800.0,     kClient,  true, true,  true,  0.0, false, true},
    {"LRS4581",   "LRS4581R-103S01",
     "1.3.0    ", 20230017,
     -60.0,       240.0,
     kLrs,        3,
     1,           0x0000,
     0,           3000.0,
     5000.0,      kClient,
     false,       true,
     false,       0.0,
     false,       true},
    {"MRS1104",   "MRS1104C-011010",
     "1.5.0    ", 19120033,
     -47.5,       227.5,
     kMrs,        3,
     1,           0x0000,
     0,           1000.0,
     2000.0,      kClient,
     false,       false,
     false,       15.03,
     true,        false},
};

}  // namespace

const Model& find_model(const std::string& name) {
  for (const Model& model : kModels)
    if (name == model.name) return model;
  return kModels[0];
}

}  // namespace sim::sick_cola
