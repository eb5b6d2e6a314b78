#include "test/sim/sick_compact_settings.h"

namespace sim::sick_compact {
namespace {

// Captured: 5 segments of 240 beams, 276 degrees at 40 Hz (picoScan150); datagrams with two modules
// of 7 lines with 30 beams and two of one line with 240, the lowest line at -22.31 degrees
// (multiScan). The other elevations, the speed of the multiScan and the picoScan120 are in no
// capture.
const Model kModels[] = {
    {"picoScan150",
     "picoScan150",
     23020001,
     40.0,
     -138.0,
     138.0,
     60.0,
     5,
     {{{0.0}, 1440}},
     3,
     true},
    {"picoScan120",
     "picoScan120",
     23020002,
     15.0,
     -138.0,
     138.0,
     60.0,
     5,
     {{{0.0}, 720}},
     1,
     false},
    {"multiScan136",
     "multiScan136",
     23020003,
     20.0,
     -180.0,
     180.0,
     30.0,
     12,
     {{{-22.31, -17.3, -12.4, -7.5, -2.6, 2.3, 7.1}, 360},
      {{12.0, 17.0, 21.9, 27.1, 32.2, 37.3, 42.5}, 360},
      {{0.0}, 2880},
      {{34.2}, 2880}},
     1,
     true},
};

void put_address(cola::Telegram& to, const Address& address) {
  to.u8(1);
  for (int shift = 24; shift >= 0; shift -= 8) to.u8(address.ip >> shift & 0xFFU);
  to.u16(address.port);
}

unsigned take_address(cola::Arguments& from, Address& into) {
  const std::uint64_t kind = from.unsigned_value(1);
  std::uint64_t ip = 0;
  for (int i = 0; i < 4; ++i) ip = ip << 8 | from.unsigned_value(1);
  const std::uint64_t port = from.unsigned_value(2);
  if (!from.good() || !from.done()) return cola::kInvalidData;
  if (kind > 1 || port == 0) return cola::kOutOfRange;
  into = {static_cast<std::uint32_t>(ip), static_cast<std::uint16_t>(port)};
  return 0;
}

template <class T>
unsigned take(cola::Arguments& from, std::uint64_t least, std::uint64_t most, T& into) {
  const std::uint64_t value = from.unsigned_value(2);
  if (!from.good() || !from.done()) return cola::kInvalidData;
  if (value < least || value > most) return cola::kOutOfRange;
  into = static_cast<T>(value);
  return 0;
}

}  // namespace

const Model& find_model(const std::string& name) {
  for (const Model& model : kModels)
    if (name == model.name) return model;
  return kModels[0];
}

bool read(const std::string& name, const Config& config, const Model& model, bool has_imu,
          cola::Telegram& reply) {
  if (name == "FREchoFilter" && model.echoes > 1) {
    reply.u8(static_cast<std::uint64_t>(config.filter));
  } else if (name == "ScanDataEthSettings") {
    put_address(reply, config.scan_to);
  } else if (name == "ImuDataEthSettings" && has_imu) {
    put_address(reply, config.imu_to);
  } else if (name == "ScanDataFormat") {
    reply.u8(config.format);
  } else if (name == "ScanDataPreformatting") {
    reply.u8(config.preformatting);
  } else if (name == "ScanDataEnable") {
    reply.u8(config.sends_scans ? 1 : 0);
  } else if (name == "ImuDataEnable" && has_imu) {
    reply.u8(config.sends_imu ? 1 : 0);
  } else if (name == "LFPintervalFilter") {
    reply.u8(config.interval > 1 ? 1 : 0).u16(config.interval);
  } else {
    return false;
  }
  return true;
}

unsigned write(const std::string& name, cola::Arguments& arguments, bool has_imu, Config& config) {
  const bool is_imu = name.starts_with("ImuData");
  if (is_imu && !has_imu) return cola::kUnknownVariable;
  if (name == "FREchoFilter") return take(arguments, 0, 2, config.filter);
  if (name == "ScanDataEthSettings") return take_address(arguments, config.scan_to);
  if (name == "ImuDataEthSettings") return take_address(arguments, config.imu_to);
  if (name == "ScanDataFormat") return take(arguments, 1, 2, config.format);
  if (name == "ScanDataPreformatting") return take(arguments, 0, 1, config.preformatting);
  if (name == "ScanDataEnable") return take(arguments, 0, 1, config.sends_scans);
  if (name == "ImuDataEnable") return take(arguments, 0, 1, config.sends_imu);
  // Filters that the vendor's driver writes: taken, without an effect here.
  if (name == "LFPangleRangeFilter" || name == "LFPlayerFilter") return 0;
  if (name != "LFPintervalFilter") return cola::kUnknownVariable;
  arguments.unsigned_value(1);
  return take(arguments, 1, 50'000, config.interval);
}

}  // namespace sim::sick_compact
