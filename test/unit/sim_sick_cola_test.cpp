// The simulated SICK scanners: what they answer, and their scans beside the truth.
#include <algorithm>
#include <fstream>

#include "test/sim/room.h"
#include "test/unit/sim_cola_reader.h"
#include "test/unit/sim_lidar_points.h"

using namespace std::string_literals;
using cola_test::ascii;
using cola_test::binary;
using cola_test::Channel;
using cola_test::payload_of;
using cola_test::Scan;
using cola_test::scan_of;

namespace {

const std::string kLogin = "sMN SetAccessMode 03 F4724744";
const std::string kConfigured = "sWN LMDscandatacfg 01 00 1 1 0 00 00 0 0 0 1 +1";

class ColaBench : public sim_test::Bench {
 public:
  explicit ColaBench(const sim::Options& set = {}, double rate_hz = 0.0)
      : Bench("sick_cola", set, rate_hz) {}

  std::vector<std::string> say(const std::string& bytes) {
    out.clear();
    model->receive(sim::Channel::data, cola_test::bytes_of(bytes), now, out);
    return frames();
  }
  // The payload of the one answer.
  std::string ask(const std::string& payload) { return payload_of(only(say(ascii(payload)))); }
  std::string ask_binary(const std::string& payload) {
    return payload_of(only(say(binary(payload))));
  }
  // Subscribed, with these settings of the content.
  void start(const std::string& content = kConfigured, const std::string& more = {}) {
    STRCMP_EQUAL("sAN SetAccessMode 1", ask(kLogin).c_str());
    STRCMP_EQUAL("sWA LMDscandatacfg", ask(content).c_str());
    if (!more.empty()) ask(more);
    STRCMP_EQUAL("sAN LMCstartmeas 0", ask("sMN LMCstartmeas").c_str());
    STRCMP_EQUAL("sAN Run 1", ask("sMN Run").c_str());
    STRCMP_EQUAL("sEA LMDscandata 1", ask("sEN LMDscandata 1").c_str());
  }
  std::vector<std::string> stream(double seconds) {
    out.clear();
    run_for(seconds);
    return frames();
  }
  std::vector<Scan> scans(double seconds) {
    std::vector<Scan> found;
    for (const std::string& frame : stream(seconds))
      if (payload_of(frame).starts_with("sSN LMDscandata ")) found.push_back(scan_of(frame));
    return found;
  }

 private:
  std::vector<std::string> frames() const {
    std::vector<std::string> texts;
    for (const sim::Frame& frame : out.frames) texts.push_back(cola_test::text_of(frame.bytes));
    return texts;
  }
  static std::string only(const std::vector<std::string>& answers) {
    CHECK_EQUAL(1, answers.size());
    return answers.front();
  }
};

// Angles and ranges of the first echo lie where the true beams do.
void check_scan(const Scan& scan, const sim::ScanTruth& truth) {
  const Channel& dist = *scan.channel("DIST1");
  CHECK_EQUAL(truth.beams.size(), dist.values.size());
  const double step = 360.0 / std::round(360.0 / dist.step_deg);
  for (std::size_t i = 0; i < truth.beams.size(); ++i) {
    const double angle = dist.start_deg + static_cast<double>(i) * step - 90.0;
    DOUBLES_EQUAL(sim::degrees(truth.beams[i].angle), angle, 1e-4);
    const double mm = dist.values[i] * dist.scale;
    if (truth.beams[i].range == 0.0)
      CHECK_TRUE(mm <= 34.0);
    else
      DOUBLES_EQUAL(truth.beams[i].range * 1000.0, mm, 0.5 * dist.scale + 1e-6);
  }
}

}  // namespace

TEST_GROUP(SimSickCola){};

