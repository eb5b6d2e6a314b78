// What the simulated Hokuyo answers, command by command.
#include "test/unit/sim_hokuyo_bench.h"

using hokuyo_test::HokuyoBench;
using hokuyo_test::scan_of;

TEST_GROUP(SimHokuyoDialogue) { HokuyoBench bench{sim::Options{{"model", "URG-04LX-UG01"}}}; };

TEST(SimHokuyoDialogue, AUg01SaysWhoItIsAsARealOneDid) {
  STRCMP_EQUAL(
      "VV\n00P\nVEND:Hokuyo Automatic Co.,Ltd.;[\n"
      "PROD:SOKUIKI Sensor URG-04LX-UG01(Simple-URG);[\nFIRM:3.4.03(17/Dec./2012);T\n"
      "PROT:SCIP 2.0;N\nSERI:H1510998;V\n\n",
      bench.ask("VV\n").c_str());
}

TEST(SimHokuyoDialogue, AnUrgHasTheFirmwareAndTheParametersOfTheManual) {
  HokuyoBench urg(sim::Options{{"scip", "2"}});
  const std::string version = urg.ask("VV\n");
  for (const char* line :
       {"PROD:SOKUIKI Sensor URG-04LX;[\n", "FIRM:3.2.00(28/Aug./2007);f\n", "SERI:H0508486;T\n"})
    CHECK_TRUE(version.find(line) != std::string::npos);
  const std::string parameters = urg.ask("PP\n");
  CHECK_TRUE(parameters.find("\nDMIN:20;4\nDMAX:5600;_\nARES:1024;\\\nAMIN:44;7\nAMAX:725;o\n"
                             "AFRT:384;6\nSCAN:600;e\n\n") != std::string::npos);
}

TEST(SimHokuyoDialogue, TheStateTellsOfLaserAndMeasurement) {
  CHECK_TRUE(bench.ask("II\n").find("LASR:OFF;") != std::string::npos);
  bench.ask("MD0044072501000\n");
  const std::string state = bench.ask("II\n");
  CHECK_TRUE(state.find("LASR:ON;") != std::string::npos);
  CHECK_TRUE(state.find("MESM:Measuring;") != std::string::npos);
}

TEST(SimHokuyoDialogue, AnUrgStartsInTheOldLanguageAtItsBootRate) {
  HokuyoBench urg(sim::Options{});
  CHECK_EQUAL(19200, urg.model().baud());
  STRCMP_EQUAL("QT\nE\n\n", urg.ask("QT\n").c_str());
  STRCMP_EQUAL("VV\nE\n\n", urg.ask("VV\n").c_str());
  STRCMP_EQUAL("SCIP2.0\n0\n\n", urg.ask("SCIP2.0\n").c_str());
  STRCMP_EQUAL("SCIP2.0\n0Ee\n\n", urg.ask("SCIP2.0\n").c_str());
  STRCMP_EQUAL("QT\n00P\n\n", urg.ask("QT\n").c_str());
}

TEST(SimHokuyoDialogue, EveryTerminatorEndsARequestOnce) {
  STRCMP_EQUAL("BM\n00P\n\n", bench.ask("BM\r").c_str());
  STRCMP_EQUAL("", bench.ask("\n\n\r\n").c_str());
  STRCMP_EQUAL("BM\n02R\n\nQT\n00P\n\n", bench.ask("BM\r\nQT\n").c_str());
  STRCMP_EQUAL("", bench.ask("Q").c_str());
  STRCMP_EQUAL("QT\n00P\n\n", bench.ask("T\n").c_str());
}

TEST(SimHokuyoDialogue, WhatIsNoCommandIsRefused) {
  for (const char* unknown : {"XX", "Q", "HD0044072501", "ME0044072501000", "GE0044072501", "qt"})
    STRCMP_EQUAL((std::string(unknown) + "\n0Ee\n\n").c_str(),
                 bench.ask(std::string(unknown) + "\n").c_str());
  STRCMP_EQUAL("MD00440725\n0Cc\n\n", bench.ask("MD00440725\n").c_str());
  STRCMP_EQUAL("QT1\n0Dd\n\n", bench.ask("QT1\n").c_str());
}

