// The header that other programs read the stream with, on bytes that lidard writes and on damaged
// ones.
#include "app/clients/lidard_client.h"

#include <sys/socket.h>

#include <cmath>
#include <limits>
#include <random>

#include "app/mcap_catalog.h"
#include "app/messages.h"
#include "test/support/harness.h"

namespace {

constexpr std::int64_t kAt = 1'700'000'000'123'456'789;

struct Sent {
  std::vector<std::byte> data;
  std::size_t size = 0;
  hal::Bytes bytes() const { return hal::Bytes(data).first(size); }
};
template <class M>
Sent encoded(const M& message) {
  Sent sent{std::vector<std::byte>(4096), 0};
  sent.size = app::encode(message, sent.data);
  return sent;
}

const app::PointXyzit kPoints[] = {{1, 2, 3, 40, -0.1f}, {4, 5, 6, 50, 0}};
const app::PointMerged kMerged[] = {{{1, 2, 3, 40, -0.1f}, 0}, {{4, 5, 6, 50, 0}, 1}};
constexpr float kRanges[] = {1.5f, std::numeric_limits<float>::infinity(), 2.5f};

Sent cloud() {
  return encoded(app::PointCloud{{kAt, "base_link"}, std::span<const app::PointXyzit>(kPoints)});
}
Sent merged() {
  return encoded(app::MergedPointCloud{{kAt, "base"}, std::span<const app::PointMerged>(kMerged)});
}
Sent scan() {
  app::LaserScan s{};
  s.header = {kAt, "laser"};
  s.angle_min = -1, s.angle_max = 1, s.angle_increment = 1;
  s.range_max = 12;
  s.ranges = std::span<const float>(kRanges);
  return encoded(s);
}
Sent imu() {
  return encoded(
      app::Imu{{kAt, "imu"}, std::nullopt, app::Vector3{1, 2, 3}, app::Vector3{0, 0, 9.8}});
}

}  // namespace

