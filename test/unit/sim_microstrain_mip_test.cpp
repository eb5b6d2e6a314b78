#include "test/sim/microstrain_mip.h"

#include <bit>
#include <cmath>
#include <cstdio>

#include "test/sim/mip_data.h"
#include "test/sim/mip_wire.h"
#include "test/sim/room.h"
#include "test/sim/wire.h"
#include "test/support/harness.h"
#include "test/support/places.h"
#include "test/unit/sim_fixture.h"

using sim_test::Bench;

namespace {

constexpr const char* kIdle = "75 65 01 02 02 02 E1 C7";
constexpr const char* kResume = "75 65 01 02 02 06 E5 CB";
constexpr const char* kFormat = "75 65 0C 0E 0E 0F 01 80 03 04 00 0A 05 00 0A D5 00 0A 91 EB";
constexpr const char* kGx5Format = "75 65 0C 0D 0D 08 01 03 04 00 0A 05 00 0A 12 00 0A 45 A1";

std::string command(unsigned set, std::initializer_list<unsigned> field) {
  sim::mip::Field f{*field.begin(), {}};
  for (auto it = field.begin() + 1; it != field.end(); ++it) sim::put8(f.data, *it);
  return sim_test::hex_of(sim::mip::packet_bytes(set, {f}));
}

std::vector<sim::mip::Field> fields_of(const sim::ByteVector& bytes) {
  sim::mip::Parser parser;
  sim::mip::Packet packet;
  parser.add(bytes, sim_test::kStart);
  CHECK_TRUE(parser.next(packet) == sim::mip::Parser::Found::packet);
  return packet.fields;
}

double f32_of(const sim::mip::Field& field, std::size_t at) {
  return static_cast<double>(
      std::bit_cast<float>(static_cast<std::uint32_t>(sim::get_be(field.data, at, 4))));
}

void check_answer(Bench& bench, const std::string& asked, const char* answer) {
  const auto answers = bench.ask(asked);
  CHECK_EQUAL(1, answers.size());
  STRCMP_EQUAL(answer, answers[0].c_str());
}

// The code that a command is answered with.
unsigned code_of(Bench& bench, const std::string& asked) {
  const auto answers = bench.ask(asked);
  CHECK_EQUAL(1, answers.size());
  return sim::u8_at(sim_test::bytes_of(answers[0]), 7);
}

}  // namespace

TEST_GROUP(SimMicrostrainMip){};

TEST(SimMicrostrainMip, AnEmptyPacketHasTheVendorsChecksum) {
  STRCMP_EQUAL("75 65 01 00 DB 05", sim_test::hex_of(sim::mip::packet_bytes(0x01, {})).c_str());
}

TEST(SimMicrostrainMip, TheBasicDialogueIsTheVendorsByteForByte) {
  Bench bench("microstrain_mip");
  check_answer(bench, "75 65 01 02 02 01 E0 C6", "75 65 01 04 04 F1 01 00 D5 6A");  // ping
  check_answer(bench, kIdle, "75 65 01 04 04 F1 02 00 D6 6C");
  check_answer(bench, kResume, "75 65 01 04 04 F1 06 00 DA 74");
  check_answer(bench, "75 65 0C 03 03 0E 80 7A 7E",
               "75 65 0C 09 04 F1 0E 00 05 8E 80 03 E8 F0 58");  // base rate 1000 Hz
}

TEST(SimMicrostrainMip, AReplyTakesAMillisecond) {
  Bench bench("microstrain_mip");
  bench.model->receive(sim::Channel::data, sim_test::bytes_of(kIdle), bench.now, bench.out);
  CHECK_TRUE(bench.out.frames[0].at == bench.now + std::chrono::milliseconds(1));
}

TEST(SimMicrostrainMip, TheSettingCommandsAreAcknowledged) {
  Bench bench("microstrain_mip");
  check_answer(bench, kFormat, "75 65 0C 04 04 F1 0F 00 EE C8");
  CHECK_EQUAL(0, code_of(bench, "75 65 0C 0E 0E 0F 01 80 03 D5 00 0A 04 00 0A 05 00 0A 91 CE"));
  CHECK_EQUAL(0, code_of(bench, "75 65 0C 05 05 11 01 80 01 83 18"));
  CHECK_EQUAL(0, code_of(bench, "75 65 0C 03 03 30 05 21 47"));
  CHECK_EQUAL(0, code_of(bench, "75 65 0C 03 03 30 03 1F 45"));
  CHECK_EQUAL(0, code_of(bench, "75 65 0C 07 07 40 01 00 0E 10 00 53 9D"));
}

