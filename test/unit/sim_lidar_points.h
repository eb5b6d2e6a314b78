// What the tests of the simulated lidars share: points decoded from a frame beside their truth.
#pragma once

#include "test/support/harness.h"

#include <cmath>
#include <cstdio>
#include <vector>

#include "test/sim/room.h"
#include "test/sim/wire.h"
#include "test/support/places.h"
#include "test/unit/sim_fixture.h"

namespace sim_test {

struct LidarPoint {
  double ccw_deg;  // from the front
  double mm;       // 0 = no return
  double strength;
};

// Every point lies where its beam does, within the format's steps, and the beam was real.
inline void check_points(const std::vector<LidarPoint>& points, const sim::ScanTruth& truth,
                         double deg_tolerance, double mm_tolerance) {
  CHECK_EQUAL(truth.beams.size(), points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const sim::TrueBeam& beam = truth.beams[i];
    const double off = std::remainder(points[i].ccw_deg - sim::degrees(beam.angle), 360.0);
    DOUBLES_EQUAL(0.0, off, deg_tolerance + 1e-9);
    DOUBLES_EQUAL(beam.range * 1000.0, points[i].mm, mm_tolerance + 1e-9);
  }
}

// A stream of checked frames of one length behind one first byte: where they begin. Bytes that are
// no frame are passed over one by one.
template <typename Intact>
std::vector<std::size_t> frames_in(hal::Bytes bytes, std::size_t length, Intact intact) {
  std::vector<std::size_t> found;
  for (std::size_t at = 0; at + length <= bytes.size();) {
    if (!intact(bytes.subspan(at, length))) {
      ++at;
      continue;
    }
    found.push_back(at);
    at += length;
  }
  return found;
}

// Empty when the file is not there.
inline sim::ByteVector bytes_of_capture(const char* name) {
  sim::ByteVector bytes;
  std::FILE* const file = std::fopen(test::in_captures(name).c_str(), "rb");
  if (file == nullptr) return bytes;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file))
    bytes.push_back(static_cast<std::byte>(c));
  std::fclose(file);
  return bytes;
}

}  // namespace sim_test
