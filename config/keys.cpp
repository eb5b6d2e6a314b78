#include "config/keys.h"

#include <algorithm>
#include <array>

namespace config {
namespace {

template <class E>
Pick pick(E& value) {
  return {&value, [](const void* e) { return static_cast<std::size_t>(*static_cast<const E*>(e)); },
          [](void* e, std::size_t i) { *static_cast<E*>(e) = static_cast<E>(i); }};
}

Slot section(Stack&, Sensor&) { return Section{}; }

// The one that is being read.
Merged& merged_of(Stack& stack) {
  if (stack.merged.empty()) stack.merged.emplace_back();
  return stack.merged.back();
}

Input& input_of(Stack& stack) {
  if (stack.inputs.empty()) stack.inputs.emplace_back();
  return stack.inputs.back();
}

constexpr double kMaxLength = 1000;  // m

}  // namespace

std::span<const Key> keys() {
  using enum Applies;
  static constexpr std::array kKeys{
      Key{"frame", "", 0, 0, "", any, "", "",
          "Tracking frame: every cloud and every inertial sample is given in it.",
          [](Stack& c, Sensor&) -> Slot { return FrameId{&c.frame}; }},
      Key{"collation", "", 0, 0, "", any, "", "", "How the sensors are put in order.", section},
      Key{"collation.policy", "", 0, 0, "strict|live", any, "", "",
          "live: nothing waits longer than max_wait. strict: nothing leaves until every sensor has "
          "data, for replay and proofs.",
          [](Stack& c, Sensor&) -> Slot { return pick(c.collation.policy); }},
      Key{"collation.by_trajectory", "", 0, 0, "", any, "", "",
          "One order per trajectory instead of one over all.",
          [](Stack& c, Sensor&) -> Slot { return &c.collation.by_trajectory; }},
      Key{"collation.overflow", "", 0, 0, "release|drop_oldest|drop_newest", any, "", "",
          "What a full queue does. release: the oldest data of all leave, in order, until there is "
          "room.",
          [](Stack& c, Sensor&) -> Slot { return pick(c.collation.overflow); }},
      Key{"stream", "", 0, 0, "", any, "", "", "The socket that programs read.", section},
      Key{"stream.unix", "", 0, 0, "", any, "", "", "Path of the Unix socket.",
          [](Stack& c, Sensor&) -> Slot { return Path{&c.stream.unix_path}; }},
      Key{"stream.clients", "", 1, 64, "", any, "", "", "Clients served at one time.",
          [](Stack& c, Sensor&) -> Slot { return &c.stream.clients; }},
      Key{"stream.client_buffer_kib", "KiB", 64, 16384, "", any, "", "",
          "Held for each client that is slow; when it is full, whole messages are dropped, oldest "
          "first.",
          [](Stack& c, Sensor&) -> Slot { return &c.stream.client_buffer_kib; }},
      Key{"wall_clock", "", 0, 0, "follow|hold", any, "", "",
          "How Unix time is followed. hold: the offset of the start is kept.",
          [](Stack& c, Sensor&) -> Slot { return pick(c.wall_clock); }},
      Key{"rate_log_period_s", "s", 0, 3600, "", any, "", "",
          "How often the rates of all sensors are logged; 0: never.",
          [](Stack& c, Sensor&) -> Slot { return &c.rate_log_period_s; }},
      Key{"capture", "", 0, 0, "", any, "/var/lib/lidard/raw.mcap", "none",
          "File that takes the bytes of every port, for replay.",
          [](Stack& c, Sensor&) -> Slot { return Path{&c.capture}; }},
      Key{"input", "", 0, 0, "", any, "", "",
          "The socket that other programs send MCAP to; it is there when there are inputs.",
          section},
      Key{"input.unix", "", 0, 0, "", any, "", "", "Path of the Unix socket.",
          [](Stack& c, Sensor&) -> Slot { return Path{&c.input.unix_path}; }},
      Key{"input.clients", "", 1, 16, "", any, "", "", "Programs that may send at one time.",
          [](Stack& c, Sensor&) -> Slot { return &c.input.clients; }},
      Key{"inputs", "", 0, 0, "", any, "", "",
          "Messages of other programs (wheel odometry, GPS, landmarks), by name: what comes on one "
          "topic of the input socket is ordered like a sensor's data by its log time and leaves on "
          "the same topic. Nobody looks into it.",
          section},
      Key{"inputs.*.topic", "", 0, 0, "", any, "/odom", "/NAME",
          "Topic of the sender's channel, and of the stream's.",
          [](Stack& c, Sensor&) -> Slot { return Topic{&input_of(c).topic}; }},
      Key{"inputs.*.schema", "", 0, 0, "", any, "nav_msgs/msg/Odometry", "",
          "Name of the schema of the sender's channel; its text goes along.",
          [](Stack& c, Sensor&) -> Slot { return TypeName{&input_of(c).schema}; }},
      Key{"inputs.*.max_bytes", "bytes", 1, 1048576, "", any, "", "",
          "Longer messages are dropped, and counted.",
          [](Stack& c, Sensor&) -> Slot { return &input_of(c).max_bytes; }},
      Key{"inputs.*.rate_hz", "Hz", 0.01, 10000, "", any, "", "",
          "The most that is taken, a tenth above it in the long run; what is more is dropped, and "
          "counted.",
          [](Stack& c, Sensor&) -> Slot { return &input_of(c).rate_hz; }},
      Key{"inputs.*.max_wait_ms", "ms", 1, 10000, "", any, "", "",
          "Greatest delay from a message's log time to its arrival that others wait for.",
          [](Stack& c, Sensor&) -> Slot { return &input_of(c).max_wait; }},
      Key{"inputs.*.trajectory", "", 0, 0, "", any, "", "", "As of a sensor.",
          [](Stack& c, Sensor&) -> Slot { return Name{&input_of(c).trajectory}; }},
      Key{"inputs.*.role", "", 0, 0, "required|optional|passthrough", any, "", "",
          "As of a sensor. While nobody who sends it is connected, nobody waits for it.",
          [](Stack& c, Sensor&) -> Slot { return pick(input_of(c).role); }},
      Key{"inputs.*.overflow", "", 0, 0, "release|drop_oldest|drop_newest", any, "", "",
          "What its queue does when it is full. With release a sender that is too fast makes all "
          "others leave early.",
          [](Stack& c, Sensor&) -> Slot { return pick(input_of(c).overflow); }},
      Key{"inputs.*.capacity", "data", 1, 10000, "", any, "64", "computed",
          "Length of its queue in the collator.",
          [](Stack& c, Sensor&) -> Slot { return &input_of(c).capacity; }},
      Key{"merged", "", 0, 0, "", any, "", "",
          "Several lidars as one, by name: their clouds, merged by time, are PointCloud2 on "
          "/NAME/points, with the lidar of each point in the field `origin`.",
          section},
      Key{"merged.*.sensors", "", 0, 0, "", any, "[ldrobot, rplidar]", "",
          "The lidars; `origin` counts them from 0. A cloud leaves when each that streams has told "
          "what it saw, or when one of them has given as many clouds as are kept: three, or more "
          "where their rates differ.",
          [](Stack& c, Sensor&) -> Slot { return Names{&merged_of(c).sensors}; }},
      Key{"merged.*.deskew", "", 0, 0, "", any, "microstrain_mip", "none",
          "IMU whose gyro turns the points to where they would be at the merged cloud's stamp.",
          [](Stack& c, Sensor&) -> Slot { return SensorName{&merged_of(c).deskew}; }},
      Key{"sensors", "", 0, 0, "", any, "", "",
          "The devices, by name. A name becomes a part of topics: [a-z][a-z0-9_]*.", section},
      Key{"sensors.*.driver", "", 0, 0, "", any, "", "",
          "What speaks to the device; `lidarctl drivers` lists them.",
          [](Stack&, Sensor& s) -> Slot { return &s.driver; }},
      Key{"sensors.*.port", "", 0, 0, "", any, "serial:/dev/lidar0", "",
          "Where its data come from: serial:PATH, udp:[BIND:]PORT (here; PORT 0: any free one) or "
          "tcp:HOST:PORT. Hosts are numeric: names are not looked up.",
          [](Stack&, Sensor& s) -> Slot { return &s.port; }},
      Key{"sensors.*.control", "", 0, 0, "", control, "tcp:192.168.1.10:80", "none",
          "Port of the commands, for devices that have a second one.",
          [](Stack&, Sensor& s) -> Slot { return &s.control; }},
      Key{"sensors.*.imu", "", 0, 0, "", imu, "udp:7503", "none",
          "Port of the inertial data, for lidars that send them apart. They are a sensor of their "
          "own, NAME/imu, with the lidar's pose, role and trajectory.",
          [](Stack&, Sensor& s) -> Slot { return &s.imu; }},
      Key{"sensors.*.baud", "baud", 1200, 4000000, "", serial, "230400", "the driver's",
          "Speed of the serial line.", [](Stack&, Sensor& s) -> Slot { return &s.baud; }},
      Key{"sensors.*.from", "", 0, 0, "", udp, "192.168.1.10:8089", "any sender",
          "The device's own address, HOST or HOST:PORT: datagrams of others are refused and "
          "counted. Commands are sent to HOST:PORT, so devices that need commands need PORT. With "
          "a "
          "control port its host is the accepted sender; 0.0.0.0 accepts any.",
          [](Stack&, Sensor& s) -> Slot { return &s.from; }},
      Key{"sensors.*.host", "", 0, 0, "", udp, "192.168.1.2", "found out",
          "Our own address, HOST or HOST:PORT, for devices that are told where to send: the one on "
          "the way to the device, and the port that is listened on, unless the network between "
          "changes them.",
          [](Stack&, Sensor& s) -> Slot { return &s.host; }},
      Key{"sensors.*.latency", "", 0, 0, "low|batched", any, "", "",
          "low: read at once, and the adapter's timer is set to its least. batched: read every "
          "5 ms, for less CPU time.",
          [](Stack&, Sensor& s) -> Slot { return pick(s.latency); }},
      Key{"sensors.*.line", "", 0, 0, "auto|uart|burst", serial, "", "",
          "uart: bytes come one by one, so arrival is dated back by line time. burst: in bundles, "
          "as USB adapters deliver. auto: as the system tells.",
          [](Stack&, Sensor& s) -> Slot { return pick(s.line); }},
      Key{"sensors.*.pose", "", 0, 0, "", any, "", "", "Where it is in the tracking frame.",
          section},
      Key{"sensors.*.pose.xyz", "m", -kMaxLength, kMaxLength, "", any, "", "",
          "Forward, left, up from the tracking frame's origin.",
          [](Stack&, Sensor& s) -> Slot { return &s.pose.xyz; }},
      Key{"sensors.*.pose.rpy_deg", "deg", -360, 360, "", any, "", "",
          "Roll about x, then pitch about y, then yaw about z, all of the tracking frame.",
          [](Stack&, Sensor& s) -> Slot { return Degrees{&s.pose.rpy}; }},
      Key{"sensors.*.trajectory", "", 0, 0, "", any, "", "",
          "The robot or part of it that this sensor moves with.",
          [](Stack&, Sensor& s) -> Slot { return Name{&s.trajectory}; }},
      Key{"sensors.*.role", "", 0, 0, "required|optional|passthrough", any, "", "",
          "required: waited for, its absence is a fault. optional: waited for only while it "
          "streams. passthrough: leaves at once, outside the order.",
          [](Stack&, Sensor& s) -> Slot { return pick(s.role); }},
      Key{"sensors.*.max_wait_ms", "ms", 1, 10000, "", any, "100", "computed",
          "Greatest delay from a datum's stamp to its arrival that others wait for.",
          [](Stack&, Sensor& s) -> Slot { return &s.max_wait; }},
      Key{"sensors.*.fixed_latency_ms", "ms", 0, 1000, "", any, "1.5", "the driver's",
          "Constant delay from measurement to the first chance of arrival.",
          [](Stack&, Sensor& s) -> Slot { return &s.stamps.fixed_latency; }},
      Key{"sensors.*.warm_up_ms", "ms", 0, 60000, "", any, "1000", "0",
          "How long its clock is observed, at the start and after each reset, before data leave. "
          "Without it data leave at once, with stamps that are coarse for the first second.",
          [](Stack&, Sensor& s) -> Slot { return &s.stamps.warm_up; }},
      Key{"sensors.*.clock", "", 0, 0, "mapped|device_utc", any, "", "",
          "mapped: the device's clock is mapped to the host's by its arrivals. device_utc: its "
          "stamps are taken as Unix time, for devices kept by PTP or NTP on hosts that are, too; "
          "while they do not fit the wall clock, they are mapped.",
          [](Stack&, Sensor& s) -> Slot { return pick(s.stamps.clock); }},
      Key{"sensors.*.capacity", "data", 1, 10000, "", any, "16", "computed",
          "Length of its queue in the collator.",
          [](Stack&, Sensor& s) -> Slot { return &s.capacity; }},
      Key{"sensors.*.sampling_ratio", "", 0.001, 1, "", any, "", "",
          "Part of its packets that is kept.",
          [](Stack&, Sensor& s) -> Slot { return &s.sampling_ratio; }},
      Key{"sensors.*.echo", "", 0, 0, "first|strongest|last", lidar, "", "",
          "Which return of a beam becomes its point, where the device tells several: among those "
          "within min_range and max_range.",
          [](Stack&, Sensor& s) -> Slot { return pick(s.echo); }},
      Key{"sensors.*.min_range", "m", 0, kMaxLength, "", lidar, "", "",
          "Nearer returns are left out.", [](Stack&, Sensor& s) -> Slot { return &s.min_range; }},
      Key{"sensors.*.max_range", "m", 0.01, kMaxLength, "", lidar, "", "",
          "Farther returns are left out.", [](Stack&, Sensor& s) -> Slot { return &s.max_range; }},
      Key{"sensors.*.filters", "", 0, 0, "", lidar, "", "",
          "What else is taken from its clouds, in this order. All are off by default.", section},
      Key{"sensors.*.filters.angles_deg", "deg", -360, 360, "", lidar, "", "",
          "Only beams in one of these windows are kept, each from its first angle "
          "counter-clockwise to its second, in the sensor's frame. Empty: all.",
          [](Stack&, Sensor& s) -> Slot { return &s.filters.angles; }},
      Key{"sensors.*.filters.min_intensity", "", 0, 1e9, "", lidar, "", "",
          "Weaker returns are left out, in the device's own numbers; where it sends none, nothing.",
          [](Stack&, Sensor& s) -> Slot { return &s.filters.min_intensity; }},
      Key{"sensors.*.filters.box", "", 0, 0, "", lidar, "", "",
          "The robot's own body: points inside are left out. Equal corners: off.", section},
      Key{"sensors.*.filters.box.min", "m", -kMaxLength, kMaxLength, "", lidar, "", "",
          "Its rear, right and lower end in the tracking frame.",
          [](Stack&, Sensor& s) -> Slot { return &s.filters.box_min; }},
      Key{"sensors.*.filters.box.max", "m", -kMaxLength, kMaxLength, "", lidar, "", "",
          "Its front, left and upper end in the tracking frame.",
          [](Stack&, Sensor& s) -> Slot { return &s.filters.box_max; }},
      Key{"sensors.*.filters.shadow", "", 0, 0, "", lidar, "", "",
          "Veiling points between an edge and what is behind it.", section},
      Key{"sensors.*.filters.shadow.min_angle_deg", "deg", 0, 45, "", lidar, "", "",
          "The farther of two returns is left out when the nearer one is seen from it closer to "
          "its beam than this; 5 to 10 are usual. 0: off.",
          [](Stack&, Sensor& s) -> Slot { return &s.filters.shadow_min_angle_deg; }},
      Key{"sensors.*.filters.shadow.window", "beams", 1, 20, "", lidar, "", "",
          "How far apart the two may be.",
          [](Stack&, Sensor& s) -> Slot { return &s.filters.shadow_window; }},
      Key{"sensors.*.filters.speckle", "", 0, 0, "", lidar, "", "",
          "Returns that stand alone: rain, dust, crosstalk.", section},
      Key{"sensors.*.filters.speckle.distance", "m", 0, 100, "", lidar, "", "",
          "A return with too few neighbours this near is left out. 0: off.",
          [](Stack&, Sensor& s) -> Slot { return &s.filters.speckle_distance; }},
      Key{"sensors.*.filters.speckle.window", "beams", 1, 20, "", lidar, "", "",
          "Where neighbours are looked for, to each side.",
          [](Stack&, Sensor& s) -> Slot { return &s.filters.speckle_window; }},
      Key{"sensors.*.filters.speckle.neighbours", "", 1, 40, "", lidar, "", "",
          "How many there must be.",
          [](Stack&, Sensor& s) -> Slot { return &s.filters.speckle_neighbours; }},
      Key{"sensors.*.filters.median_window", "beams", 1, 15, "", lidar, "", "",
          "Each range becomes the median of so many beams around it, an odd number. 1: off.",
          [](Stack&, Sensor& s) -> Slot { return &s.filters.median_window; }},
      Key{"sensors.*.filters.decimate", "", 1, 1000, "", lidar, "", "",
          "Of a cloud's beams the first and every so many-th after it are kept. 1: off.",
          [](Stack&, Sensor& s) -> Slot { return &s.filters.decimate; }},
      Key{"sensors.*.filters.voxel", "m", 0, 100, "", lidar, "", "",
          "Of the points in a cube with edges of this length one is kept; the scan keeps all. 0: "
          "off.",
          [](Stack&, Sensor& s) -> Slot { return &s.filters.voxel; }},
      Key{"sensors.*.emit", "", 1, 1000, "", lidar, "", "",
          "What becomes one cloud: turn, chunk (as the device sends) or {subdivisions: N} of a "
          "turn.",
          [](Stack&, Sensor& s) -> Slot { return &s.emit; }},
      Key{"sensors.*.outputs", "", 0, 0, "points|scan", lidar, "", "",
          "points: PointCloud2 on /NAME/points. scan: LaserScan on /NAME/scan.",
          [](Stack&, Sensor& s) -> Slot { return &s.outputs; }},
      Key{"sensors.*.readings", "", 0, 0, "mag|pressure|temperature", inertial, "", "",
          "What else an inertial sensor gives out, of what it sends anyway; its driver's options "
          "say "
          "what it sends. mag: MagneticField on /NAME/mag. pressure: FluidPressure on "
          "/NAME/pressure. temperature: Temperature on /NAME/temperature.",
          [](Stack&, Sensor& s) -> Slot { return &s.readings; }},
      Key{"sensors.*.frame", "", 0, 0, "tracking|sensor", lidar, "", "",
          "Coordinates of what it gives out.",
          [](Stack&, Sensor& s) -> Slot { return pick(s.frame); }},
      Key{"sensors.*.time_reference", "", 0, 0, "end|start", lidar, "", "",
          "Point that a cloud's stamp belongs to; times of the others are relative to it.",
          [](Stack&, Sensor& s) -> Slot { return pick(s.time_reference); }},
      Key{"sensors.*.deskew", "", 0, 0, "", lidar, "microstrain_mip", "none",
          "IMU whose gyro turns the points of /NAME/points to where they would be at the cloud's "
          "stamp; NAME/imu is the one in the lidar NAME. /NAME/scan and merged clouds are made of "
          "points as measured.",
          [](Stack&, Sensor& s) -> Slot { return SensorName{&s.deskew}; }},
      Key{"sensors.*.options", "", 0, 0, "", any, "", "",
          "What the driver lets its user choose; the same as `lidarctl decode --set`.",
          [](Stack&, Sensor& s) -> Slot { return SensorOptions{&s.options}; }},
  };
  return kKeys;
}

const Key* find_key(std::string_view path) {
  const auto found = std::ranges::find(keys(), path, &Key::path);
  return found == keys().end() ? nullptr : &*found;
}

bool valid_name(std::string_view name) {
  constexpr std::string_view kFirst = "abcdefghijklmnopqrstuvwxyz";
  constexpr std::string_view kRest = "abcdefghijklmnopqrstuvwxyz0123456789_";
  return !name.empty() && name.size() <= 32 && kFirst.find(name[0]) != kFirst.npos &&
         name.find_first_not_of(kRest) == name.npos;
}

bool valid_sensor_name(std::string_view name) {
  constexpr std::string_view kSecond = "/imu";
  if (name.ends_with(kSecond)) name.remove_suffix(kSecond.size());
  return valid_name(name);
}

}  // namespace config