TEST(SimHokuyoDialogue, AStringIsEchoedOrRefused) {
  STRCMP_EQUAL("QT;a B_1.+@\n00P\n\n", bench.ask("QT;a B_1.+@\n").c_str());
  STRCMP_EQUAL("QT;12345678901234567\n0Gg\n\n", bench.ask("QT;12345678901234567\n").c_str());
  STRCMP_EQUAL("QT;a#b\n0Hh\n\n", bench.ask("QT;a#b\n").c_str());
  bench.ask("MD0384038401000;run 1\n");
  CHECK_EQUAL(0, bench.first_text(0.1).find("MD0384038401000;run 1\n99b\n"));
}

TEST(SimHokuyoDialogue, EachWrongParameterHasItsStatus) {
  const char* const kWrong[][2] = {
      {"MDx044072501000", "01Q"}, {"MD0044x72501000", "02R"}, {"MD00440725x1000", "03S"},
      {"MD0044076901000", "04T"}, {"MD0725004401000", "05U"}, {"MD0044072501x00", "06V"},
      {"MD00440725010x0", "07W"}, {"GDx044072501", "01Q"},    {"GS0044076901", "04T"}};
  for (const auto& [request, code] : kWrong)
    STRCMP_EQUAL((std::string(request) + "\n" + code + "\n\n").c_str(),
                 bench.ask(std::string(request) + "\n").c_str());
  CHECK_EQUAL(0, bench.texts(0.5).size());
}

TEST(SimHokuyoDialogue, TheCountGoesDownAndTheLaserGoesOff) {
  STRCMP_EQUAL("MD0384038601003\n00P\n\n", bench.ask("MD0384038601003\n").c_str());
  const auto scans = bench.texts(1.0);
  CHECK_EQUAL(3, scans.size());
  CHECK_EQUAL(0, scans[0].find("MD0384038601002\n99b\n"));
  CHECK_EQUAL(0, scans[2].find("MD0384038601000\n99b\n"));
  CHECK_TRUE(bench.ask("II\n").find("LASR:OFF;") != std::string::npos);
}

TEST(SimHokuyoDialogue, TheIntervalLeavesScansOut) {
  bench.ask("MD0384038601200\n");
  CHECK_EQUAL(4, bench.texts(1.0).size());
  CHECK_EQUAL(300'000'000, (bench.out.frames[1].at - bench.out.frames[0].at).count());
}

TEST(SimHokuyoDialogue, OneScanWantsTheLaserAndIsTheLastWholeOne) {
  STRCMP_EQUAL("GD0384038601\n10Q\n\n", bench.ask("GD0384038601\n").c_str());
  bench.ask("BM\n");
  STRCMP_EQUAL("", bench.ask("GD0384038601\n").c_str());
  const auto first = bench.texts(0.25);
  CHECK_EQUAL(1, first.size());
  CHECK_EQUAL(0, first[0].find("GD0384038601\n00P\n"));
  CHECK_EQUAL(3, scan_of(first[0]).mm.size());
  CHECK_EQUAL(0, scan_of(first[0]).stamp_ms);
  CHECK_EQUAL(100, scan_of(bench.ask("GS0384038601\n"), 2).stamp_ms);
}

TEST(SimHokuyoDialogue, AStreamIsStoppedAndAnotherTakesItsPlace) {
  HokuyoBench found(sim::Options{{"model", "UTM-30LX"}, {"found", "streaming"}});
  CHECK_EQUAL(40, found.texts(1.0).size());
  STRCMP_EQUAL("QT\n00P\n\n", found.ask("QT\n").c_str());
  CHECK_EQUAL(0, found.texts(1.0).size());
  found.ask("MD0000108001000\n");
  found.ask("MS0540054001000\n");
  const auto scans = found.texts(0.1);
  CHECK_EQUAL(4, scans.size());
  CHECK_EQUAL(0, scans[0].find("MS0540054001000\n99b\n"));
  CHECK_EQUAL(0, scans.back().find("MS"));
}

TEST(SimHokuyoDialogue, TimeIsReadInAdjustModeOnly) {
  bench.texts(1.2345);
  STRCMP_EQUAL("TM1\n04T\n\n", bench.ask("TM1\n").c_str());
  STRCMP_EQUAL("TM2\n03S\n\n", bench.ask("TM2\n").c_str());
  STRCMP_EQUAL("TM0\n00P\n\n", bench.ask("TM0\n").c_str());
  STRCMP_EQUAL("TM0\n02R\n\n", bench.ask("TM0\n").c_str());
  STRCMP_EQUAL("TM1\n00P\n00CBU\n\n", bench.ask("TM1\n").c_str());  // 1234 ms
  STRCMP_EQUAL("TM7\n01Q\n\n", bench.ask("TM7\n").c_str());
  for (const char* other : {"QT", "BM", "VV", "MD0384038601000"})
    STRCMP_EQUAL((std::string(other) + "\n0Ee\n\n").c_str(),
                 bench.ask(std::string(other) + "\n").c_str());
  STRCMP_EQUAL("TM2\n00P\n\n", bench.ask("TM2\n").c_str());
  bench.ask("BM\n");
  STRCMP_EQUAL("TM0\n0Ee\n\n", bench.ask("TM0\n").c_str());
}