TEST(SimMicrostrainMip, WhatCannotBeIsRefusedWithItsCode) {
  Bench bench("microstrain_mip");
  // A descriptor that the device does not have: the NACK of the protocol text.
  check_answer(bench, command(0x0C, {0x0F, 1, 0x80, 1, 0x12, 0, 10}),
               "75 65 0C 04 04 F1 0F 03 F1 CB");
  CHECK_EQUAL(3, code_of(bench, command(0x0C, {0x0F, 1, 0x80, 1, 0x04, 0, 0})));  // decimation 0
  CHECK_EQUAL(3, code_of(bench, command(0x0C, {0x0F, 1, 0x80, 2, 0x04, 0, 1})));  // too short
  CHECK_EQUAL(3, code_of(bench, command(0x0C, {0x0F, 1, 0x91, 0})));              // no such set
  CHECK_EQUAL(3, code_of(bench, command(0x0C, {0x0E, 0x91})));
  CHECK_EQUAL(3, code_of(bench, command(0x0C, {0x11, 1, 0x01, 1})));     // legacy selector
  CHECK_EQUAL(3, code_of(bench, command(0x0C, {0x40, 1, 0, 0, 0, 7})));  // 7 baud
  CHECK_EQUAL(1, code_of(bench, command(0x0C, {0x77})));                 // unknown command
  CHECK_EQUAL(1, code_of(bench, command(0x0D, {0x01})));                 // unknown set
  CHECK_EQUAL(1, code_of(bench, kGx5Format));                            // not on this model
  CHECK_EQUAL(2, code_of(bench, "75 65 01 02 02 01 E0 C7"));             // bad checksum
}

TEST(SimMicrostrainMip, TheDeviceInfoHasFiveTextsOfSixteen) {
  Bench bench("microstrain_mip");
  const auto fields = fields_of(sim_test::bytes_of(bench.ask("75 65 01 02 02 03 E2 C8")[0]));
  CHECK_EQUAL(2, fields.size());
  CHECK_EQUAL(0x81, fields[1].descriptor);
  CHECK_EQUAL(82, fields[1].data.size());
}

TEST(SimMicrostrainMip, TheDescriptorListNamesCommandsAndData) {
  Bench bench("microstrain_mip");
  const auto fields = fields_of(sim_test::bytes_of(bench.ask("75 65 01 02 02 04 E3 C9")[0]));
  CHECK_EQUAL(0x82, fields[1].descriptor);
  bool has_format = false, has_legacy = false, has_d5 = false;
  for (std::size_t i = 0; i < fields[1].data.size(); i += 2) {
    const auto name = sim::get_be(fields[1].data, i, 2);
    has_format |= name == 0x0C0F;
    has_legacy |= name == 0x0C08;
    has_d5 |= name == 0x80D5;
  }
  CHECK_TRUE(has_format && has_d5 && !has_legacy);
  CHECK_EQUAL(0, code_of(bench, command(0x01, {0x07})));
}