TEST(SimSickCola, AnLms511AnswersTheStartOfARealOneByteForByte) {
  std::ifstream file(test::in_captures("sick-cola/lms511_startup.tsv"));
  if (!file) {
    std::printf("no captures: skipped\n");
    return;
  }
  ColaBench lms(sim::Options{{"model", "LMS511"}});
  std::string line, asked;
  int compared = 0;
  while (std::getline(file, line)) {
    if (line.starts_with("#")) continue;
    std::istringstream fields(line);
    std::string seconds, direction, hex;
    fields >> seconds >> direction >> hex;
    const std::string frame = cola_test::text_of(sim_test::bytes_of(hex));
    if (direction == "host>device") asked = frame;
    if (direction != "device>host" || asked.empty()) continue;
    const std::string name = payload_of(asked).substr(4);
    const std::vector<std::string> answers = lms.say(asked);
    CHECK_EQUAL(1, answers.size());
    const bool own_time = name == "LIDinputstate", defined = name.starts_with("field00");
    if (!own_time && !defined) {
      STRCMP_EQUAL(sim_test::hex_of(cola_test::bytes_of(frame)).c_str(),
                   sim_test::hex_of(cola_test::bytes_of(answers[0])).c_str());
      ++compared;
    }
    asked.clear();
  }
  CHECK_EQUAL(38, compared);
}

TEST(SimSickCola, TheTestReadsTheScansOfARealLms511) {
  const sim::ByteVector bytes = sim_test::bytes_of_capture("sick-cola/lms511_scan0.cola");
  if (bytes.empty()) {
    std::printf("no captures: skipped\n");
    return;
  }
  const Scan scan = scan_of(cola_test::text_of(bytes));
  CHECK_EQUAL(18110550, scan.serial);
  CHECK_EQUAL(54098, scan.telegram);
  CHECK_EQUAL(54484, scan.scan);
  CHECK_EQUAL(4101310801U, scan.power_up_us);
  CHECK_EQUAL(1141, scan.channel("DIST1")->values.size());
  CHECK_EQUAL(1305, scan.channel("DIST1")->values[0]);
  STRCMP_EQUAL("1970-01-01 03:31:30.928000", scan.date.c_str());
}

TEST(SimSickCola, EveryModelScansItsFieldInBothDialectsAsTheTruthHasIt) {
  const struct {
    const char* model;
    std::size_t beams;
    double start_deg, step_deg;
    unsigned hz100, samples100;
  } kModels[] = {
      {"TiM551", 271, -45.0, 1.0, 1500, 54},     {"TiM561", 811, -45.0, 0.3333, 1500, 162},
      {"TiM781", 811, -45.0, 0.3333, 1500, 162}, {"LMS111", 541, -45.0, 0.5, 5000, 360},
      {"LMS511", 1141, -5.0, 0.1667, 2500, 540}, {"LRS4581", 2401, -60.0, 0.125, 1250, 360},
      {"MRS1104", 1101, -47.5, 0.25, 5000, 720}};
  for (const auto& row : kModels)
    for (const std::string& on : {ascii("sEN LMDscandata 1"), binary("sEN LMDscandata \1")}) {
      ColaBench bench(sim::Options{{"model", row.model}});
      CHECK_EQUAL(1, bench.say(on).size());
      const std::vector<Scan> scans = bench.scans(1.0);
      CHECK_TRUE(scans.size() >= row.hz100 / 100 - 1);
      CHECK_EQUAL(scans.size(), bench.out.scans.size());
      for (std::size_t i = 0; i < scans.size(); ++i) {
        const Channel& dist = *scans[i].channel("DIST1");
        CHECK_EQUAL(row.beams, dist.values.size());
        DOUBLES_EQUAL(row.start_deg, dist.start_deg, 1e-9);
        DOUBLES_EQUAL(row.step_deg, dist.step_deg, 1e-9);
        CHECK_EQUAL(row.hz100, scans[i].hz100);
        CHECK_EQUAL(row.samples100, scans[i].samples100);
        CHECK_EQUAL(i, scans[i].telegram);
        CHECK_EQUAL(scans[i].power_up_us * 1000LL, bench.out.scans[i].device_ns);
        check_scan(scans[i], bench.out.scans[i]);
      }
    }
}

