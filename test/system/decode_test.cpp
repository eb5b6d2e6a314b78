// The contract of `lidarctl decode`, held against the recordings and what is expected of them.
#include <cmath>
#include <cstring>
#include <fstream>
#include <numbers>
#include <sstream>

#include "test/support/harness.h"
#include "test/support/pcap_writer.h"
#include "test/support/places.h"
#include "test/system/bench.h"
#include "test/system/json.h"

using test::contains;
using test::Json;
using test::Ran;

namespace {

// As printed in the manual of the LD19.
constexpr const char* kFrame =
    "54 2C 68 08 AB 7E E0 00 E4 DC 00 E2 D9 00 E5 D5 00 E3 D3 00 E4 D0 00 E9 CD 00 E4 CA 00 E2 "
    "C7 00 E9 C5 00 E5 C2 00 E5 C0 00 E5 BE 82 3A 1A 50\n";
constexpr double kDegree = std::numbers::pi / 180;

double off_degrees(double a_rad, double b_deg) {
  return std::abs(std::remainder(a_rad / kDegree - b_deg, 360.0));
}

}  // namespace

TEST_GROUP(SystemDecode) {
  test::Bench bench;
  std::vector<Json> lines;

  // Decodes; keeps the lines and checks what holds for all.
  void decode(const std::string& driver, const std::string& file,
              std::vector<std::string> settings = {}) {
    std::vector<std::string> arguments{"decode", driver, file};
    for (const std::string& setting : settings) {
      arguments.push_back("--set");
      arguments.push_back(setting);
    }
    const Ran ran = bench.lidarctl(arguments);
    LONGS_EQUAL_TEXT(0, ran.status, ran.err.c_str());
    STRCMP_EQUAL("", ran.err.c_str());
    lines.clear();
    std::istringstream out(ran.out);
    for (std::string line; std::getline(out, line);) lines.push_back(Json::parse(line));
    CHECK(!lines.empty());
    STRCMP_EQUAL("stats", stats()["type"].string().c_str());
    DOUBLES_EQUAL(stat("bytes"), stat("frame_bytes") + stat("garbage_bytes") + stat("tail_bytes"),
                  0);
    DOUBLES_EQUAL(stat("packets"), static_cast<double>(lines.size() - 1), 0);
  }
  const Json& stats() const { return lines.back(); }
  double stat(const char* key) const { return stats()[key].number(); }

  bool has_captures(const std::string& file) const {
    if (std::ifstream(test::in_captures(file))) return true;
    test::note("no captures: skipped");
    return false;
  }
  std::string capture(const std::string& file) const { return test::in_captures(file); }

  // Every scan and sample has exactly the members of the contract.
  void check_members() const {
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
      const Json& line = lines[i];
      if (line["type"].string() == "scan") {
        for (const char* const key : {"first_ns", "step_ns"}) (void)line[key].number();
        (void)line["starts_turn"].boolean();
        CHECK(line.has("device_ns"));
        for (const Json& beam : line["beams"].list()) LONGS_EQUAL(3, beam.list().size());
      } else {
        STRCMP_EQUAL("imu", line["type"].string().c_str());
        (void)line["t_ns"].number();
        for (const char* const key : {"device_ns", "accel", "gyro", "orientation"}) {
          CHECK_TEXT(line.has(key), key);
        }
      }
    }
  }
};

