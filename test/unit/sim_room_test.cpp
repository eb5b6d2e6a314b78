#include "test/sim/room.h"

#include <cmath>

#include "test/support/harness.h"

using sim::degrees;
using sim::radians;
using sim::Room;

TEST_GROUP(SimRoom){};

TEST(SimRoom, TheWallsStandWhereTheContractSays) {
  DOUBLES_EQUAL(4.0, Room::range(0.0), 1e-12);
  DOUBLES_EQUAL(2.5, Room::range(radians(90.0)), 1e-12);
  DOUBLES_EQUAL(2.0, Room::range(radians(180.0)), 1e-12);
  DOUBLES_EQUAL(1.5, Room::range(radians(270.0)), 1e-12);
}

TEST(SimRoom, EveryReturnLiesOnAWall) {
  for (int tenth = 0; tenth < 3600; ++tenth) {
    const double angle = radians(tenth / 10.0);
    const double range = Room::range(angle);
    if (range == 0.0) continue;
    const double x = range * std::cos(angle), y = range * std::sin(angle);
    CHECK_TRUE(x > -2.0 - 1e-9 && x < 4.0 + 1e-9 && y > -1.5 - 1e-9 && y < 2.5 + 1e-9);
    const double nearest = std::min(std::min(std::abs(x + 2.0), std::abs(x - 4.0)),
                                    std::min(std::abs(y + 1.5), std::abs(y - 2.5)));
    DOUBLES_EQUAL(0.0, nearest, 1e-9);
  }
}

TEST(SimRoom, NothingComesBackFrom100To110Degrees) {
  CHECK_TRUE(Room::range(radians(99.9)) > 0.0);
  DOUBLES_EQUAL(0.0, Room::range(radians(100.01)), 0.0);
  DOUBLES_EQUAL(0.0, Room::range(radians(109.99)), 0.0);
  CHECK_TRUE(Room::range(radians(110.1)) > 0.0);
}

TEST(SimRoom, AnglesCountModuloATurn) {
  DOUBLES_EQUAL(Room::range(radians(37.0)), Room::range(radians(37.0 - 720.0)), 1e-9);
  DOUBLES_EQUAL(0.0, Room::range(radians(105.0 - 360.0)), 0.0);
  DOUBLES_EQUAL(105.0, degrees(radians(105.0)), 1e-12);
}