TEST(SimMicrostrainMip, AFormatAndResumeMakeDataFlowAtTheDecimatedRate) {
  Bench bench("microstrain_mip");
  bench.run_for(1.0);
  CHECK_EQUAL(0, bench.out.frames.size());
  bench.ask(kIdle);
  bench.ask(kFormat);
  bench.run_for(1.0);
  CHECK_EQUAL(0, bench.out.frames.size());
  bench.ask(kResume);
  bench.run_for(1.0);
  CHECK_EQUAL(100, bench.out.frames.size());
  const auto fields = fields_of(bench.out.frames[0].bytes);
  CHECK_EQUAL(3, fields.size());
  CHECK_EQUAL(0x04, fields[0].descriptor);
  CHECK_EQUAL(0x05, fields[1].descriptor);
  CHECK_EQUAL(2'010'000'000, sim::get_be(fields[2].data, 0, 8));
  CHECK_TRUE(bench.out.frames[0].at == sim_test::kStart + std::chrono::milliseconds(2010));
}

TEST(SimMicrostrainMip, EnablingAStreamWorksWithoutAResume) {
  Bench bench("microstrain_mip");
  bench.ask(kIdle);
  bench.ask(kFormat);
  bench.ask("75 65 0C 05 05 11 01 80 01 83 18");
  bench.run_for(0.1);
  CHECK_EQUAL(10, bench.out.frames.size());
  CHECK_EQUAL(0, code_of(bench, command(0x0C, {0x11, 1, 0x80, 0})));
  bench.run_for(0.1);
  CHECK_EQUAL(0, bench.out.frames.size());
}

TEST(SimMicrostrainMip, AFieldIsInThePacketWhenItIsDue) {
  Bench bench("microstrain_mip");
  bench.ask(command(0x0C, {0x0F, 1, 0x80, 2, 0x04, 0, 10, 0x06, 0, 15}));
  bench.run_for(0.0301);
  std::string seen;
  for (const sim::Frame& frame : bench.out.frames) {
    for (const auto& field : fields_of(frame.bytes)) seen += field.descriptor == 4 ? 'a' : 'm';
    seen += ' ';
  }
  STRCMP_EQUAL("a m a am ", seen.c_str());
}

TEST(SimMicrostrainMip, AtRestTheAxesAreForwardRightDown) {
  Bench bench("microstrain_mip", {{"streaming", "on"}, {"motion", "rest"}}, 100.0);
  bench.run_for(0.01);
  const auto fields = fields_of(bench.out.frames[0].bytes);
  CHECK_EQUAL(4, fields.size());
  CHECK_EQUAL(0xD5, fields[0].descriptor);
  DOUBLES_EQUAL(0.0, f32_of(fields[1], 0), 1e-9);
  DOUBLES_EQUAL(-1.0, f32_of(fields[1], 8), 1e-9);
  // Nose to the East: heading 90 degrees in NED.
  DOUBLES_EQUAL(std::sqrt(0.5), f32_of(fields[3], 0), 1e-7);
  DOUBLES_EQUAL(std::sqrt(0.5), f32_of(fields[3], 12), 1e-7);
  DOUBLES_EQUAL(9.80665, bench.out.imus[0].accel[2], 1e-12);
}

TEST(SimMicrostrainMip, TheTruthIsTheSampleInForwardLeftUp) {
  Bench bench("microstrain_mip", {{"streaming", "on"}}, 200.0);
  bench.run_for(2.0);
  CHECK_EQUAL(400, bench.out.frames.size());
  CHECK_EQUAL(400, bench.out.imus.size());
  for (std::size_t i = 0; i < 400; i += 37) {
    const auto fields = fields_of(bench.out.frames[i].bytes);
    const sim::ImuTruth& truth = bench.out.imus[i];
    CHECK_TRUE(truth.at == bench.out.frames[i].at);
    CHECK_EQUAL(truth.device_ns, static_cast<std::int64_t>(sim::get_be(fields[0].data, 0, 8)));
    const double sign[3] = {1.0, -1.0, -1.0};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      DOUBLES_EQUAL(truth.accel[axis], sign[axis] * 9.80665 * f32_of(fields[1], 4 * axis), 1e-5);
      DOUBLES_EQUAL(truth.gyro[axis], sign[axis] * f32_of(fields[2], 4 * axis), 1e-6);
    }
  }
}

TEST(SimMicrostrainMip, TheWorkedExampleComesOutByteForByte) {
  sim::mip::Sample sample;
  sample.device_ns = 1'500'000'000;
  sample.motion.accel = {0.1, -0.2, 9.81};
  sample.motion.gyro = {0.01, -0.02, 0.03};
  const auto packet = sim::mip::packet_bytes(
      0x80, {sim::mip::make_field(0x80, 0xD5, sample), sim::mip::make_field(0x80, 0x04, sample),
             sim::mip::make_field(0x80, 0x05, sample)});
  STRCMP_EQUAL(
      "75 65 80 26 0A D5 00 00 00 00 59 68 2F 00 0E 04 3C 27 11 FF 3C A7 11 FF BF 80 0B 32 "
      "0E 05 3C 23 D7 0A 3C A3 D7 0A BC F5 C2 8F 58 35",
      sim_test::hex_of(packet).c_str());
}

TEST(SimMicrostrainMip, QuaternionsLeaveInNorthEastDown) {
  sim::mip::Sample sample;  // ENU yaw 0
  STRCMP_EQUAL("3F 35 04 F3 00 00 00 00 00 00 00 00 3F 35 04 F3 00 01",
               sim_test::hex_of(sim::mip::make_field(0x82, 0x03, sample).data).c_str());
  // NED roll, pitch, heading 10, -5, 30 degrees.
  sample.motion.orientation = {0.8638096, 0.0536805, 0.0811681, 0.4943309};
  const auto field = sim::mip::make_field(0x80, 0x0A, sample);
  const double r = sim::radians(10) / 2, p = sim::radians(-5) / 2, y = sim::radians(30) / 2;
  const double cr = std::cos(r), sr = std::sin(r), cp = std::cos(p), sp = std::sin(p);
  const double cy = std::cos(y), sy = std::sin(y);
  DOUBLES_EQUAL(cr * cp * cy + sr * sp * sy, f32_of(field, 0), 1e-6);
  DOUBLES_EQUAL(sr * cp * cy - cr * sp * sy, f32_of(field, 4), 1e-6);
  DOUBLES_EQUAL(cr * sp * cy + sr * cp * sy, f32_of(field, 8), 1e-6);
  DOUBLES_EQUAL(cr * cp * sy - sr * sp * cy, f32_of(field, 12), 1e-6);
}

