// The body of LMDscandata, in either dialect. Widths are those of CoLa B; in A each is one token:
//   u16 version | u16 device | u32 serial | u8 u8 status | u16 telegrams | u16 scans | u32 us since
//   power-up | u32 us of transmission | u8 u8 inputs | u8 u8 outputs | i16 layer, 1/100 deg | u32
//   scans per second, 1/100 Hz | u32 measurements per second, 100 Hz | u16 n, n x encoder {u32
//   position, u16 speed} | u16 n, n x channel of u16 | u16 n, n x channel of u8 | u16 flag,
//   position {6 f32, u8} | u16 flag, name {u8 n, text} | u16 flag, comment {u8 n, text} | u16 flag,
//   date {u16 year, u8 month day hour minute second, u32 us} | u16 flag, event channel: name, 5
//   characters | f32 scale | f32 offset | i32 first angle, u16 step, 1e-4 deg | u16 n, n values.
//   DIST1 to DIST5: mm; RSSI1 to RSSI5. Others are left out.
#pragma once

#include <memory>
#include <optional>

#include "drivers/cola.h"
#include "drivers/packet.h"

namespace drivers::sick_cola {

// Views live until the next scan is read.
struct Scan {
  unsigned serial = 0, telegrams = 0, scans = 0;
  std::uint32_t since_power_up = 0, transmitted = 0;  // us; both wrap after 2^32
  int layer = 0;                                      // 1/100 deg above the horizon; 0: none
  double scans_hz = 0;
  double step_deg = 0;  // between two beams
  bool has_intensity = false;
  std::span<const Beam> beams{};  // empty: there is no DIST1
  std::span<const Echo> echoes{};

  hal::Duration step() const;  // from one beam to the next
  hal::Duration span() const { return step() * (static_cast<std::int64_t>(beams.size()) - 1); }
};

class ScanReader {
 public:
  static constexpr std::size_t kMostBeams = 8192;
  static constexpr std::size_t kMostReturns = 5;  // of a beam

  ScanReader();
  // Empty when the content makes no sense.
  std::optional<Scan> read(cola::Fields);

 private:
  static constexpr std::size_t kMostChannels = 16;

  struct Grid {
    std::int32_t first = 0;  // 1e-4 deg
    std::size_t step = 0, count = 0;
    bool operator==(const Grid&) const = default;
  };
  struct Values {  // of one channel; count 0: not sent
    Grid grid{};
    float scale = 1, offset = 0;
    std::size_t width = 2;
    cola::Fields at{};  // where they begin
  };

  bool find(cola::Fields&, std::size_t width);
  bool check() const;
  void aim(const Grid&);
  void fill(std::size_t place, std::size_t places);

  std::array<Values, kMostReturns> distances_{}, intensities_{};
  Grid grid_{};                     // that the beams' angles are of
  std::unique_ptr<Beam[]> beams_;   // kMostBeams
  std::unique_ptr<Echo[]> echoes_;  // kMostReturns - 1 of each beam
};

}  // namespace drivers::sick_cola
