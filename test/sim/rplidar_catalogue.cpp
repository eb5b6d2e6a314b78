#include "test/sim/rplidar_catalogue.h"

#include <algorithm>
#include <array>

namespace sim::rplidar {
namespace {

// The A1's modes are those of firmware 1.29. The others keep to what their line can carry.
constexpr std::array<Mode, 5> kA1Modes = {{{"Standard", 508 * 256, 12, Answer::standard},
                                           {"Express", 254 * 256, 12, Answer::express},
                                           {"Boost", 127 * 256, 12, Answer::ultra},
                                           {"Sensitivity", 127 * 256, 12, Answer::ultra},
                                           {"Stability", 201 * 256, 12, Answer::ultra}}};
constexpr std::array<Mode, 5> kA3Modes = {{{"Standard", 252 * 256, 25, Answer::standard},
                                           {"Express", 126 * 256, 25, Answer::express},
                                           {"Boost", 16000, 25, Answer::ultra},
                                           {"Sensitivity", 16000, 25, Answer::ultra},
                                           {"Stability", 100 * 256, 25, Answer::ultra}}};
constexpr std::array<Mode, 3> kS1Modes = {{{"Standard", 250 * 256, 40, Answer::standard},
                                           {"Express", 125 * 256, 40, Answer::express},
                                           {"DenseBoost", 27776, 40, Answer::dense}}};
constexpr std::array<Mode, 2> kS2Modes = {
    {{"Standard", 125 * 256, 30, Answer::standard}, {"DenseBoost", 8000, 30, Answer::dense}}};
constexpr std::array<Mode, 2> kC1Modes = {
    {{"Standard", 200 * 256, 12, Answer::standard}, {"DenseBoost", 200 * 256, 12, Answer::dense}}};
constexpr std::array<Mode, 3> kS2eModes = {{{"Standard", 125 * 256, 30, Answer::standard},
                                            {"DenseBoost", 8000, 30, Answer::dense},
                                            {"UltraDense", 8000, 30, Answer::ultra_dense}}};
constexpr std::array<Mode, 3> kT1Modes = {{{"Standard", 125 * 256, 40, Answer::standard},
                                           {"UltraDense", 8000, 40, Answer::ultra_dense},
                                           {"HighQuality", 8000, 40, Answer::hq}}};

constexpr std::array<Model, 9> kModels = {{
    {"A1", 0x18, 29, 1, 7, 115200, 438, Motor::dtr, 3, kA1Modes},
    {"A2", 0x28, 32, 1, 5, 115200, 600, Motor::pwm, 3, kA1Modes},
    {"A3", 0x31, 27, 1, 6, 256000, 600, Motor::pwm, 3, kA3Modes},
    {"S1", 0x61, 5, 1, 18, 256000, 600, Motor::rpm, 2, kS1Modes},
    {"S2", 0x71, 2, 1, 18, 1000000, 600, Motor::rpm, 1, kS2Modes},
    {"S3", 0x81, 2, 1, 18, 1000000, 600, Motor::rpm, 1, kS2Modes},
    {"C1", 0x41, 1, 1, 18, 460800, 600, Motor::dtr, 1, kC1Modes},
    {"S2E", 0x72, 10, 1, 18, 0, 600, Motor::rpm, 2, kS2eModes},
    {"T1", 0x91, 1, 1, 18, 0, 900, Motor::rpm, 1, kT1Modes},
}};

}  // namespace

const Mode& Model::express() const {
  for (const Mode& mode : modes)
    if (mode.answer == Answer::express) return mode;
  return modes[typical];
}

const Model& find_model(std::string_view name) {
  const auto* const found =
      std::find_if(kModels.begin(), kModels.end(), [&](const Model& m) { return m.name == name; });
  return found == kModels.end() ? kModels.front() : *found;
}

}  // namespace sim::rplidar
