#include "test/sim/ydlidar_catalogue.h"

namespace sim::ydlidar {
namespace {

constexpr double k3[] = {3}, k4[] = {4}, k5[] = {5}, k9[] = {9}, k10[] = {10};
constexpr double kG4[] = {4, 8, 9}, kG6[] = {8, 16, 18}, kTg[] = {10, 18, 20};

constexpr RateField kPlain = RateField::plain, kLess = RateField::less_three;
constexpr Unit kQuarter = Unit::quarter_mm, kHalf = Unit::half_mm, kMm = Unit::mm;
constexpr Form kNone = Form::plain, k8Bit = Form::intensity8, k10Bit = Form::intensity10,
               k16Bit = Form::intensity16;

// Name, code, baud, rates, one way, DTR, corrects, rate field, form, unit, flag, most, turns/s.
constexpr Model kModels[] = {
    {"X2", 6, 115200, k3, true, true, true, kPlain, kNone, kQuarter, 0, 40, 7},
    {"X3", 6, 115200, k3, true, true, true, kPlain, kNone, kQuarter, 0, 40, 7},
    {"X4", 6, 128000, k5, false, true, true, kPlain, kNone, kQuarter, 0, 40, 7},
    {"X4Pro", 6, 128000, k5, true, true, true, kPlain, kNone, kQuarter, 0, 40, 7},
    {"S2", 12, 115200, k3, true, true, true, kPlain, kNone, kQuarter, 0, 40, 7},
    {"S4", 4, 115200, k4, false, true, true, kPlain, kNone, kQuarter, 0, 40, 7},
    {"S4B", 11, 153600, k4, false, true, true, kPlain, k8Bit, kQuarter, 0, 40, 7},
    {"G1", 19, 230400, k9, false, false, true, kPlain, kNone, kQuarter, 0, 40, 7},
    {"G2", 15, 230400, k5, false, false, true, kPlain, k8Bit, kQuarter, 0, 40, 7},
    {"G2A", 14, 230400, k5, false, false, true, kPlain, kNone, kQuarter, 0, 40, 7},
    {"G2C", 16, 115200, k4, false, false, true, kPlain, kNone, kQuarter, 0, 40, 7},
    {"G4", 5, 230400, kG4, false, false, true, kPlain, kNone, kQuarter, 0, 80, 7},
    {"G4B", 17, 512000, k10, false, false, true, kPlain, k10Bit, kQuarter, 0, 40, 7},
    {"G6", 13, 512000, kG6, false, false, true, kPlain, kNone, kHalf, 0, 40, 7},
    {"F4", 1, 115200, k4, false, false, true, kPlain, kNone, kQuarter, 0, 40, 7},
    {"R2", 9, 230400, k5, false, false, true, kPlain, kNone, kQuarter, 0, 40, 7},
    {"TG15", 100, 512000, kTg, false, false, false, kLess, kNone, kMm, 0, 40, 10},
    {"TG30", 101, 512000, kTg, false, false, false, kLess, kNone, kMm, 0, 40, 10},
    {"TG50", 102, 512000, kTg, false, false, false, kLess, kNone, kMm, 0, 40, 10},
    {"TX", 100, 115200, k4, true, false, false, kLess, kNone, kMm, 0, 40, 6},
    // A real Tmini Pro marks all samples but those in sunlight with flag 2.
    {"TminiPro", 150, 230400, k4, false, false, false, kPlain, k8Bit, kQuarter, 2, 40, 10},
    {"TminiPlus", 151, 230400, k4, false, false, false, kPlain, k8Bit, kQuarter, 2, 40, 10},
    {"TminiPlusSH", 152, 230400, k4, false, false, false, kLess, k16Bit, kMm, 0, 40, 10},
};

}  // namespace

const Model& find_model(std::string_view name) {
  for (const Model& model : kModels)
    if (model.name == name) return model;
  return kModels[0];
}

}  // namespace sim::ydlidar
