#include "app/lidarctl/packet_line.h"

#include "test/support/harness.h"

using lidarctl::packet_line;

TEST_GROUP(PacketLine) {
  const drivers::Beam beams[3] = {{0.5F, 1, 10}, {1, 0, 0}, {1.5F, 2, 20}};
  drivers::ScanSlice slice{.first = hal::from_ns(7),
                           .step = hal::Duration(3),
                           .starts_turn = true,
                           .has_intensity = true,
                           .device_ns = 5,
                           .beams = beams};
};

TEST(PacketLine, AScanHasItsFirstReturns) {
  STRCMP_EQUAL(R"({"type":"scan","first_ns":7,"step_ns":3,"device_ns":5,"starts_turn":true,)"
               R"("beams":[[0.5,1.0,10.0],[1.0,0.0,0.0],[1.5,2.0,20.0]]})",
               packet_line(slice).c_str());
}

TEST(PacketLine, AScanOfADeviceWithSeveralReturnsHasAListOfThemPerBeam) {
  const drivers::Echo echoes[] = {{3, 30}, {4, 40}, {0, 0}, {0, 0}, {5, 50}, {0, 0}};
  slice.echoes = echoes;
  STRCMP_CONTAINS(R"(,"echoes":[[[1.0,10.0],[3.0,30.0],[4.0,40.0]],[],[[2.0,20.0],[5.0,50.0]]]})",
                  packet_line(slice).c_str());
}

TEST(PacketLine, WithoutIntensitiesTheyAreNull) {
  const drivers::Echo echoes[] = {{3, 30}, {0, 0}, {0, 0}};
  slice.echoes = echoes;
  slice.has_intensity = false;
  slice.device_ns.reset();
  STRCMP_EQUAL(R"({"type":"scan","first_ns":7,"step_ns":3,"device_ns":null,"starts_turn":true,)"
               R"("beams":[[0.5,1.0,null],[1.0,0.0,null],[1.5,2.0,null]],)"
               R"("echoes":[[[1.0,null],[3.0,null]],[],[[2.0,null]]]})",
               packet_line(slice).c_str());
}

TEST(PacketLine, ASampleHasWhatItsDeviceSends) {
  drivers::ImuSample sample{.at = hal::from_ns(9), .gyro = {{1, 2, 3}}};
  sample.temperature = 21.5;
  STRCMP_EQUAL(R"({"type":"imu","t_ns":9,"device_ns":null,"accel":null,"gyro":[1.0,2.0,3.0],)"
               R"("orientation":null,"temperature_C":21.5})",
               packet_line(sample).c_str());
}
