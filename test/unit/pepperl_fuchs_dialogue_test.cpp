// What is said to a Pepperl+Fuchs lidar, byte by byte, and what its answers lead to.
#include <string>

#include "drivers/pepperl_fuchs/pepperl_fuchs.h"
#include "test/unit/device_driver_bench.h"

using namespace drivers;
using namespace std::chrono_literals;

namespace {

const std::string kDone = R"("error_code":0,"error_text":"success"})";

}  // namespace

TEST_GROUP_BASE(PepperlDialogue,
                test::DriverBench){void begin(){options = Options(PepperlFuchs::options());
build<PepperlFuchs>(0, true);
port->own = {{192, 168, 1, 2}, 6464};
port->has_datagrams = true;
driver->start(clock.now());
}
std::string said() const {
  std::string all;
  for (const std::byte b : control->writes.back()) all += static_cast<char>(b);
  return all.substr(0, all.find(" HTTP/1.0\r\n\r\n"));
}
void answer(const std::string& body, const char* status = "200 OK") {
  const std::string text = "HTTP/1.1 " + std::string(status) +
                           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  control->deliver(std::as_bytes(std::span(text)));
}
void answer_protocol() { answer(R"({"protocol_name":"pfsdp",)" + kDone); }
void answer_parameters(const char* family = "1", const char* samples = "3600") {
  answer(std::string(R"({"product":"OMD","serial":"1234","device_family":)") + family +
         R"(,"scan_frequency":35,"samples_per_scan":)" + samples + "," + kDone);
}
}
;

TEST(PepperlDialogue, EveryCommandIsSaidOnAConnectionOfItsOwn) {
  begin();
  STRCMP_EQUAL("GET /cmd/get_protocol_info", said().c_str());
  answer_protocol();
  STRCMP_EQUAL(
      "GET /cmd/get_parameter?list=product;serial;device_family;scan_frequency;samples_per_scan",
      said().c_str());
  answer_parameters();
  STRCMP_EQUAL(
      "GET /cmd/request_handle_udp?address=192.168.1.2&port=6464&packet_type=C&"
      "watchdog=on&watchdogtimeout=10000",
      said().c_str());
  answer(R"({"handle":"s10",)" + kDone);
  STRCMP_EQUAL("GET /cmd/start_scanoutput?handle=s10", said().c_str());
  answer("{" + kDone);
  LONGS_EQUAL(4, control->opens);
  tick(3334ms);
  // No data came meanwhile: it begins anew.
  CHECK_TRUE(health().faults > 0);
  STRCMP_EQUAL("OMD, serial 1234, 35 Hz, 3600 points", health().about.c_str());
}

TEST(PepperlDialogue, AnR2300IsAskedForItsOwnPackets) {
  begin();
  answer_protocol();
  answer_parameters("\"7\"");
  CHECK_TRUE(said().find("packet_type=C1&") != std::string::npos);
}

TEST(PepperlDialogue, WhatIsNoSuchLidarIsNamed) {
  begin();
  answer("<html>", "404 Not Found");
  why_is(Cause::refused,
         "the device refused 'get protocol': HTTP 404 Not Found: is this a Pepperl+Fuchs lidar?");
  begin();
  answer(R"({"protocol_name":"other",)" + kDone);
  why_is(Cause::refused,
         "the device refused 'get protocol': its protocol is other, not pfsdp: another device?");
  begin();
  answer("{}");
  why_is(Cause::refused,
         "the device refused 'get protocol': no error_code: is this a Pepperl+Fuchs lidar?");
}

TEST(PepperlDialogue, MorePointsThanThereIsRoomForAreToldBefore) {
  begin();
  answer_protocol();
  answer_parameters("1", "25200");
  why_is(Cause::refused,
         "the device refused 'get parameters': it measures 25200 points a turn: there is room for "
         "them with samples_per_scan");
}

TEST(PepperlDialogue, HandlesThatMakeNoSenseAreNotRepeated) {
  for (const char* handle : {"", "a b", "x&y=1", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}) {
    begin();
    answer_protocol();
    answer_parameters();
    answer(std::string(R"({"handle":")") + handle + "\"," + kDone);
    is(State::backoff);
    CHECK_TRUE(health().cause == Cause::refused);
  }
}

TEST(PepperlDialogue, ADataConnectionWantsAPort) {
  begin();
  port->connects = true;
  port->own = {};
  driver->stop(clock.now());
  tick(500ms);
  driver->start(clock.now());
  answer_protocol();
  answer_parameters();
  STRCMP_EQUAL("GET /cmd/request_handle_tcp?packet_type=C&watchdog=on&watchdogtimeout=10000",
               said().c_str());
  answer(R"({"handle":"s10","port":70000,)" + kDone);
  why_is(Cause::refused, "the device refused 'request handle': it offers no port for its data");
}