TEST(SimMicrostrainMip, EulerAnglesLeaveInNorthEastDown) {
  sim::mip::Sample sample;
  sample.motion.roll = 0.1;
  sample.motion.pitch = 0.2;
  sample.motion.yaw = 0.3;
  const auto field = sim::mip::make_field(0x80, 0x0C, sample);
  DOUBLES_EQUAL(0.1, f32_of(field, 0), 1e-6);
  DOUBLES_EQUAL(-0.2, f32_of(field, 4), 1e-6);
  DOUBLES_EQUAL(std::acos(0.0) - 0.3, f32_of(field, 8), 1e-6);
}

TEST(SimMicrostrainMip, DeltaVelocityIsInGSeconds) {
  sim::mip::Sample sample;
  sample.motion.accel = {0.0, 0.0, 9.80665};
  sample.delta_ns = 10'000'000;
  DOUBLES_EQUAL(-0.01, f32_of(sim::mip::make_field(0x80, 0x08, sample), 8), 1e-7);
}

TEST(SimMicrostrainMip, ACommandInsideAFalseFrameIsFound) {
  Bench bench("microstrain_mip");
  // A false header that claims 16 bytes, of which the fields make no sense.
  CHECK_EQUAL(
      1, bench.ask("75 65 01 10 01 75 65 01 02 02 01 E0 C6 00 00 00 00 00 00 00 00 00").size());
}

TEST(SimMicrostrainMip, AMessageOfMoreThan255BytesIsSplit) {
  Bench bench("microstrain_mip");
  std::vector<unsigned> field = {0x0F, 1, 0x80, 20};
  for (int i = 0; i < 20; ++i) field.insert(field.end(), {0x0A, 0, 100});
  sim::mip::Field f{0x0F, {}};
  for (std::size_t i = 1; i < field.size(); ++i) sim::put8(f.data, field[i]);
  CHECK_EQUAL(0, code_of(bench, sim_test::hex_of(sim::mip::packet_bytes(0x0C, {f}))));
  bench.run_for(0.1);
  CHECK_EQUAL(2, bench.out.frames.size());
  CHECK_EQUAL(14, fields_of(bench.out.frames[0].bytes).size());
  CHECK_EQUAL(6, fields_of(bench.out.frames[1].bytes).size());
}

TEST(SimMicrostrainMip, AGx5SpeaksTheLegacyCommands) {
  Bench bench("microstrain-mip", {{"model", "gx5"}});
  CHECK_EQUAL(0, code_of(bench, "75 65 0C 02 02 06 F0 F7"));
  CHECK_EQUAL(0, code_of(bench, kGx5Format));
  CHECK_EQUAL(0, code_of(bench, "75 65 0C 05 05 11 01 01 01 04 1A"));
  CHECK_EQUAL(1, code_of(bench, kFormat));
  CHECK_EQUAL(3, code_of(bench, "75 65 0C 05 05 11 01 80 01 83 18"));
  bench.run_for(1.0);
  CHECK_EQUAL(100, bench.out.frames.size());
  const auto fields = fields_of(bench.out.frames[49].bytes);
  CHECK_EQUAL(0x12, fields[2].descriptor);
  CHECK_EQUAL(12, fields[2].data.size());
  DOUBLES_EQUAL(0.5, std::bit_cast<double>(sim::get_be(fields[2].data, 0, 8)), 1e-9);
}

TEST(SimMicrostrainMip, OnlyWhatWasSavedOutlivesAPowerCycle) {
  Bench bench("microstrain_mip");
  bench.ask(kFormat);
  bench.model->power_up(bench.now, bench.out);
  check_answer(bench, command(0x0C, {0x0F, 2, 0x80}), "75 65 0C 08 04 F1 0F 00 04 8F 80 00 05 61");
  bench.ask(kFormat);
  bench.ask("75 65 0C 03 03 30 03 1F 45");
  bench.model->power_up(bench.now, bench.out);
  const auto fields = fields_of(sim_test::bytes_of(bench.ask(command(0x0C, {0x0F, 2, 0x80}))[0]));
  STRCMP_EQUAL("80 03 04 00 0A 05 00 0A D5 00 0A", sim_test::hex_of(fields[1].data).c_str());
}