TEST_GROUP(LidardClient) {
  app::McapCatalog catalog{"ros2", "test", 4096};
  lidard_client client{};
  int far = -1;
  std::vector<std::byte> stream;
  std::uint16_t clouds = 0, scans = 0, imus = 0;

  void setup() override {
    int ends[2];
    LONGS_EQUAL(0, ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    client.fd = ends[0];
    far = ends[1];
    clouds = channel("/front/points", "sensor_msgs/msg/PointCloud2");
    scans = channel("/front/scan", "sensor_msgs/msg/LaserScan");
    imus = channel("/imu/imu", "sensor_msgs/msg/Imu");
    stream.assign(catalog.preamble().begin(), catalog.preamble().end());
  }
  void teardown() override {
    lidard_close(&client);
    if (far >= 0) ::close(far);
  }
  std::uint16_t channel(const char* topic, const char* type) {
    const auto schema = catalog.add_schema(type, "ros2msg", "float64 x");
    return *catalog.add_channel({topic, "cdr", *schema, {}, 0});
  }
  void add(std::uint16_t to, const Sent& sent, bool arrives = true) {
    const auto m = *catalog.number(to, kAt, kAt + 5, sent.bytes());
    if (!arrives) return;
    stream.insert(stream.end(), m.head.begin(), m.head.end());
    stream.insert(stream.end(), m.data.begin(), m.data.end());
  }
  void send(hal::Bytes bytes) {
    LONGS_EQUAL(static_cast<ssize_t>(bytes.size()), ::write(far, bytes.data(), bytes.size()));
  }
};

TEST(LidardClient, EveryKindOfMessageIsReadBack) {
  add(clouds, cloud());
  add(clouds, merged());
  add(scans, scan());
  add(imus, imu());
  send(stream);
  lidard_message m{};
  lidard_cloud c{};
  lidard_scan s{};
  lidard_imu i{};
  LONGS_EQUAL(1, lidard_next(&client, &m, 1000));
  STRCMP_EQUAL("/front/points", m.topic);
  STRCMP_EQUAL("sensor_msgs/msg/PointCloud2", m.type);
  LONGS_EQUAL(1, m.sequence);
  CHECK_TRUE(m.log_time_ns == kAt && m.publish_time_ns == kAt + 5);
  CHECK_TRUE(lidard_as_cloud(&m, &c) && !lidard_as_scan(&m, &s) && !lidard_as_imu(&m, &i));
  CHECK_TRUE(c.header.stamp_ns == kAt);
  STRCMP_EQUAL("base_link", c.header.frame_id);
  LONGS_EQUAL(2, c.count);
  LONGS_EQUAL(-1, c.origin);
  const lidard_point p = lidard_point_at(&c, 1);
  CHECK_TRUE(p.x == 4 && p.y == 5 && p.z == 6 && p.intensity == 50 && p.time == 0);
  CHECK_TRUE(lidard_point_at(&c, 0).time == -0.1f);

  LONGS_EQUAL(1, lidard_next(&client, &m, 1000));
  CHECK_TRUE(lidard_as_cloud(&m, &c));
  LONGS_EQUAL(1, lidard_point_at(&c, 1).origin);
  CHECK_TRUE(lidard_point_at(&c, 1).y == 5);

  LONGS_EQUAL(1, lidard_next(&client, &m, 1000));
  CHECK_TRUE(lidard_as_scan(&m, &s));
  LONGS_EQUAL(3, s.count);
  CHECK_TRUE(s.angle_min == -1 && s.range_max == 12);
  CHECK_TRUE(lidard_range(&s, 0) == 1.5f && std::isinf(lidard_range(&s, 1)));
  CHECK_TRUE(lidard_intensity(&s, 0) == 0);

  LONGS_EQUAL(1, lidard_next(&client, &m, 1000));
  CHECK_TRUE(lidard_as_imu(&m, &i));
  CHECK_TRUE(!i.has_orientation && i.has_angular_velocity && i.has_linear_acceleration);
  CHECK_TRUE(i.angular_velocity[2] == 3 && i.linear_acceleration[2] == 9.8);
  LONGS_EQUAL(0, lidard_next(&client, &m, 0));
  LONGS_EQUAL(4, client.messages);
  LONGS_EQUAL(0, client.lost);
}

TEST(LidardClient, HoweverTheBytesArriveTheMessagesAreTheSame) {
  for (int n = 0; n < 3; ++n) add(clouds, cloud()), add(imus, imu());
  lidard_message m{};
  int read = 0;
  for (const std::byte b : stream) {
    send(hal::Bytes(&b, 1));
    while (lidard_next(&client, &m, 0) == 1) ++read;
  }
  LONGS_EQUAL(6, read);
}

TEST(LidardClient, WhatIsMissingByTheNumbersIsCounted) {
  add(imus, imu());
  add(imus, imu(), false);
  add(imus, imu(), false);
  add(imus, imu());
  add(clouds, cloud());
  send(stream);
  lidard_message m{};
  while (lidard_next(&client, &m, 0) == 1) continue;
  LONGS_EQUAL(2, client.lost);
  LONGS_EQUAL(3, client.messages);
}

TEST(LidardClient, TheEndOfTheStreamIsSaid) {
  add(imus, imu());
  send(hal::Bytes(stream).first(stream.size() - 1));
  ::close(far);
  far = -1;
  lidard_message m{};
  LONGS_EQUAL(-1, lidard_next(&client, &m, 1000));
  STRCMP_EQUAL("the stream: it has ended", client.error);
}

TEST(LidardClient, WhatIsNoStreamIsSaid) {
  send(hal::Bytes(stream).subspan(1));
  lidard_message m{};
  LONGS_EQUAL(-1, lidard_next(&client, &m, 0));
  STRCMP_EQUAL("the stream: this is no MCAP", client.error);
}

TEST(LidardClient, ALengthBeyondAllReasonIsNotBelieved) {
  stream.resize(8);
  stream.insert(stream.end(), 9, std::byte{0xFF});
  send(stream);
  lidard_message m{};
  LONGS_EQUAL(-1, lidard_next(&client, &m, 0));
  STRCMP_EQUAL("the stream: a record is too long", client.error);
}

TEST(LidardClient, WhereNobodyListensItSaysSo) {
  lidard_client other{};
  LONGS_EQUAL(-1, lidard_connect(&other, "/nowhere/stream.sock"));
  STRCMP_EQUAL("/nowhere/stream.sock: No such file or directory", other.error);
  lidard_message m{};
  LONGS_EQUAL(-1, lidard_next(&other, &m, 0));
  lidard_close(&other);
}

// Views of cut and of changed messages: refused or within their bytes (the sanitizers tell).
TEST(LidardClient, DamagedMessagesAreNotReadBeyondTheirBytes) {
  std::mt19937 random(11);
  const auto look = [](const char* type, const std::vector<std::uint8_t>& data) {
    lidard_message m{};
    m.type = type;
    m.data = data.data();
    m.size = data.size();
    lidard_cloud c{};
    lidard_scan s{};
    lidard_imu i{};
    if (lidard_as_cloud(&m, &c) && c.count > 0) lidard_point_at(&c, c.count - 1);
    if (lidard_as_scan(&m, &s) && s.count > 0) lidard_range(&s, s.count - 1);
    lidard_as_imu(&m, &i);
  };
  const std::pair<const char*, Sent> all[] = {{"sensor_msgs/msg/PointCloud2", merged()},
                                              {"sensor_msgs/msg/LaserScan", scan()},
                                              {"sensor_msgs/msg/Imu", imu()}};
  for (const auto& [type, sent] : all) {
    std::vector<std::uint8_t> whole(sent.size);
    std::memcpy(whole.data(), sent.data.data(), sent.size);
    for (std::size_t n = 0; n < whole.size(); ++n) {
      std::vector<std::uint8_t> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
      look(type, cut);
    }
    for (int round = 0; round < 20'000; ++round) {
      auto changed = whole;
      for (unsigned k = 1 + random() % 4; k > 0; --k) {
        changed[random() % changed.size()] = static_cast<std::uint8_t>(random());
      }
      look(type, changed);
    }
  }
}