TEST(SimSickCola, TheStampIsOfTheFirstBeamOrTheLast) {
  for (const char* stamp : {"start", "end"}) {
    ColaBench bench(sim::Options{{"model", "TiM781"}, {"stamp", stamp}});
    bench.start();
    const std::vector<Scan> scans = bench.scans(2.0);
    CHECK_TRUE(scans.size() > 20);
    for (std::size_t i = 0; i < scans.size(); ++i) {
      const std::vector<sim::TrueBeam>& beams = bench.out.scans[i].beams;
      const bool at_end = stamp == "end"s;
      const hal::Time of = at_end ? beams.back().at : beams.front().at;
      CHECK_EQUAL((of - sim_test::kStart).count() / 1000, scans[i].power_up_us);
      // Captured: 6190 to 7131 us from the power-up stamp to the transmit stamp.
      const unsigned lag = scans[i].transmit_us - scans[i].power_up_us - (at_end ? 0 : 50'000);
      CHECK_TRUE(lag >= 6189 && lag <= 7132);
      CHECK_TRUE(bench.out.frames[i].at - beams.back().at >= hal::from_seconds(0.00618));
    }
  }
}

TEST(SimSickCola, StrengthsAreOfEightOrSixteenBitsOrNone) {
  ColaBench none, narrow, wide;
  none.start("sWN LMDscandatacfg 01 00 0 0 0 00 00 0 0 0 0 +1");
  narrow.start("sWN LMDscandatacfg 01 00 1 0 0 00 00 0 0 0 0 +1");
  wide.start("sWN LMDscandatacfg 01 00 1 1 0 00 00 0 0 0 0 +1");
  const Scan a = none.scans(0.2).at(0), b = narrow.scans(0.2).at(0), c = wide.scans(0.2).at(0);
  CHECK_TRUE(a.wide.size() == 1 && a.narrow.empty());
  CHECK_TRUE(b.wide.size() == 1 && b.narrow.size() == 1);
  CHECK_TRUE(c.wide.size() == 2 && c.narrow.empty());
  for (std::size_t i = 0; i < 811; ++i) {
    const bool nothing = a.wide[0].values[i] <= 2;
    CHECK_EQUAL(nothing, b.narrow[0].values[i] == 0);
    CHECK_EQUAL(nothing, c.wide[1].values[i] == 0);
  }
  CHECK_TRUE(a.date.empty());
}

TEST(SimSickCola, EchoesComeWhereTheFilterAndTheMaskWantThem) {
  const std::string mask = "sWN LMDscandatacfg 1F 00 1 1 0 00 00 0 0 0 0 +1";
  ColaBench all(sim::Options{{"model", "LMS511"}}), first(sim::Options{{"model", "LMS511"}}),
      last(sim::Options{{"model", "LMS511"}});
  all.start(mask, "sWN FREchoFilter 1");
  first.start(mask, "sWN FREchoFilter 0");
  last.start(mask, "sWN FREchoFilter 2");
  const Scan a = all.scans(0.1).at(0), f = first.scans(0.1).at(0), l = last.scans(0.1).at(0);
  CHECK_EQUAL(10, a.wide.size());
  CHECK_EQUAL(2, f.wide.size());
  for (std::size_t i = 0; i < 1141; ++i) {
    unsigned farthest = 0;
    for (const char* name : {"DIST1", "DIST2", "DIST3", "DIST4", "DIST5"})
      farthest = std::max(farthest, a.channel(name)->values[i]);
    CHECK_EQUAL(a.channel("DIST1")->values[i], f.wide[0].values[i]);
    CHECK_EQUAL(farthest, l.wide[0].values[i]);
    const bool five = i % 8 == 0 && a.wide[0].values[i] != 0;
    CHECK_EQUAL(five, a.channel("DIST5")->values[i] != 0);
    CHECK_EQUAL(five, a.channel("RSSI5")->values[i] != 0);
  }
  STRCMP_EQUAL("sFA 3", ColaBench().ask("sRN FREchoFilter").c_str());
}

TEST(SimSickCola, EveryBlockComesWhenItIsWanted) {
  ColaBench bench(sim::Options{{"model", "LMS511"}, {"unknown_channel", "on"}, {"scale", "2"}});
  bench.start("sWN LMDscandatacfg 01 00 1 0 0 03 00 1 1 1 1 +3");
  const std::vector<Scan> scans = bench.scans(1.0);
  CHECK_EQUAL(8, scans.size());
  const Scan& scan = scans.at(1);
  CHECK_EQUAL(2, scan.encoders.size());
  CHECK_TRUE(scan.has_position && scan.has_comment);
  STRCMP_EQUAL("SN 18110550", scan.name.c_str());
  STRNCMP_EQUAL("1970-01-01 00:00:00.", scan.date.c_str(), 20);
  CHECK_EQUAL(7, scan.channel("VANGL")->values.size());
  DOUBLES_EQUAL(2.0, scan.channel("DIST1")->scale, 0.0);
  CHECK_EQUAL(3, scans[2].scan - scan.scan);
  CHECK_EQUAL(1, scans[2].telegram - scan.telegram);
  check_scan(scan, bench.out.scans.at(1));
}

TEST(SimSickCola, WithoutAPasswordNothingIsSet) {
  ColaBench lms(sim::Options{{"model", "LMS111"}});
  for (const char* write : {"sWN LMDscandatacfg 01 00 1 1 0 00 00 0 0 0 0 +1",
                            "sWN LMPoutputRange 1 1388 FFF92230 225510", "sWN FREchoFilter 1"})
    STRCMP_EQUAL("sFA A", lms.ask(write).c_str());
  for (const char* method : {"sMN LMCstartmeas", "sMN LMCstopmeas", "sMN mEEwriteall"})
    STRCMP_EQUAL("sFA 1", lms.ask(method).c_str());
  STRCMP_EQUAL("sAN SetAccessMode 0", lms.ask("sMN SetAccessMode 03 6FD62C05").c_str());
  STRCMP_EQUAL("sAN SetAccessMode 1", lms.ask(kLogin).c_str());
  STRCMP_EQUAL("sWA FREchoFilter", lms.ask("sWN FREchoFilter 1").c_str());
  STRCMP_EQUAL("sAN Run 1", lms.ask("sMN Run").c_str());
  STRCMP_EQUAL("sFA A", lms.ask("sWN FREchoFilter 1").c_str());
  ColaBench safety(sim::Options{{"model", "TiM781S"}});
  STRCMP_EQUAL("sAN SetAccessMode 0", safety.ask(kLogin).c_str());
  STRCMP_EQUAL("sAN SetAccessMode 1", safety.ask("sMN SetAccessMode 03 6FD62C05").c_str());
}

TEST(SimSickCola, WhatItDoesNotKnowItRefusesWithTheCodeOfTheKind) {
  ColaBench tim;
  STRCMP_EQUAL("sFA 3", tim.ask("sRN Nothing").c_str());
  STRCMP_EQUAL("sFA 3", tim.ask("sWN Nothing 1").c_str());
  STRCMP_EQUAL("sFA 2", tim.ask("sMN Nothing").c_str());
  STRCMP_EQUAL("sFA F", tim.ask("sEN InertialMeasurementUnit 1").c_str());
  STRCMP_EQUAL("sFA C", tim.ask("sXX Nothing").c_str());
  CHECK_TRUE(tim.ask_binary("sRN Nothing") == "sFA\0\3"s);
  ColaBench mrs(sim::Options{{"model", "MRS1104"}});
  mrs.ask(kLogin);
  STRCMP_EQUAL("sFA 4", mrs.ask("sWN LMPoutputRange 1 9C4 FFF8C080 22B6C8").c_str());
}

TEST(SimSickCola, AStrictDeviceSpeaksItsDialectUntilItIsToldTheOther) {
  for (const bool is_binary : {false, true}) {
    ColaBench tim(sim::Options{{"dialect", is_binary ? "b" : "a"}});
    const std::string a = ascii("sRN SCdevicestate"), b = binary("sRN SCdevicestate");
    CHECK_EQUAL(is_binary ? 0 : 1, tim.say(a).size());
    CHECK_EQUAL(is_binary ? 1 : 0, tim.say(b).size());
    const std::vector<std::string> told =
        tim.say(is_binary ? binary("sWN EIHstCola \0"s) : ascii("sWN EIHstCola 1"));
    CHECK_TRUE(told.at(0) == (is_binary ? binary("sWA EIHstCola ") : ascii("sWA EIHstCola")));
    CHECK_EQUAL(is_binary ? 1 : 0, tim.say(a).size());
    CHECK_EQUAL(is_binary ? 0 : 1, tim.say(b).size());
    tim.model->power_up(tim.now, tim.out);
    CHECK_EQUAL(is_binary ? 0 : 1, tim.say(a).size());
  }
}

TEST(SimSickCola, RequestsComeInAnyPortionsAndGarbageIsPassedOver) {
  const std::string all = "\r\n\2\2"s + ascii("sRN SCdevicestate") + "\2\2\2\2\0\0\0\3abc\0"s +
                          binary("sRN SCdevicestate") + "\2\2"s + binary("sRN ODpwrc");
  ColaBench whole, bytewise;
  const std::vector<std::string> expected = whole.say(all);
  CHECK_EQUAL(3, expected.size());
  std::vector<std::string> got;
  for (const char c : all)
    for (const std::string& answer : bytewise.say(std::string(1, c))) got.push_back(answer);
  CHECK_TRUE(expected == got);
}

TEST(SimSickCola, SpeedAndFieldHoldFromRunOnAndAreReadBackAtOnce) {
  ColaBench lms(sim::Options{{"model", "LMS111"}});
  lms.ask(kLogin);
  STRCMP_EQUAL("sRA LMPscancfg 1388 1 1388 FFF92230 225510", lms.ask("sRN LMPscancfg").c_str());
  STRCMP_EQUAL("sAN mLMPsetscancfg 1 1388 1 1388 FFF92230 225510",
               lms.ask("sMN mLMPsetscancfg +1234 +1 +5000 -450000 +2250000").c_str());
  STRCMP_EQUAL("sAN mLMPsetscancfg 2 1388 1 1388 FFF92230 225510",
               lms.ask("sMN mLMPsetscancfg +5000 +1 +2500 -450000 +2250000").c_str());
  STRCMP_EQUAL("sAN mLMPsetscancfg 1 1388 1 1388 FFF92230 225510",
               lms.ask("sMN mLMPsetscancfg \\x00\\x00\\x13\\x88").c_str());
  STRCMP_EQUAL("sAN mLMPsetscancfg 0 9C4 1 9C4 FFF92230 225510",
               lms.ask("sMN mLMPsetscancfg +2500 +1 +2500 -450000 +2250000").c_str());
  STRCMP_EQUAL("sWA LMPoutputRange", lms.ask("sWN LMPoutputRange 1 9C4 +0 +1800000").c_str());
  STRCMP_EQUAL("sRA LMPoutputRange 1 9C4 0 1B7740", lms.ask("sRN LMPoutputRange").c_str());
  STRCMP_EQUAL("sFA 4", lms.ask("sWN LMPoutputRange 1 9C4 -460000 +1800000").c_str());
  STRCMP_EQUAL("sFA 4", lms.ask("sWN LMPoutputRange 1 1388 +0 +1800000").c_str());
  STRCMP_EQUAL("sFA 5", lms.ask("sWN LMPoutputRange 1 9C4 +0").c_str());
  lms.ask("sEN LMDscandata 1");
  CHECK_EQUAL(541, lms.scans(0.1).at(0).wide[0].values.size());
  lms.ask("sMN Run");
  const std::vector<Scan> scans = lms.scans(1.0);
  CHECK_EQUAL(25, scans.size());
  CHECK_EQUAL(721, scans[0].wide[0].values.size());
  check_scan(scans[0], lms.out.scans[0]);
  STRCMP_EQUAL("sRA STlms 7 0 8 00:00:00 A 01.01.1970 0 0 0", lms.ask("sRN STlms").c_str());
}

TEST(SimSickCola, APowerCycleForgetsTheSubscriptionAndWhatWasNotStored) {
  ColaBench lms(sim::Options{{"model", "LMS111"}});
  const std::string slow = "sMN mLMPsetscancfg +2500 +1 +2500 -450000 +2250000";
  lms.start(kConfigured, slow);
  CHECK_EQUAL(25, lms.scans(1.0).size());
  lms.model->power_up(lms.now, lms.out);
  CHECK_EQUAL(0, lms.stream(1.0).size());
  STRCMP_EQUAL("sRA LMPscancfg 1388 1 1388 FFF92230 225510", lms.ask("sRN LMPscancfg").c_str());
  lms.ask(kLogin), lms.ask(slow);
  STRCMP_EQUAL("sAN mEEwriteall 1", lms.ask("sMN mEEwriteall").c_str());
  lms.model->power_up(lms.now, lms.out);
  STRCMP_EQUAL("sRA LMPscancfg 9C4 1 9C4 FFF92230 225510", lms.ask("sRN LMPscancfg").c_str());
}

TEST(SimSickCola, ItStopsWhenItIsTold) {
  ColaBench tim;
  tim.start();
  CHECK_TRUE(tim.scans(0.5).size() >= 6);
  STRCMP_EQUAL("sEA LMDscandata 0", tim.ask("sEN LMDscandata 0").c_str());
  CHECK_EQUAL(0, tim.stream(0.5).size());
  CHECK_TRUE(tim.ask("sRN LMDscandata").starts_with("sRA LMDscandata 1 1 "));
  tim.ask(kLogin);
  STRCMP_EQUAL("sAN LMCstopmeas 0", tim.ask("sMN LMCstopmeas").c_str());
  STRCMP_EQUAL("sFA 4", tim.ask("sRN LMDscandata").c_str());
  STRCMP_EQUAL("sEA LMDscandata 1", tim.ask("sEN LMDscandata 1").c_str());
  CHECK_EQUAL(0, tim.stream(0.5).size());
}

TEST(SimSickCola, ARebootIsAnsweredAndThenItIsDeafForAWhile) {
  ColaBench tim;
  tim.start();
  tim.run_for(1.0);
  tim.ask(kLogin);
  STRCMP_EQUAL("sAN mSCreboot", tim.ask("sMN mSCreboot").c_str());
  CHECK_EQUAL(0, tim.say(ascii("sRN SCdevicestate")).size());
  CHECK_EQUAL(0, tim.stream(2.5).size());
  STRCMP_EQUAL("sRA SCdevicestate 1", tim.ask("sRN SCdevicestate").c_str());
}

TEST(SimSickCola, AnMrsIsBusyFor15SecondsAndTiltsItsLayersInTurn) {
  ColaBench mrs(sim::Options{{"model", "MRS1104"}});
  mrs.start();
  STRCMP_EQUAL("sRA SCdevicestate 0", mrs.ask("sRN SCdevicestate").c_str());
  CHECK_EQUAL(0, mrs.stream(15.0).size());
  const std::vector<Scan> scans = mrs.scans(0.2);
  STRCMP_EQUAL("sRA SCdevicestate 1", mrs.ask("sRN SCdevicestate").c_str());
  CHECK_TRUE(scans.size() >= 7);
  std::vector<int> layers;
  for (std::size_t i = 0; i < 4; ++i) layers.push_back(scans[i].layer100);
  std::sort(layers.begin(), layers.end());
  CHECK_TRUE((layers == std::vector<int>{-500, -250, 0, 250}));
}

TEST(SimSickCola, WhatItIsToldToRefuseItRefuses) {
  const char* const kRefusals[][3] = {
      {"login", kLogin.c_str(), "sAN SetAccessMode 0"},
      {"content", kConfigured.c_str(), "sFA 4"},
      {"range", "sWN LMPoutputRange 1 1388 FFF92230 225510", "sFA 4"},
      {"filter", "sWN FREchoFilter 1", "sFA 4"},
      {"start", "sMN LMCstartmeas", "sAN LMCstartmeas 1"},
      {"events", "sEN LMDscandata 1", "sFA F"}};
  for (const auto& [what, request, answer] : kRefusals) {
    ColaBench lms(sim::Options{{"model", "LMS111"}, {"refuse", what}});
    if (what != "login"s) lms.ask(kLogin);
    STRCMP_EQUAL(answer, lms.ask(request).c_str());
  }
}

TEST(SimSickCola, AChatteringDeviceTalksBetweenQuestionAndAnswerAndBetweenScans) {
  ColaBench tim(sim::Options{{"chatter", "on"}});
  const std::vector<std::string> said = tim.say(binary("sEN LMDscandata \1"));
  CHECK_EQUAL(3, said.size());
  CHECK_TRUE(payload_of(said[0]).starts_with("sSN LIDoutputstate "));
  CHECK_TRUE(payload_of(said[1]) == "sEA LMDscandata \1"s);
  CHECK_TRUE(payload_of(said[2]).starts_with("sRA LIDinputstate "));
  int fields = 0, scans = 0;
  for (const std::string& frame : tim.stream(1.0)) {
    const std::string payload = payload_of(frame);
    fields += payload.starts_with("sSN LFErec ") ? 1 : 0;
    scans += payload.starts_with("sSN LMDscandata ") ? 1 : 0;
  }
  CHECK_EQUAL(3, fields);
  CHECK_EQUAL(15, scans);
}

TEST(SimSickCola, FieldEventsAreSubscribedTo) {
  ColaBench tim;
  tim.start();
  STRCMP_EQUAL("sEA LFErec 1", tim.ask("sEN LFErec 1").c_str());
  int events = 0;
  for (const std::string& frame : tim.stream(1.0))
    events += payload_of(frame).starts_with("sSN LFErec ") ? 1 : 0;
  CHECK_EQUAL(3, events);
}

TEST(SimSickCola, ThePowerUpCounterWraps) {
  ColaBench tim;
  tim.start();
  tim.clock.restart(tim.now, (tim.model->clock_period() - hal::from_seconds(0.5)).count());
  const std::vector<Scan> scans = tim.scans(1.0);
  int wraps = 0;
  for (std::size_t i = 1; i < scans.size(); ++i) {
    wraps += scans[i].power_up_us < scans[i - 1].power_up_us ? 1 : 0;
    const auto step = static_cast<std::uint32_t>(scans[i].power_up_us - scans[i - 1].power_up_us);
    CHECK_TRUE(step >= 66'666 && step <= 66'667);
  }
  CHECK_EQUAL(1, wraps);
}

TEST(SimSickCola, AFalsifiedScanHasAGoodChecksumAndWildValues) {
  sim::Random random(7);
  ColaBench tim;
  tim.say(binary("sEN LMDscandata \1"));
  int changed = 0;
  for (const std::string& frame : tim.stream(2.0)) {
    sim::ByteVector bytes = cola_test::bytes_of(frame);
    tim.model->falsify(bytes, random);
    CHECK_EQUAL(frame.size(), bytes.size());
    payload_of(cola_test::text_of(bytes));
    changed += cola_test::text_of(bytes) != frame ? 1 : 0;
  }
  CHECK_EQUAL(30, changed);
  sim::ByteVector answer = cola_test::bytes_of(binary("sRA SCdevicestate \1"));
  const sim::ByteVector before = answer;
  tim.model->falsify(answer, random);
  CHECK_TRUE(before == answer);
}

TEST(SimSickCola, TheRateIsThatOfTheHeadAndImpossibleOnesAreRefused) {
  ColaBench tim({}, 7.5);
  tim.start();
  const std::vector<Scan> scans = tim.scans(4.0);
  CHECK_EQUAL(30, scans.size());
  CHECK_EQUAL(750, scans[0].hz100);
  const sim::ModelRow& row = *sim::find_model("sick_cola");
  const sim::Settings settings = *sim::Settings::check(row.options, {});
  sim::DeviceClock clock(1);
  CHECK_FALSE(static_cast<bool>(row.make({settings, clock, 101.0, 1})));
}