TEST(SimMicrostrainMip, ANewBaudRateHoldsAfterTheReply) {
  Bench bench("microstrain_mip");
  bench.ask("75 65 0C 07 07 40 01 00 0E 10 00 53 9D");
  CHECK_EQUAL(115200, bench.model->baud());
  bench.run_for(0.1);
  CHECK_EQUAL(921600, bench.model->baud());
}

TEST(SimMicrostrainMip, APartialCommandIsForgottenAfterSilence) {
  Bench bench("microstrain_mip");
  CHECK_EQUAL(0, bench.ask("75 65 01 02 02").size());
  CHECK_EQUAL(1, bench.ask("01 E0 C6").size());
  CHECK_EQUAL(0, bench.ask("75 65 01 02 02").size());
  bench.run_for(0.2);
  CHECK_EQUAL(0, bench.ask("01 E0 C6").size());
}

TEST(SimMicrostrainMip, TwoCommandsInOnePacketAreAnsweredInOne) {
  Bench bench("microstrain_mip");
  const auto two = sim::mip::packet_bytes(0x01, {{0x01, {}}, {0x02, {}}});
  const auto fields = fields_of(sim_test::bytes_of(bench.ask(sim_test::hex_of(two))[0]));
  CHECK_EQUAL(2, fields.size());
  CHECK_EQUAL(2, sim::u8_at(fields[1].data, 0));
}

TEST(SimMicrostrainMip, TheFilterSetCarriesItsValidityFlag) {
  Bench bench("microstrain_mip");
  CHECK_EQUAL(0, code_of(bench, command(0x0C, {0x0F, 1, 0x82, 2, 0x03, 0, 5, 0xD5, 0, 5})));
  bench.run_for(0.1);
  CHECK_EQUAL(10, bench.out.frames.size());
  const auto fields = fields_of(bench.out.frames[0].bytes);
  CHECK_EQUAL(18, fields[0].data.size());
  CHECK_EQUAL(1, sim::get_be(fields[0].data, 16, 2));
}

TEST(SimMicrostrainMip, ARealRecordingIsTakenApartAndPutTogetherUnchanged) {
  std::FILE* const file = std::fopen(test::in_captures("microstrain-mip/mip_first400.bin").c_str(), "rb");
  if (file == nullptr) {
    std::puts("skipped: no captures/microstrain-mip");
    return;
  }
  sim::ByteVector all(1 << 16);
  all.resize(std::fread(all.data(), 1, all.size(), file));
  std::fclose(file);
  sim::mip::Parser parser;
  sim::mip::Packet packet;
  sim::ByteVector again;
  int packets = 0;
  parser.add(all, sim_test::kStart);
  for (; parser.next(packet) == sim::mip::Parser::Found::packet; ++packets) {
    const auto bytes = sim::mip::packet_bytes(packet.set, packet.fields);
    again.insert(again.end(), bytes.begin(), bytes.end());
  }
  CHECK_EQUAL(400, packets);
  CHECK_TRUE(again == all);
}

TEST(SimMicrostrainMip, AFalsifiedPacketHasNonsenseUnderAGoodChecksum) {
  Bench bench("microstrain_mip", {{"streaming", "on"}});
  bench.run_for(0.01);
  sim::ByteVector frame = bench.out.frames[0].bytes;
  sim::Random random(3);
  bench.model->falsify(frame, random);
  const auto fields = fields_of(frame);
  const double x = f32_of(fields[1], 0);
  CHECK_TRUE(std::isnan(x) || x > 1e8);
  CHECK_EQUAL(10'000'000, sim::get_be(fields[0].data, 0, 8));
}

TEST(SimMicrostrainMip, ARateThatIsNoDivisorIsRefused) {
  const sim::ModelRow& row = *sim::find_model("microstrain_mip");
  const sim::Settings settings = *sim::Settings::check(row.options, {});
  sim::DeviceClock clock(1);
  CHECK_FALSE(static_cast<bool>(row.make({settings, clock, 300.0, 1})));
  CHECK_TRUE(static_cast<bool>(row.make({settings, clock, 250.0, 1})));
}
