// CoLa2 with the simulated SICK safety scanner: sessions, variables, settings and refusals.
#include <algorithm>

#include "test/sim/room.h"
#include "test/unit/sim_sick_safety_bench.h"

using namespace safety_test;
using namespace std::chrono_literals;

namespace {

// Channel 0 to 127.0.0.1:53231, every scan, the whole field, all blocks.
const char* const kWorked =
    "B000 00000000 01 00 0000 0100007F EFCF 0100 00000000 00000000 1F00 0000";

std::string text_of(const std::string& words) {
  sim::ByteVector bytes;
  sim::put_le(bytes, words.size(), 2);
  sim::put_text(bytes, words);
  return hex_of(bytes);
}

}  // namespace

TEST_GROUP(SimSickSafetyDialogue) { Scanner scanner{{}}; };

TEST(SimSickSafetyDialogue, TheWorkedOpeningIsAnsweredByteByByte) {
  const auto reply =
      scanner.ask(bytes_of("02020202 0000000F 00 00 00000000 0001 4F 58 3C 00000001"));
  STRCMP_EQUAL("02 02 02 02 00 00 00 0A 00 00 00 00 12 34 00 01 4F 41", hex_of(reply).c_str());
}

TEST(SimSickSafetyDialogue, RequestsMayComeInPiecesWithASocketIndexAndAfterNoise) {
  const auto request =
      bytes_of("FF 02 02 02020202 00000013 00 01 AABBCCDD 00000000 0001 4F 78 3C 00000001");
  sim::ByteVector reply;
  for (const std::byte b : request) {
    const auto part = scanner.ask(sim::ByteVector{b});
    reply.insert(reply.end(), part.begin(), part.end());
  }
  STRCMP_EQUAL("02 02 02 02 00 00 00 0A 00 00 00 00 12 34 00 01 4F 41", hex_of(reply).c_str());
}

TEST(SimSickSafetyDialogue, ASessionEndsByClosingOrSilence) {
  const unsigned session = scanner.open(2);
  STRCMP_EQUAL("46 41 00 22", scanner.answer("RI", "0300", session + 1).c_str());
  scanner.run_for(1.9);
  STRCMP_EQUAL("52 41 03", scanner.answer("RI", "0300", session).substr(0, 8).c_str());
  scanner.run_for(1.9);
  STRCMP_EQUAL("43 41", scanner.answer("CX", "", session).c_str());
  STRCMP_EQUAL("46 41 00 22", scanner.answer("RI", "0300", session).c_str());
  const unsigned silent = scanner.open(2);
  scanner.run_for(2.1);
  STRCMP_EQUAL("46 41 00 22", scanner.answer("RI", "0300", silent).c_str());
}

TEST(SimSickSafetyDialogue, SessionsAreFew) {
  Scanner busy(sim::Options{{"sessions", "0"}});
  STRCMP_EQUAL("46 41 00 21", busy.answer("OX", "3C00000001", 0).c_str());
  for (int i = 0; i < 4; ++i) scanner.open();
  STRCMP_EQUAL("46 41 00 21", scanner.answer("Ox", "3C00000001", 0).c_str());
}

TEST(SimSickSafetyDialogue, ItSaysWhoItIs) {
  const unsigned session = scanner.open();
  const auto read = [&](const char* index) { return scanner.answer("RI", index, session); };
  STRCMP_EQUAL(("52 41 03 00 " + text_of("20430241")).c_str(), read("0300").c_str());
  STRCMP_EQUAL(("52 41 04 00 " + text_of("R 03.20.00")).c_str(), read("0400").c_str());
  STRCMP_EQUAL(("52 41 0D 00 " + text_of("MICS3-CBAZ40ZA1P01")).c_str(), read("0D00").c_str());
  STRCMP_EQUAL(("52 41 0E 00 " + text_of("1075845")).c_str(), read("0E00").c_str());
  STRCMP_EQUAL("52 41 0F 00 00", read("0F00").c_str());
  STRCMP_EQUAL("52 41 10 00 00 00", read("1000").c_str());
  for (const char* name : {"1100", "1200", "2100", "2300"})
    STRCMP_EQUAL("52 41", read(name).substr(0, 5).c_str());
  STRCMP_EQUAL("46 41 00 03", read("FF00").c_str());
}

TEST(SimSickSafetyDialogue, TheWorkedSettingsMakeItStreamToThatAddress) {
  const unsigned session = scanner.open();
  STRCMP_EQUAL("41 49 B0 00", scanner.answer("MI", kWorked, session).c_str());
  const auto payloads = scanner.payloads(0.1);
  CHECK_EQUAL(3, payloads.size());
  for (const sim::Frame& frame : scanner.out.frames) {
    CHECK_EQUAL(0x7F000001, frame.way.to.ip);
    CHECK_EQUAL(53231, frame.way.to.port);
  }
  for (std::size_t place = 32; place < 52; place += 4)
    CHECK_TRUE(block(payloads.at(1), place).size > 0);
}

TEST(SimSickSafetyDialogue, ASettingHoldsFromTheNextWholeScanOn) {
  scanner.run_for(0.045);
  scanner.answer("MI", kWorked, scanner.open());
  const auto payloads = scanner.payloads(0.1);
  CHECK_EQUAL(3, payloads.size());
  CHECK_EQUAL(3, get_le(payloads.at(1), 20, 4));
  CHECK_EQUAL(60'000'000, (scanner.out.scans[0].beams[0].at - sim_test::kStart).count());
}