TEST(SimHokuyoDialogue, SomeSensorsTellTheTimeAlways) {
  HokuyoBench free(sim::Options{{"model", "UTM-30LX"}, {"time", "always"}});
  STRCMP_EQUAL("TM1\n00P\n00000\n\n", free.ask("TM1\n").c_str());
}

TEST(SimHokuyoDialogue, ASensorLeftInAdjustModeRefusesQt) {
  HokuyoBench left(sim::Options{{"found", "adjust"}});
  STRCMP_EQUAL("QT\n0Ee\n\n", left.ask("QT\n").c_str());
  STRCMP_EQUAL("TM2\n00P\n\n", left.ask("TM2\n").c_str());
  STRCMP_EQUAL("QT\n00P\n\n", left.ask("QT\n").c_str());
}

TEST(SimHokuyoDialogue, TheBitRateChangesWhenTheReplyHasLeft) {
  HokuyoBench urg(sim::Options{{"scip", "2"}});
  STRCMP_EQUAL("SS01920x\n01Q\n\n", urg.ask("SS01920x\n").c_str());
  STRCMP_EQUAL("SS019201\n02R\n\n", urg.ask("SS019201\n").c_str());
  STRCMP_EQUAL("SS019200\n03S\n\n", urg.ask("SS019200\n").c_str());
  urg.texts(0.1);
  STRCMP_EQUAL("SS115200\n00P\n\n", urg.ask("SS115200\n").c_str());
  urg.texts(0.007);  // 14 bytes take 7.3 ms
  CHECK_EQUAL(19200, urg.model().baud());
  urg.texts(0.003);
  CHECK_EQUAL(115200, urg.model().baud());
  STRCMP_EQUAL("SS115200\n04T\n\n", bench.ask("SS115200\n").c_str());  // on USB
}

TEST(SimHokuyoDialogue, AResetStopsForgetsTheTimeAndReturnsToTheBootRate) {
  HokuyoBench urg(sim::Options{{"scip", "2"}});
  urg.ask("SS115200\n");
  urg.texts(0.1);
  urg.ask("MD0384038601000\n");
  urg.texts(1.0);
  STRCMP_EQUAL("RS\n00P\n\n", urg.ask("RS\n").c_str());
  CHECK_EQUAL(0, urg.texts(0.5).size());
  CHECK_EQUAL(19200, urg.model().baud());
  urg.ask("TM0\n");
  STRCMP_EQUAL("TM1\n00P\n007dk\n\n", urg.ask("TM1\n").c_str());  // 500 ms
}

TEST(SimHokuyoDialogue, TheMotorIsSlowedAndRestored) {
  STRCMP_EQUAL("CR10\n00P\n\n", bench.ask("CR10\n").c_str());
  CHECK_TRUE(bench.ask("II\n").find("SCSP:540[rpm];") != std::string::npos);
  bench.ask("MD0384038601000\n");
  CHECK_EQUAL(18, bench.texts(2.0).size());
  STRCMP_EQUAL("CR11\n01Q\n\n", bench.ask("CR11\n").c_str());
  bench.ask("CR99\n");
  bench.texts(0.3);
  CHECK_EQUAL(20, bench.texts(2.0).size());
  HokuyoBench utm(sim::Options{{"model", "UTM-30LX"}});
  STRCMP_EQUAL("CR05\n0Ee\n\n", utm.ask("CR05\n").c_str());
}

TEST(SimHokuyoDialogue, ABadLaserDoesNotLight) {
  HokuyoBench bad(sim::Options{{"model", "UTM-30LX"}, {"laser", "bad"}});
  STRCMP_EQUAL("BM\n01Q\n\n", bad.ask("BM\n").c_str());
  STRCMP_EQUAL("MD0000108001000\n50U\n\n", bad.ask("MD0000108001000\n").c_str());
  CHECK_EQUAL(0, bad.texts(1.0).size());
}

