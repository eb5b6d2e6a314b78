// Recordings: made smaller, split, looked at, exported.
#include <filesystem>
#include <fstream>

#include "test/support/harness.h"
#include "test/system/bench.h"
#include "test/system/json.h"

namespace fs = std::filesystem;
using test::contains;
using test::Json;
using test::Ran;

TEST_GROUP(SystemRecord) {
  test::Bench bench;
  std::unique_ptr<test::Process> front, imu, daemon;

  void setup() override {
    front = bench.simulate_pty("front", "ldrobot");
    imu = bench.simulate_pty("imu", "microstrain_mip");
    daemon = bench.lidard(
        bench.configure(bench.serial("front", "ldrobot") + bench.serial("imu", "microstrain_mip")));
  }
  std::string record(const std::string& name, std::vector<std::string> more,
                     const char* seconds = "3") {
    std::vector<std::string> arguments{"record", "--socket", bench.socket(),
                                       "--for",  seconds,    bench.file(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = bench.lidarctl(arguments);
    LONGS_EQUAL_TEXT(0, ran.status, ran.err.c_str());
    return bench.file(name);
  }
  Json info(const std::string& file) {
    const Ran ran = bench.lidarctl({"info", file, "--json"});
    LONGS_EQUAL_TEXT(0, ran.status, ran.err.c_str());
    return Json::parse(ran.out);
  }
  static const Json& topic(const Json& info, const std::string& name) {
    for (const Json& t : info["topics"].list()) {
      if (t["topic"].string() == name) return t;
    }
    FAIL(name.c_str());
    return info;
  }
};

TEST(SystemRecord, EachCompressionHoldsTheSameAndIsRead) {
  std::map<std::string, double> per_message;
  for (const std::string name : {"none", "lz4", "zstd"}) {
    const std::string file = record(name + ".mcap", {"--compression", name});
    const Json told = info(file);
    CHECK_TRUE(told["whole"].boolean());
    CHECK_TRUE(topic(told, "/imu/imu")["messages"].number() > 150);
    LONGS_EQUAL(0, topic(told, "/front/points")["lost"].number());
    per_message[name] = told["bytes"].number() / told["messages"].number();
    const Ran stamps = bench.lidarctl({"stamps", file, "--json"});
    LONGS_EQUAL_TEXT(0, stamps.status, stamps.err.c_str());
  }
  test::note("bytes a message: %.0f, lz4 %.0f, zstd %.0f", per_message["none"], per_message["lz4"],
             per_message["zstd"]);
  CHECK_TRUE(per_message["zstd"] < per_message["none"] * 0.9);
  CHECK_TRUE(per_message["lz4"] < per_message["none"]);
}

TEST(SystemRecord, AFileThatWasCutOffGivesWhatWasWhole) {
  const std::string file = record("run.mcap", {});
  const auto size = fs::file_size(file);
  fs::resize_file(file, size * 2 / 3);
  const Json told = info(file);
  CHECK_FALSE(told["whole"].boolean());
  const Ran text = bench.lidarctl({"info", file});
  CHECK_TEXT(contains(text.out, "cut off"), text.out.c_str());
  CHECK_TEXT(contains(text.out, "/front/points") || told["messages"].number() == 0,
             text.out.c_str());
}

TEST(SystemRecord, SplitByTimeEachFileIsWholeAndTogetherNothingIsLost) {
  record("run.mcap", {"--split-minutes", "0.02"}, "5");
  int files = 0;
  double samples = 0, first = 0, last = 0;
  for (const auto& entry : fs::directory_iterator(bench.path())) {
    if (entry.path().extension() != ".mcap") continue;
    ++files;
    const Json told = info(entry.path());
    CHECK_TRUE(told["whole"].boolean());
    CHECK_TRUE(topic(told, "/tf_static")["messages"].number() >= 1);
    const Json& imu_topic = topic(told, "/imu/imu");
    samples += imu_topic["messages"].number();
    first = first == 0 ? imu_topic["first_ns"].number()
                       : std::min(first, imu_topic["first_ns"].number());
    last = std::max(last, imu_topic["last_ns"].number());
  }
  CHECK_TRUE(files >= 3);
  DOUBLES_EQUAL((last - first) / 1e7 + 1, samples, 1.5);  // 100 a second
}

TEST(SystemRecord, AFullDiskIsSaidAndWhatWasWrittenIsWhole) {
  const Ran ran = bench.lidarctl({"record", "--socket", bench.socket(), "--for", "3", "/dev/full"});
  LONGS_EQUAL(1, ran.status);
  CHECK_TEXT(contains(ran.err, "No space left on device"), ran.err.c_str());
}

TEST(SystemRecord, CsvHasALineForEachPointRayAndSample) {
  const std::string file = record("run.mcap", {}), folder = bench.file("csv");
  const Json told = info(file);
  const Ran ran = bench.lidarctl({"export", file, folder});
  LONGS_EQUAL_TEXT(0, ran.status, ran.err.c_str());
  const std::string samples = test::read_file(folder + "/imu_imu.csv");
  CHECK_TRUE(samples.starts_with("stamp_ns,gyro_x,"));
  LONGS_EQUAL(topic(told, "/imu/imu")["messages"].number() + 1, test::count_lines(samples));
  const std::string points = test::read_file(folder + "/front_points.csv");
  CHECK_TRUE(points.starts_with("stamp_ns,x,y,z,intensity,time\n"));
  CHECK_TRUE(test::count_lines(points) > 2000);
  CHECK_TRUE(test::count_lines(test::read_file(folder + "/front_scan.csv")) > 2000);
}

TEST(SystemRecord, PcdHasAFileForEachCloud) {
  const std::string file = record("run.mcap", {}), folder = bench.file("pcd");
  const double clouds = topic(info(file), "/front/points")["messages"].number();
  const Ran ran = bench.lidarctl({"export", file, folder, "--format", "pcd"});
  LONGS_EQUAL_TEXT(0, ran.status, ran.err.c_str());
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder + "/front_points")) {
    ++files;
    const std::string text = test::read_file(entry.path());
    std::size_t points = 0;
    LONGS_EQUAL(1, std::sscanf(text.c_str() + text.find("POINTS"), "POINTS %zu", &points));
    const auto data = text.find("DATA binary\n") + 12;
    LONGS_EQUAL(points * 20, text.size() - data);
  }
  LONGS_EQUAL(clouds, files);
}

TEST(SystemRecord, WhatIsNoRecordingIsNamed) {
  LONGS_EQUAL(66, bench.lidarctl({"info", bench.file("none.mcap")}).status);
  test::write_file(bench.file("text.mcap"), "this is a text, and no recording at all");
  const Ran ran = bench.lidarctl({"info", bench.file("text.mcap")});
  LONGS_EQUAL(1, ran.status);
  CHECK_TEXT(contains(ran.err, "is no stream"), ran.err.c_str());
}