TEST(SystemDecode, RplidarCapsulesAreWhatTheVendorSays) {
  if (!has_captures("rplidar/express_0x82_5capsules.bin")) return;
  for (const char* const file :
       {"rplidar/express_0x82_5capsules.bin", "rplidar/express_0x82_5capsules.hex"}) {
    decode("rplidar", capture(file), {"answer=0x82"});
    check_members();
    DOUBLES_EQUAL(420, stat("bytes"), 0);
    DOUBLES_EQUAL(5, stat("frames"), 0);
    DOUBLES_EQUAL(4, stat("packets"), 0);
    std::vector<const Json*> beams;
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
      for (const Json& beam : lines[i]["beams"].list()) beams.push_back(&beam);
    }
    std::ifstream csv(capture("rplidar/express_0x82_5capsules.expected.csv"));
    std::string line;
    std::getline(csv, line);
    std::size_t n = 0;
    double worst = 0;
    while (std::getline(csv, line)) {
      double degrees = 0, mm = 0;
      if (std::sscanf(line.c_str(), "%*d,%*d,%*d,%lf,%lf", &degrees, &mm) != 2) continue;
      CHECK(n < beams.size());
      const Json& beam = *beams[n++];
      worst = std::max(worst, off_degrees(beam[0].number(), -degrees));
      DOUBLES_EQUAL(mm * 1e-3, beam[1].number(), 1e-6);
      CHECK(beam[2].is_null());
    }
    LONGS_EQUAL(128, n);
    LONGS_EQUAL(128, beams.size());
    CHECK_TEXT(worst <= 0.025, "angles");  // the vendor's integers are that coarse
  }
}

TEST(SystemDecode, LdrobotFrameOfTheManual) {
  if (!has_captures("ldrobot/manual_frame.hex")) return;
  decode("ldrobot", capture("ldrobot/manual_frame.hex"));
  check_members();
  LONGS_EQUAL(2, lines.size());
  const Json expected = Json::parse(test::read_file(capture("ldrobot/manual_frame.expected.json")));
  const Json::List& points = expected["points"].list();
  const Json::List& beams = lines[0]["beams"].list();
  LONGS_EQUAL(points.size(), beams.size());
  for (std::size_t i = 0; i < beams.size(); ++i) {
    CHECK(off_degrees(beams[i][0].number(), -points[i]["angle_deg"].number()) < 1e-3);
    DOUBLES_EQUAL(points[i]["dist_mm"].number() * 1e-3, beams[i][1].number(), 1e-6);
    DOUBLES_EQUAL(points[i]["intensity"].number(), beams[i][2].number(), 0);
  }
  DOUBLES_EQUAL(expected["timestamp_ms"].number() * 1e6, lines[0]["device_ns"].number(), 0);
  DOUBLES_EQUAL(47, stat("frame_bytes"), 0);
}

TEST(SystemDecode, MipPacketsAreWhatTheVendorDecoderSays) {
  if (!has_captures("microstrain-mip/mip_first400.bin")) return;
  decode("microstrain_mip", capture("microstrain-mip/mip_first400.bin"));
  check_members();
  DOUBLES_EQUAL(400, stat("frames"), 0);
  DOUBLES_EQUAL(18018, stat("bytes"), 0);
  std::ifstream text(capture("microstrain-mip/mip_first400.expected_vendor.txt"));
  std::size_t n = 0;
  double last_device_ns = 0;
  for (std::string line; std::getline(text, line);) {
    double a[3], w[3];
    const std::size_t acc = line.find("acc="), gyr = line.find("gyr="), t = line.find(" t=");
    if (acc == std::string::npos && gyr == std::string::npos &&
        line.find("mag=") == std::string::npos) {
      continue;
    }
    CHECK(n + 1 < lines.size());
    const Json& sample = lines[n++];
    if (acc == std::string::npos) continue;
    LONGS_EQUAL(3, std::sscanf(line.c_str() + acc, "acc=%lf,%lf,%lf", a, a + 1, a + 2));
    LONGS_EQUAL(3, std::sscanf(line.c_str() + gyr, "gyr=%lf,%lf,%lf", w, w + 1, w + 2));
    // MIP: x forward, y right, z down, in g; ours: x forward, y left, z up.
    const double sign[3] = {1, -1, -1};
    for (std::size_t i = 0; i < 3; ++i) {
      DOUBLES_EQUAL(sign[i] * a[i] * 9.80665, sample["accel"][i].number(), 1e-4);
      DOUBLES_EQUAL(sign[i] * w[i], sample["gyro"][i].number(), 1e-6);
    }
    if (t == std::string::npos) continue;
    const double device_ns = std::strtod(line.c_str() + t + 3, nullptr);
    if (last_device_ns != 0) CHECK(device_ns > last_device_ns);
    DOUBLES_EQUAL(device_ns, sample["device_ns"].number(), 0);
    last_device_ns = device_ns;
  }
  DOUBLES_EQUAL(stat("packets"), static_cast<double>(n), 0);
  test::note("%zu samples compared", n);
}