TEST(SimHokuyoDialogue, TheSerialNumberLineMayHaveItsKnownDefects) {
  HokuyoBench bad(sim::Options{{"model", "URG-04LX-UG01"}, {"vv", "bad_check"}});
  CHECK_TRUE(bad.ask("VV\n").find("SERI:H1510998;W\n\n") != std::string::npos);
  HokuyoBench empty(sim::Options{{"model", "URG-04LX-UG01"}, {"vv", "empty_line"}});
  CHECK_TRUE(empty.ask("VV\n").find("SERI:H1510998;V\n\n\n") != std::string::npos);
}

TEST(SimHokuyoDialogue, AVeryLongLineIsRefusedAndForgotten) {
  const std::string answer = bench.ask(std::string(500, 'A') + "\n");
  STRCMP_EQUAL((std::string(128, 'A') + "\n0Ee\n\n").c_str(), answer.c_str());
  STRCMP_EQUAL("QT\n00P\n\n", bench.ask("QT\n").c_str());
}

TEST(SimHokuyoDialogue, TheSpeedOnTheCommandLineIsTheOneThatItSays) {
  HokuyoBench fast(sim::Options{{"model", "UTM-30LX"}}, 20.0);
  CHECK_TRUE(fast.ask("PP\n").find("SCAN:1200;") != std::string::npos);
  fast.ask("MD0540054001000\n");
  CHECK_EQUAL(20, fast.texts(1.0).size());
  const sim::ModelRow& row = *sim::find_model("hokuyo_scip");
  const sim::Settings settings = *sim::Settings::check(row.options, {});
  sim::DeviceClock clock(1);
  CHECK_FALSE(static_cast<bool>(row.make({settings, clock, 101.0, 1})));
}

TEST(SimHokuyoDialogue, OnTheNetworkThereIsNoRate) {
  for (const char* model : {"UST-10LX", "UST-20LX", "UTM-30LX-EW"}) {
    HokuyoBench ust(sim::Options{{"model", model}});
    CHECK_EQUAL(0, ust.model().baud());
    STRCMP_EQUAL("SS115200\n0Ff\n\n", ust.ask("SS115200\n").c_str());
    STRCMP_EQUAL("SS115201\n02R\n\n", ust.ask("SS115201\n").c_str());
  }
}

TEST(SimHokuyoDialogue, ASleepingSensorMeasuresNothingUntilItIsWoken) {
  HokuyoBench utm(sim::Options{{"model", "UTM-30LX"}, {"found", "streaming"}});
  STRCMP_EQUAL("%ST\n00P\n004D\n\n", utm.ask("%ST\n").c_str());
  STRCMP_EQUAL("%SL\n00P\n\n", utm.ask("%SL\n").c_str());
  STRCMP_EQUAL("%ST\n00P\n005E\n\n", utm.ask("%ST\n").c_str());
  CHECK_EQUAL(0, utm.texts(1.0).size());
  utm.ask("QT\n");
  STRCMP_EQUAL("%ST\n00P\n000@\n\n", utm.ask("%ST\n").c_str());
  STRCMP_EQUAL("%SL\n0Ee\n\n", bench.ask("%SL\n").c_str());  // an URG
}

TEST(SimHokuyoDialogue, TheSecondRebootWithinASecondCounts) {
  HokuyoBench ust(sim::Options{{"model", "UST-10LX"}, {"found", "streaming"}});
  STRCMP_EQUAL("RB\n01Q\n\n", ust.ask("RB\n").c_str());
  ust.texts(1.5);
  STRCMP_EQUAL("RB\n01Q\n\n", ust.ask("RB\n").c_str());
  STRCMP_EQUAL("RB\n00P\n\n", ust.ask("RB\n").c_str());
  CHECK_EQUAL(0, ust.texts(1.0).size());
}

TEST(SimHokuyoDialogue, FurtherReturnsStandBehindTheirMark) {
  HokuyoBench ew(sim::Options{{"model", "UTM-30LX-EW"}});
  ew.ask("ND0540054201000\n");
  // Steps 540 to 542 look ahead, at the wall 4 m away: one return, two, three.
  CHECK_EQUAL(0, ew.first_text(0.06).find("ND0540054201000\n99b\n0000" +
                                          std::string(1, hokuyo_test::sum_of("0000")) +
                                          "\n0nP0nP&16D0nP&16D&1>8"));
  HokuyoBench ust(sim::Options{{"model", "UST-10LX"}});
  STRCMP_EQUAL("ND0540054201000\n0Ee\n\n", ust.ask("ND0540054201000\n").c_str());
}
