#include "drivers/http_text.h"

#include <cstring>
#include <string>

#include "drivers/json_text.h"
#include "test/support/harness.h"

using drivers::json_end;
using drivers::JsonText;
using drivers::kNeedMore;
using drivers::kNotAFrame;
using drivers::measure_http;
using drivers::read_http;

namespace {

hal::Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::size_t measure(const std::string& text, bool last = false, std::size_t most = 4096) {
  return measure_http(bytes_of(text), most, last);
}

std::string find(const char* json, const char* key) {
  const auto found = JsonText(json).find(key);
  return found ? std::string(*found) : "(none)";
}

const std::string kHead = "HTTP/1.1 200 OK\r\nServer: x\r\n";

}  // namespace

TEST_GROUP(HttpText){};

TEST(HttpText, AReplyIsAsLongAsItsHeadersSay) {
  const std::string reply = kHead + "CONTENT-length:  5\r\nConnection: close\r\n\r\nhello";
  for (std::size_t n = 1; n < kHead.size(); ++n)
    CHECK_TRUE(measure(reply.substr(0, n)) == kNeedMore);
  CHECK_EQUAL(reply.size(), measure(reply));
  CHECK_EQUAL(reply.size(), measure(reply + "HTTP/1.1"));
  CHECK_EQUAL(reply.size(), measure(reply.substr(0, reply.size() - 5)));  // before the body comes
  CHECK_EQUAL(reply.size(), measure(reply, false, reply.size()));
  CHECK_EQUAL(kNotAFrame, measure(reply, false, reply.size() - 1));
}

TEST(HttpText, WithoutALengthAnObjectEndsTheReply) {
  const std::string reply = kHead + "\r\n {\"a\":[1,2,{\"b\":\"}\"}]}";
  for (std::size_t n = 1; n < reply.size(); ++n)
    CHECK_TRUE(measure(reply.substr(0, n)) == kNeedMore);
  CHECK_EQUAL(reply.size(), measure(reply));
  CHECK_EQUAL(reply.size(), measure(reply + "\r\nHTTP"));
}

TEST(HttpText, WithoutALengthOtherBodiesEndAtTheHangUp) {
  const std::string reply = "HTTP/1.0 404 Not Found\r\n\r\n<html>no</html>";
  CHECK_TRUE(measure(reply) == kNeedMore);
  CHECK_EQUAL(reply.size(), measure(reply, true));
  CHECK_EQUAL(kNotAFrame, measure("HTTP/1.0 404 Not", true));
  CHECK_EQUAL(kNotAFrame, measure(reply, false, reply.size()));
}

TEST(HttpText, WhatIsNoReplyIsTurnedAway) {
  CHECK_EQUAL(kNotAFrame, measure("GET / HTTP/1.0\r\n\r\n"));
  CHECK_EQUAL(kNotAFrame, measure("HTTP/2 200\r\n\r\n"));
  CHECK_EQUAL(kNotAFrame, measure(kHead + "Content-Length: -3\r\n\r\n"));
  CHECK_EQUAL(kNotAFrame, measure(kHead + "Content-Length: \r\n\r\n"));
  CHECK_EQUAL(kNotAFrame, measure(kHead + "Content-Length: 99999999999999999999999\r\n\r\n"));
  CHECK_EQUAL(kNotAFrame, measure("HTTP/1.1" + std::string(100, ' '), false, 100));
}

TEST(HttpText, StatusReasonAndBodyAreRead) {
  const std::string text = "HTTP/1.1 404 Not Found\r\nA: b\r\n\r\nbody\r\n\r\nmore";
  const auto reply = read_http(bytes_of(text));
  CHECK_TRUE(reply.has_value());
  CHECK_EQUAL(404, reply->status);
  CHECK_TRUE(reply->reason == "Not Found");
  CHECK_TRUE(reply->body == "body\r\n\r\nmore");
  const std::string bare = "HTTP/1.0 200\r\n\r\n";
  CHECK_TRUE(read_http(bytes_of(bare))->reason.empty());
  for (const char* wrong : {"HTTP/1.1 OK\r\n\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1 20\r\n\r\n",
                            "HTTP/1.1 99999999999\r\n\r\n", "nothing"})
    CHECK_FALSE(read_http(bytes_of(wrong)).has_value());
}

TEST_GROUP(JsonText){};

TEST(JsonText, MembersAreFoundWhateverStandsBesideThem) {
  const char* const json =
      " { \"list\" : [1, {\"x\":2}, \"]\"], \"o\":{\"x\":3,\"error_code\":9}, \"s\":\"a\\\"b,}\" "
      ",\n"
      "\"error_code\":0,\"t\":true, \"n\" : -1.5e2, \"q\":\"17\", \"e\":\"\"}";
  STRCMP_EQUAL("[1, {\"x\":2}, \"]\"]", find(json, "list").c_str());
  STRCMP_EQUAL("a\\\"b,}", find(json, "s").c_str());
  STRCMP_EQUAL("0", find(json, "error_code").c_str());
  STRCMP_EQUAL("true", find(json, "t").c_str());
  STRCMP_EQUAL("", find(json, "e").c_str());
  STRCMP_EQUAL("(none)", find(json, "x").c_str());
  DOUBLES_EQUAL(-150.0, *JsonText(json).number("n"), 0.0);
  DOUBLES_EQUAL(17.0, *JsonText(json).number("q"), 0.0);
  for (const char* key : {"t", "s", "e", "list", "none"})
    CHECK_FALSE(JsonText(json).number(key).has_value());
  CHECK_EQUAL(std::strlen(json), json_end(json));
}

TEST(JsonText, AnEmptyObjectHasNoMembers) {
  STRCMP_EQUAL("(none)", find("{}", "a").c_str());
  CHECK_EQUAL(2, json_end("{}"));
}

TEST(JsonText, WhatIsCutOffOrNoObjectGivesNothing) {
  for (const char* text : {"", " ", "[1]", "\"a\"", "{", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":1",
                           "{\"a\":\"1", "{\"a\" 1}", "{a:1}", "{\"a\":}", "{\"b\":1 \"a\":1}"}) {
    STRCMP_EQUAL("(none)", find(text, "a").c_str());
  }
  for (const char* text : {"", "[1]", "{", "{\"a\":\"}", "{\"a\":[}"})
    CHECK_EQUAL(0, json_end(text));
}

TEST(JsonText, NestingIsBounded) {
  const auto nested = [](std::size_t n) {
    return "{\"a\":" + std::string(n, '[') + std::string(n, ']') + "}";
  };
  CHECK_EQUAL(nested(31).size(), json_end(nested(31)));
  CHECK_EQUAL(0, json_end(nested(32)));
  STRCMP_EQUAL("(none)", find(nested(1000).c_str(), "a").c_str());
}

TEST(JsonText, NumbersThatAreNoneAreNotGuessed) {
  for (const char* text : {"{\"a\":1x}", "{\"a\":inf}", "{\"a\":nan}", "{\"a\":0x10}",
                           "{\"a\":1e999}", "{\"a\":\" 1\"}"})
    CHECK_FALSE(JsonText(text).number("a").has_value());
}
