#include "drivers/ydlidar/models.h"

#include <algorithm>
#include <cmath>

namespace drivers {
namespace {

constexpr auto kOne = YdlidarModel::Talk::one_way, kTwo = YdlidarModel::Talk::two_way;
constexpr bool kTri = true, kNone = false;
constexpr std::array kModels{
    YdlidarModel{"X2", 6, kOne, 2, 0, 0.25, kTri, {3}},
    YdlidarModel{"X3", 6, kOne, 2, 0, 0.25, kTri, {3}},
    YdlidarModel{"X4", 6, kTwo, 2, 0, 0.25, kTri, {5}},
    YdlidarModel{"X4Pro", 6, kOne, 2, 0, 0.25, kTri, {5}},
    YdlidarModel{"S2", 12, kOne, 2, 0, 0.25, kTri, {3}},
    YdlidarModel{"S4", 4, kTwo, 2, 0, 0.25, kTri, {4}},
    YdlidarModel{"S4B", 11, kTwo, 3, 8, 0.25, kTri, {4}},
    YdlidarModel{"F4", 1, kTwo, 2, 0, 0.25, kTri, {4}},
    YdlidarModel{"R2", 9, kTwo, 2, 0, 0.25, kTri, {5}},
    YdlidarModel{"G1", 19, kTwo, 2, 0, 0.25, kTri, {9}},
    YdlidarModel{"G2", 15, kTwo, 3, 8, 0.25, kTri, {5}},
    YdlidarModel{"G2A", 14, kTwo, 2, 0, 0.25, kTri, {5}},
    YdlidarModel{"G2C", 16, kTwo, 2, 0, 0.25, kTri, {4}},
    YdlidarModel{"G4", 5, kTwo, 2, 0, 0.25, kTri, {4, 8, 9}},
    YdlidarModel{"G4B", 17, kTwo, 3, 10, 0.25, kTri, {10}},
    YdlidarModel{"G6", 13, kTwo, 2, 0, 0.5, kTri, {8, 16, 18}},
    YdlidarModel{"TG15", 100, kTwo, 2, 0, 1, kNone, {10, 18, 20}},
    YdlidarModel{"TG30", 101, kTwo, 2, 0, 1, kNone, {10, 18, 20}},
    YdlidarModel{"TG50", 102, kTwo, 2, 0, 1, kNone, {10, 18, 20}},
    YdlidarModel{"TX", 100, kOne, 2, 0, 1, kNone, {4}},
    YdlidarModel{"TminiPro", 150, kTwo, 3, 8, 0.25, kNone, {4}},
    YdlidarModel{"TminiPlus", 151, kTwo, 3, 8, 0.25, kNone, {4}},
    YdlidarModel{"TminiPlusSH", 152, kTwo, 4, 16, 1, kNone, {4}},
};

constexpr std::array kOptions{
    OptionSpec{.key = "model",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices =
                   "auto|X2|X3|X4|X4Pro|S2|S4|S4B|F4|R2|G1|G2|G2A|G2C|G4|G4B|G6|TG15|TG30|TG50|"
                   "TX|TminiPro|TminiPlus|TminiPlusSH",
               .help = "auto: as the device tells; of one that does not answer, X4Pro, or TminiPro "
                       "where it sends intensities"},
    OptionSpec{.key = "scan_hz",
               .type = OptionType::number,
               .unit = "Hz",
               .fallback = "0",
               .min = 0,
               .max = 16,
               .help = "turns per second to ask for; 0: as it is; not for models that only talk"},
    OptionSpec{.key = "sample_khz",
               .type = OptionType::number,
               .unit = "kHz",
               .fallback = "0",
               .min = 0,
               .max = 20,
               .help = "samples to ask a G4, G6 or TG for; 0: as it is"},
    OptionSpec{.key = "unit_mm",
               .type = OptionType::number,
               .unit = "mm",
               .fallback = "0",
               .min = 0,
               .max = 1,
               .help = "a step of distance, where firmware differs from its model; 0: the model's"},
};

}  // namespace

double YdlidarModel::most_khz() const { return std::ranges::max(khz); }

std::span<const OptionSpec> YdlidarModel::options() { return kOptions; }

const YdlidarModel* YdlidarModel::find(std::string_view name) {
  const auto found = std::ranges::find(kModels, name, &YdlidarModel::name);
  return found == kModels.end() ? nullptr : &*found;
}

const YdlidarModel* YdlidarModel::find(unsigned code) {
  const auto found = std::ranges::find_if(
      kModels, [code](const YdlidarModel& m) { return m.code == code && m.answers(); });
  return found == kModels.end() ? nullptr : &*found;
}

const YdlidarModel& YdlidarModel::usual(std::size_t sample) {
  return *find(sample == 2 ? "X4Pro" : sample == 3 ? "TminiPro" : "TminiPlusSH");
}

std::vector<Advice> YdlidarModel::advise(const Seen& seen) {
  if (!seen.about.starts_with(kPerhaps)) return {};
  if (seen.has_intensity || seen.beams_hz == 0) {
    return {{"model", "", "it does not tell: set the model that it is"}};
  }
  const YdlidarModel* nearest = nullptr;
  const auto off = [&](const YdlidarModel& m) {
    return std::abs(m.most_khz() - seen.beams_hz / 1000);
  };
  for (const YdlidarModel& m : kModels) {
    if (!m.answers() && m.sample == 2 && (!nearest || off(m) < off(*nearest))) nearest = &m;
  }
  std::string others;
  for (const YdlidarModel& m : kModels) {
    if (&m == nearest || m.answers() || m.sample != 2 || m.most_khz() != nearest->most_khz())
      continue;
    others.append(others.empty() ? "as fast: " : ", ").append(m.name);
  }
  return {{"model", std::string(nearest->name), others}};
}

}  // namespace drivers
