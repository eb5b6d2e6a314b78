#include "test/sim/hokuyo_catalogue.h"

namespace sim::hokuyo_scip {
namespace {

// Real output of an URG-04LX holds 0 and 7; 6 and 16 are known besides. A UTM says 1: no object.
// A UST says 65533.
constexpr std::uint32_t kUrgErrors[] = {0, 7, 6, 16}, kUtmErrors[] = {1}, kUstErrors[] = {65533};

constexpr Model kModels[] = {
    {"URG-04LX", "SOKUIKI Sensor URG-04LX", "3.2.00(28/Aug./2007)", "H0508486", 20, 5600, 1024, 44,
     725, 384, 768, 600, Port::rs232, true, false, false, true, false, kUrgErrors},
    {"URG-04LX-UG01", "SOKUIKI Sensor URG-04LX-UG01(Simple-URG)", "3.4.03(17/Dec./2012)",
     "H1510998", 20, 5600, 1024, 44, 725, 384, 768, 600, Port::usb, false, false, false, true,
     false, kUrgErrors},
    // One scan in 28 ms.
    {"UBG-04LX", "SOKUIKI Sensor UBG-04LX-F01", "1.0.00(01/Jan./2008)", "H0700001", 20, 5600, 1024,
     44, 725, 384, 768, 2143, Port::usb, false, false, false, true, false, kUrgErrors},
    {"UTM-30LX", "SOKUIKI Sensor TOP-URG UTM-30LX", "1.1.00(01/Jan./2010)", "H0900001", 23, 60000,
     1440, 0, 1080, 540, 1080, 2400, Port::usb, false, true, false, false, true, kUtmErrors},
    {"UTM-30LX-EW", "SOKUIKI Sensor UTM-30LX-EW", "1.1.10(01/Jan./2012)", "H1200001", 23, 60000,
     1440, 0, 1080, 540, 1080, 2400, Port::ethernet, false, true, true, false, true, kUtmErrors},
    // "10 m", but it tells 30000.
    {"UST-10LX", "UST-10LX", "3.0.00(01/Jan./2014)", "H1400001", 20, 30000, 1440, 0, 1080, 540,
     1080, 2400, Port::ethernet, false, true, false, false, true, kUstErrors},
    {"UST-20LX", "UST-20LX", "3.0.00(01/Jan./2014)", "H1500001", 20, 60000, 1440, 0, 1080, 540,
     1080, 2400, Port::ethernet, false, true, false, false, true, kUstErrors},
};

}  // namespace

const Model& find_model(std::string_view name) {
  for (const Model& model : kModels)
    if (model.name == name) return model;
  return kModels[0];
}

}  // namespace sim::hokuyo_scip