// Every value of the recordings, as another decoder wrote them down: rows "n,channel,values".
TEST(SystemDecode, SickScansAreWhatWasWrittenDown) {
  if (!has_captures("sick-cola/lms511_scan0.cola")) return;
  std::string lms, tim;
  for (const char* const n : {"0", "1", "2", "3"}) {
    lms += test::read_file(capture("sick-cola/lms511_scan" + std::string(n) + ".cola"));
  }
  // A container: 16 bytes before each segment, of which the last four are its length.
  const std::string held = test::read_file(capture("sick-cola/tim781_tcp_segments_15.bin"));
  for (std::size_t at = 0; at < held.size();) {
    std::size_t n = 0;
    for (std::size_t i = 4; i-- > 0;) n = n << 8 | static_cast<unsigned char>(held[at + 12 + i]);
    tim += held.substr(at + 16, n);
    at += 16 + n;
  }
  struct Recording {
    const std::string& bytes;
    const char* points;
    double scans, first_deg, step_deg, first_stamp_ns;
  };
  for (const Recording& r :
       {Recording{lms, "sick-cola/lms511.points.csv", 4, -95, 1.0 / 6, 4'101'310'801'000},
        Recording{tim, "sick-cola/tim781_tcp_segments_15.points.csv", 15, -135, 1.0 / 3,
                  3'014'133'219'000}}) {
    const std::string file = bench.file("sick.bin");
    test::write_file(file, r.bytes);
    decode("sick_cola", file);
    check_members();
    DOUBLES_EQUAL(r.scans, stat("packets"), 0);
    DOUBLES_EQUAL(stat("bytes"), stat("frame_bytes"), 0);
    DOUBLES_EQUAL(r.first_stamp_ns, lines[0]["device_ns"].number(), 0);
    std::ifstream csv(capture(r.points));
    std::string line;
    std::getline(csv, line);
    for (std::size_t k = 0; k + 1 < lines.size(); ++k) {
      std::string values[2];  // distances, intensities
      for (std::string& text : values) {
        std::getline(csv, text);
        text = text.substr(text.rfind(',') + 1);
      }
      std::istringstream ranges(values[0]), intensities(values[1]);
      std::size_t i = 0;
      for (const Json& beam : lines[k]["beams"].list()) {
        double mm = -1, intensity = -1;
        ranges >> mm, intensities >> intensity;
        const double angle = r.first_deg + r.step_deg * static_cast<double>(i++);
        CHECK(off_degrees(beam[0].number(), angle) < 1e-4);
        DOUBLES_EQUAL(mm < 16 || intensity == 0 ? 0 : mm * 1e-3, beam[1].number(), 1e-6);
        DOUBLES_EQUAL(intensity, beam[2].number(), 0);
      }
      CHECK(!(ranges >> line));
      CHECK(lines[k]["starts_turn"].boolean());
    }
  }
}

TEST(SystemDecode, GarbageAndTailAreCountedToTheByte) {
  const std::string frame = kFrame;
  const std::string file = bench.file("garbage.hex");
  test::write_file(file, "00 11 22 " + frame + "54 54 2C 99 " + frame + frame + "54 2C 68 08 AB");
  decode("ldrobot", file);
  DOUBLES_EQUAL(3 + 4 + 3 * 47 + 5, stat("bytes"), 0);
  DOUBLES_EQUAL(3, stat("frames"), 0);
  DOUBLES_EQUAL(3 * 47, stat("frame_bytes"), 0);
  DOUBLES_EQUAL(7, stat("garbage_bytes"), 0);
  DOUBLES_EQUAL(5, stat("tail_bytes"), 0);
  DOUBLES_EQUAL(3, stat("packets"), 0);
}