TEST(SimSickSafetyDialogue, DividerWindowAndBlocksAreObeyed) {
  // Channel 2, every third scan, 0 to 90.05 degrees, derived values and beams.
  const std::string window =
      "B000 02000000 01 00 0000 0100007F EFCF 0300 00000000 33338316 0600 0000";
  scanner.answer("MI", window, scanner.open());
  const auto payloads = scanner.payloads(0.3);
  CHECK_EQUAL(3, payloads.size());
  const auto& payload = payloads.at(1);
  CHECK_EQUAL(2, sim::u8_at(payload, 12));
  CHECK_EQUAL(3, get_le(payload, 20, 4));
  CHECK_EQUAL(0, block(payload, 32).size);
  const Block derived = block(payload, 36);
  const auto& beams = scanner.out.scans[0].beams;
  CHECK_EQUAL(900, get_le(payload, derived.offset + 2, 2));
  CHECK_EQUAL(900, beams.size());
  DOUBLES_EQUAL(0.1, i32_at(payload, derived.offset + 8) / 4194304.0, 0.001);
  DOUBLES_EQUAL(sim::radians(i32_at(payload, derived.offset + 8) / 4194304.0 - 90.0),
                beams.front().angle, 1e-9);
  DOUBLES_EQUAL(0.0, beams.back().angle, 0.002);
}

TEST(SimSickSafetyDialogue, SettingsThatCannotBeAreRefused) {
  const unsigned session = scanner.open();
  const char* const kWrong[] = {
      "B000 04000000 01 00 0000 0100007F EFCF 0100 00000000 00000000 1F00 0000",  // channel 4
      "B000 00000000 01 00 0000 0100007F 0000 0100 00000000 00000000 1F00 0000",  // port 0
      "B000 00000000 01 00 0000 00000000 EFCF 0100 00000000 00000000 1F00 0000",  // nobody
      "B000 00000000 01 00 0000 0100007F EFCF 0000 00000000 00000000 1F00 0000",  // divider 0
      "B000 00000000 01 00 0000 0100007F EFCF 0100 00000000 00000000 1F00",       // too short
  };
  for (const char* const wrong : kWrong)
    STRCMP_EQUAL("46 41 00 04", scanner.answer("MI", wrong, session).c_str());
  STRCMP_EQUAL("46 41 00 02", scanner.answer("MI", "B100", session).c_str());
  STRCMP_EQUAL("41 49 0E 00", scanner.answer("MI", "0E00 0500", session).c_str());
  CHECK_EQUAL(0, scanner.payloads(0.1).size());
}

TEST(SimSickSafetyDialogue, SettingsMayBeDeniedOrComeToNothing) {
  const struct {
    sim::Options set;
    const char* answer;
  } kRows[] = {{{{"settings", "denied"}}, "46 41 00 01"},
               {{{"settings", "busy"}}, "46 41 00 0D"},
               {{{"settings", "ignored"}}, "41 49 B0 00"},
               {{{"strict", "on"}, {"model", "nanoScan3"}}, "46 41 00 04"}};
  for (const auto& row : kRows) {
    Scanner stubborn(row.set);
    STRCMP_EQUAL(row.answer, stubborn.answer("MI", kWorked, stubborn.open()).c_str());
    CHECK_EQUAL(0, stubborn.payloads(0.1).size());
  }
}

TEST(SimSickSafetyDialogue, WhatIsSetCanBeReadBack) {
  const unsigned session = scanner.open();
  scanner.answer("MI", kWorked, session);
  STRCMP_EQUAL(
      "52 41 B1 00 52 02 00 00 00 00 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 00 "
      "00 00 00 00 00",
      scanner.answer("RI", "B100", session).c_str());
  STRCMP_EQUAL(
      "52 41 B2 00 52 02 00 00 01 00 00 00 01 00 00 7F EF CF 01 00 00 00 00 00 00 00 00 "
      "00 1F 00 00 00 01 00 BF 0A 1E 00 00 00 00 00 20 F4 66 66 06 00 08 00 00 00",
      scanner.answer("RI", "B200", session).c_str());
}

TEST(SimSickSafetyDialogue, TheLatestTelegramIsThePayloadThatWasSent) {
  const unsigned session = scanner.open();
  scanner.answer("MI", kWorked, session);
  STRCMP_EQUAL("52 41 B3 00", scanner.answer("RI", "B300", session).c_str());
  const auto payload = scanner.payloads(0.03).at(1);
  STRCMP_EQUAL(("52 41 B3 00 " + hex_of(payload)).c_str(),
               scanner.answer("RI", "B300", session).c_str());
}

TEST(SimSickSafetyDialogue, PowerLossForgetsSettingsSessionsAndNumbers) {
  const unsigned session = scanner.open();
  scanner.answer("MI", kWorked, session);
  scanner.run_for(1.0);
  scanner.clock.restart(scanner.now);
  scanner.model->power_up(scanner.now, scanner.out);
  CHECK_EQUAL(0, scanner.payloads(0.5).size());
  STRCMP_EQUAL("46 41 00 22", scanner.answer("RI", "0300", session).c_str());
  scanner.answer("MI", kWorked, scanner.open());
  const auto payloads = scanner.payloads(0.06);
  CHECK_EQUAL(18, get_le(payloads.begin()->second, 20, 4));
  CHECK_EQUAL(1, get_le(payloads.begin()->second, 16, 4));
}