TEST(SystemDecode, GarbageBetweenRecordedFramesLosesNone) {
  if (!has_captures("microstrain-mip/mip_first400.bin")) return;
  const std::string bytes = test::read_file(capture("microstrain-mip/mip_first400.bin"));
  decode("microstrain_mip", capture("microstrain-mip/mip_first400.bin"));
  const double packets = stat("packets"), frames = stat("frames");
  std::string dirty;
  double garbage = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::string junk(at % 7, '\x11');
    garbage += static_cast<double>(junk.size());
    dirty += junk;
    const std::size_t length = static_cast<unsigned char>(bytes[at + 3]) + std::size_t{6};
    dirty += bytes.substr(at, length);
    at += length;
  }
  test::write_file(bench.file("dirty.bin"), dirty);
  decode("microstrain_mip", bench.file("dirty.bin"));
  DOUBLES_EQUAL(frames, stat("frames"), 0);
  DOUBLES_EQUAL(packets, stat("packets"), 0);
  DOUBLES_EQUAL(garbage, stat("garbage_bytes"), 0);
  DOUBLES_EQUAL(0, stat("tail_bytes"), 0);
}

TEST(SystemDecode, ArrivalFollowsTheLineRate) {
  const std::string one = bench.file("one.hex"), later = bench.file("later.hex");
  test::write_file(one, kFrame);
  std::string zeros;
  for (int i = 0; i < 1000; ++i) zeros += "00";
  test::write_file(later, zeros + kFrame);
  const auto delay = [&](std::vector<std::string> settings) {
    decode("ldrobot", one, settings);
    const double first = lines[0]["first_ns"].number();
    decode("ldrobot", later, settings);
    return lines[0]["first_ns"].number() - first;
  };
  DOUBLES_EQUAL(1000 * 1e10 / 230400, delay({}), 2);
  DOUBLES_EQUAL(1000 * 1e10 / 115200, delay({"baud=115200"}), 2);
  DOUBLES_EQUAL(0, delay({"baud=0"}), 0);
}

TEST(SystemDecode, AnEmptyFileHasOnlyStatistics) {
  test::write_file(bench.file("empty.bin"), "");
  for (const char* const driver : {"rplidar", "ldrobot", "microstrain_mip"}) {
    decode(driver, bench.file("empty.bin"));
    LONGS_EQUAL(1, lines.size());
    DOUBLES_EQUAL(0, stat("bytes"), 0);
  }
}

TEST(SystemDecode, ErrorsNameTheThingAndTheExitStatus) {
  test::write_file(bench.file("odd.hex"), "54 2C 6\n");
  test::write_file(bench.file("bad.hex"), "54 2C\n6g\n");
  test::write_file(bench.file("ok.hex"), "54 2C\n");
  struct Case {
    std::vector<std::string> arguments;
    int status;
    const char* says;
  };
  const Case cases[] = {
      {{"ldrobot", bench.file("none.bin")}, 66, "none.bin"},
      {{"ldrobot", bench.path()}, 66, bench.path().c_str()},
      {{"ldrobt", bench.file("ok.hex")}, 64, "did you mean 'ldrobot'"},
      {{"nonsense", bench.file("ok.hex")}, 64, "lidarctl drivers"},
      {{"rplidar", bench.file("ok.hex"), "--set", "answer=7"}, 64, "answer"},
      {{"rplidar", bench.file("ok.hex"), "--set", "anser=0x82"}, 64, "answer"},
      {{"rplidar", bench.file("ok.hex"), "--set", "xyzzyplugh=1"}, 64, "it knows baud mode"},
      {{"rplidar", bench.file("ok.hex"), "--set", "answer"}, 64, "key=value"},
      {{"rplidar", bench.file("ok.hex"), "--set", "baud=fast"}, 64, "baud"},
      {{"ldrobot", bench.file("odd.hex")}, 66, "middle of a byte"},
      {{"ldrobot", bench.file("bad.hex")}, 66, "bad.hex:2"},
  };
  for (const Case& c : cases) {
    std::vector<std::string> arguments{"decode"};
    arguments.insert(arguments.end(), c.arguments.begin(), c.arguments.end());
    const Ran ran = bench.lidarctl(arguments);
    LONGS_EQUAL_TEXT(c.status, ran.status, (ran.err + c.says).c_str());
    CHECK_TEXT(contains(ran.err, c.says), ran.err.c_str());
    STRCMP_EQUAL("", ran.out.c_str());
  }
}

namespace {

namespace pcap = test::pcap;

std::vector<test::Stream> datagrams(const std::string& bytes, std::size_t size) {
  std::vector<test::Stream> all;
  const auto view = std::as_bytes(std::span(bytes));
  for (std::size_t at = 0; at < view.size(); at += size) {
    const auto part = view.subspan(at, std::min(size, view.size() - at));
    all.emplace_back(part.begin(), part.end());
  }
  return all;
}

std::string text_of(const test::Stream& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TEST(SystemDecode, ANetworkCaptureGivesTheSameAtTheTimesOfCapture) {
  if (!has_captures("microstrain-mip/mip_first400.bin")) return;
  const std::string bytes = test::read_file(capture("microstrain-mip/mip_first400.bin"));
  decode("microstrain_mip", capture("microstrain-mip/mip_first400.bin"));
  const std::vector<Json> expected = lines;
  // As UDP to a file in nanoseconds, and as TCP, with two segments that change places.
  constexpr std::int64_t kBegin = 1'700'000'000'123'456'789;
  pcap::Writer udp(false, true);
  pcap::NgWriter tcp(true);
  tcp.interface(101, 9);
  std::int64_t at = kBegin;
  std::uint32_t sequence = 4'294'967'000;
  std::vector<test::Stream> segments;
  for (const test::Stream& part : datagrams(bytes, 700)) {
    udp.add(pcap::ethernet(pcap::udp_ip(part), {0x8100}), at += 1'000'000);
    udp.add(
        pcap::ethernet(pcap::udp_ip({std::byte{'?'}}, {pcap::kHost, pcap::kDevice, 40000, 2111})),
        at);
    segments.push_back(pcap::tcp_ip(sequence, part));
    sequence += static_cast<std::uint32_t>(part.size());
  }
  std::swap(segments[3], segments[4]);
  segments.push_back(segments[5]);
  at = kBegin;
  for (const test::Stream& s : segments)
    tcp.packet(0, s, static_cast<std::uint64_t>(at += 1'000'000));
  test::write_file(bench.file("udp.pcap"), text_of(udp.file));
  test::write_file(bench.file("tcp.pcapng"), text_of(tcp.file));
  for (const char* const file : {"udp.pcap", "tcp.pcapng"}) {
    const Ran ran =
        bench.lidarctl({"decode", "microstrain_mip", bench.file(file), "--from", "192.168.0.11"});
    LONGS_EQUAL_TEXT(0, ran.status, ran.err.c_str());
    lines.clear();
    std::istringstream out(ran.out);
    for (std::string line; std::getline(out, line);) lines.push_back(Json::parse(line));
    LONGS_EQUAL(expected.size(), lines.size());
    for (const char* const key : {"bytes", "frames", "packets", "garbage_bytes"}) {
      DOUBLES_EQUAL(expected.back()[key].number(), stat(key), 0);
    }
    const double first = lines[0]["t_ns"].number() - static_cast<double>(kBegin);
    CHECK_TEXT(first > -1e9 && first < 1e8, "the time of capture");
  }
}

TEST(SystemDecode, WhoIsMeantInANetworkCaptureIsChosen) {
  const std::string frame = kFrame;
  test::Stream bytes;
  for (std::size_t i = 0; i + 1 < frame.size(); i += 3) {
    bytes.push_back(static_cast<std::byte>(std::stoi(frame.substr(i, 2), nullptr, 16)));
  }
  pcap::Writer w;
  const pcap::Ends a{0x0A000001, 0x0A000002, 5000, 6000}, b{0x0A000003, 0x0A000002, 5001, 6000};
  for (int i = 0; i < 3; ++i) w.add(pcap::ethernet(pcap::udp_ip(bytes, a)), 1'000'000'000);
  w.add(pcap::ethernet(pcap::udp_ip(bytes, b)), 1'000'000'000);
  test::write_file(bench.file("two.pcap"), text_of(w.file));
  const auto frames = [&](std::vector<std::string> more, const char* says) {
    more.insert(more.begin(), {"decode", "ldrobot", bench.file("two.pcap")});
    const Ran ran = bench.lidarctl(more);
    CHECK_TEXT(contains(ran.err, says), ran.err.c_str());
    if (ran.status != 0) return -ran.status;
    return static_cast<int>(test::count_lines(ran.out)) - 1;
  };
  LONGS_EQUAL(3, frames({}, "left out is UDP 10.0.0.3:5001 to 10.0.0.2:6000"));
  LONGS_EQUAL(1, frames({"--port", "5001"}, ""));
  LONGS_EQUAL(1, frames({"--from", "10.0.0.3"}, ""));
  LONGS_EQUAL(3, frames({"--from", "10.0.0.1:5000", "--port", "6000"}, ""));
  LONGS_EQUAL(-66,
              frames({"--from", "10.0.0.9"}, "there are\n  UDP 10.0.0.1:5000 to 10.0.0.2:6000"));
  LONGS_EQUAL(-64, frames({"--from", "lidar.local"}, "--from wants an IPv4 address"));
  test::write_file(bench.file("two.pcap"), "no capture at all");
  LONGS_EQUAL(-66, frames({}, "neither pcap nor pcapng"));
}

// Segments of a real connection, as a capture would have them: two change places, one comes again.
TEST(SystemDecode, ARealTcpConnectionGivesEveryTelegram) {
  const char* const name = "sick-cola/tim781_tcp_segments_15.bin";
  if (!has_captures(name)) return;
  const std::string file = test::read_file(capture(name));
  constexpr std::int64_t kBegin = 1'700'000'000'000'000'000;
  std::vector<std::pair<test::Stream, std::int64_t>> segments;
  std::uint32_t sequence = 4'294'960'000;
  for (std::size_t at = 0; at + 16 <= file.size();) {
    double seconds = 0;
    std::uint32_t length = 0;
    std::memcpy(&seconds, file.data() + at + 4, 8);
    std::memcpy(&length, file.data() + at + 12, 4);
    const auto bytes = std::as_bytes(std::span(file)).subspan(at + 16, length);
    segments.emplace_back(pcap::tcp_ip(sequence, {bytes.begin(), bytes.end()}),
                          kBegin + static_cast<std::int64_t>(seconds * 1e9));
    sequence += length;
    at += 16 + length;
  }
  LONGS_EQUAL(30, segments.size());
  std::swap(segments[4].first, segments[5].first);
  segments.insert(segments.begin() + 9, segments[8]);
  pcap::Writer whole(true, true), without(true, true);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    whole.add(pcap::ethernet(segments[i].first), segments[i].second);
    if (i != 20) without.add(pcap::ethernet(segments[i].first), segments[i].second);
  }
  test::write_file(bench.file("cola.pcap"), text_of(whole.file));
  decode("sick_cola", bench.file("cola.pcap"));
  DOUBLES_EQUAL(50610, stat("bytes"), 0);
  DOUBLES_EQUAL(15, stat("frames"), 0);
  DOUBLES_EQUAL(15, stat("packets"), 0);
  DOUBLES_EQUAL(0, stat("garbage_bytes"), 0);
  for (std::size_t i = 0; i < 15; ++i) {
    const double s = (lines[i]["first_ns"].number() - static_cast<double>(kBegin)) * 1e-9;
    CHECK_TEXT(std::abs(s - static_cast<double>(i) / 15) < 0.15, "the time of capture");
  }
  // One segment was not captured: one telegram less, and told.
  test::write_file(bench.file("hole.pcap"), text_of(without.file));
  const Ran ran = bench.lidarctl({"decode", "sick_cola", bench.file("hole.pcap")});
  LONGS_EQUAL(14, test::count_lines(ran.out) - 1);
  CHECK_TEXT(contains(ran.err, "bytes of TCP streams are missing in the capture"), ran.err.c_str());
}
