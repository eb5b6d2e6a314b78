// What a configuration may not say outside of its sensors, or as a whole.
#include <string>

#include "config/load.h"
#include "test/support/harness.h"

namespace {

struct Bad {
  const char* text;
  const char* fault;  // how the first one begins, after the name of the file
};

// The first line of a file with a good sensor.
constexpr Bad kLines[] = {
    {"stream: {clients: 64, client_buffer_kib: 16384}",
     "1:9: stream: all of it would take 1025 MiB of"},
    {"frame: ''", "1:8: frame: the text '' is not valid, expected a"},
    {"frame: /base", "1:8: frame: '/base' is not valid, expected a frame"},
    {"frame: 'a b'", "1:8: frame: the text 'a b' is not valid, expected a"},
    {"frame: [a]", "1:8: frame: a list is not valid, expected a frame"},
    {"frame: !!binary aGVsbG8=", "1:8: yaml: the tag tag:yaml.org,2002:binary is not"},
    {"framee: x", "1:1: framee: unknown key, did you mean 'frame'?"},
    {"collation: live", "1:12: collation: 'live' is not valid, expected a map"},
    {"collation: {policy: fast}",
     "1:21: collation.policy: 'fast' is not valid, expected strict or"},
    {"collation: {by_trajectory: yes}",
     "1:28: collation.by_trajectory: 'yes' is not valid, expected true or"},
    {"collation: {by_trajectory: 'true'}",
     "1:28: collation.by_trajectory: the text 'true' is not valid, expected"},
    {"collation: {overflow: grow}",
     "1:23: collation.overflow: 'grow' is not valid, expected release,"},
    {"collation: {polcy: live}", "1:13: collation.polcy: unknown key, did you mean 'policy'?"},
    {"collation: {policy: live, policy: strict}",
     "1:27: collation.policy: given again, first in line 1, keep one"},
    {"stream: /run/x.sock", "1:9: stream: '/run/x.sock' is not valid, expected a"},
    {"stream: {unix: run/x.sock}", "1:16: stream.unix: 'run/x.sock' is not valid, expected the"},
    {"stream: {unix: '/run/with space'}", "1:16: stream.unix: the text '/run/with space' is not"},
    {"stream: {unix: /run/}", "1:16: stream.unix: '/run/' is not valid, expected the"},
    {"stream: {unix: \"/run/a\\0b\"}", "1:16: stream.unix: the text '/run/a?b' is not valid,"},
    {"stream: {unix: "
     "/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxx}",
     "1:16: stream.unix: the path is too long for a socket,"},
    {"stream: {clients: 0}", "1:19: stream.clients: '0' is not valid, expected an integer"},
    {"stream: {clients: 1000}", "1:19: stream.clients: '1000' is not valid, expected an"},
    {"stream: {client_buffer_kib: 1}",
     "1:29: stream.client_buffer_kib: '1' is not valid, expected an integer"},
    {"stream: {client_buffer_kib: 9999999}",
     "1:29: stream.client_buffer_kib: '9999999' is not valid, expected an"},
    {"stream: {tcp: 9000}", "1:10: stream.tcp: unknown key, the keys here are unix,"},
    {"wall_clock: utc", "1:13: wall_clock: 'utc' is not valid, expected follow or"},
    {"wall_clock: true", "1:13: wall_clock: 'true' is not valid, expected follow or"},
    {"rate_log_period_s: -1", "1:20: rate_log_period_s: '-1' is not valid, expected a number"},
    {"rate_log_period_s: never",
     "1:20: rate_log_period_s: 'never' is not valid, expected a number"},
    {"rate_log_period_s: nan", "1:20: rate_log_period_s: 'nan' is not valid, expected a number"},
    {"capture: raw.mcap", "1:10: capture: 'raw.mcap' is not valid, expected the"},
    {"capture: /run/lidard/stream.sock", "1:10: capture: the same path as stream.unix, give each"},
    {"http: {port: 8080}", "1:1: http: unknown key, the keys here are frame,"},
    {"version: 2", "1:1: version: unknown key, the keys here are frame,"},
    {"*: 1", "2:8: yaml: illegal map value, correct the YAML"},
    {"sensors.a: {}", "1:1: sensors.a: unknown key, did you mean 'sensors'?"},
};

constexpr Bad kFiles[] = {
    {"", "1:1: yaml: no value is not a configuration,"},
    {"# nothing\n", "1:1: yaml: no value is not a configuration,"},
    {"42\n", "1:1: yaml: '42' is not a configuration, expected a"},
    {"[]\n", "1:1: yaml: a list is not a configuration, expected"},
    {"{}\n", "1:1: sensors: no sensor is configured, add at least"},
    {"frame: base_link\n", "1:1: sensors: no sensor is configured, add at least"},
    {"sensors:\n", "1:1: sensors: no value is not valid, expected a map"},
    {"sensors: {}\n", "1:10: sensors: no sensor is configured, add at least"},
    {"sensors: []\n", "1:10: sensors: a list is not valid, expected a map"},
    {"sensors: front\n", "1:10: sensors: 'front' is not valid, expected a map"},
    {"sensors:\n  - driver: ldrobot\n", "2:3: sensors: a list is not valid, expected a map"},
    {"sensors: {a: }\n", "1:11: sensors.a: no value is not valid, expected a map"},
    {"sensors: {a: ldrobot}\n", "1:11: sensors.a: 'ldrobot' is not valid, expected a map"},
    {"sensors: {a: {}}\n", "1:11: sensors.a: no driver is given, add driver: anpp, bluesea, "},
    {"sensors: {a: {driver: ldrobot}}\n", "1:11: sensors.a: no port is given, add port:"},
    {"sensors: {a: {port: 'udp:1'}}\n",
     "1:11: sensors.a: no driver is given, add driver: anpp, bluesea, "},
    {"sensors: {a: {driver: , port: 'udp:1'}}\n",
     "1:15: sensors.a.driver: no value is not valid, expected anpp, bluesea, "},
    {"sensors: {a: {driver: ldrobott, port: 'udp:1'}}\n",
     "1:23: sensors.a.driver: 'ldrobott' is not valid, expected"},
    {"sensors: {a: {driver: gps, port: 'udp:1'}}\n",
     "1:23: sensors.a.driver: 'gps' is not valid, expected anpp, bluesea, "},
    {"sensors: {a: {driver: ldrobot, port: /dev/a}}\n",
     "1:38: sensors.a.port: '/dev/a' is not valid, expected"},
    {"sensors: {a: {driver: ldrobot, port: 'serial:'}}\n",
     "1:38: sensors.a.port: the text 'serial:' is not valid,"},
    {"sensors: {a: {driver: ldrobot, port: 'serial:ttyUSB0'}}\n",
     "1:38: sensors.a.port: the text 'serial:ttyUSB0' is not valid,"},
    {"sensors: {a: {driver: ldrobot, port: 'udp:host:1:2'}}\n",
     "1:38: sensors.a.port: the text 'udp:host:1:2' is not valid,"},
    {"sensors: {a: {driver: ldrobot, port: 'udp:'}}\n",
     "1:38: sensors.a.port: the text 'udp:' is not valid, expected"},
    {"sensors: {a: {driver: ldrobot, port: 'tcp:lidar:80'}}\n",
     "1:38: sensors.a.port: the text 'tcp:lidar:80' is not valid,"},
    {"sensors: {a: {driver: ldrobot, port: 'tcp:10.0.0.1:0'}}\n",
     "1:38: sensors.a.port: the text 'tcp:10.0.0.1:0' is not valid,"},
    {"sensors: {a: {driver: ldrobot, port: 'udp:99999'}}\n",
     "1:38: sensors.a.port: the text 'udp:99999' is not valid,"},
    {"sensors: {a: {driver: ldrobot, port: ''}}\n",
     "1:38: sensors.a.port: the text '' is not valid, expected"},
    {"sensors: {Front: {driver: ldrobot, port: 'udp:1'}}\n",
     "1:11: sensors.Front: a sensor cannot be called that,"},
    {"sensors: {front-left: {driver: ldrobot, port: 'udp:1'}}\n",
     "1:11: sensors.front-left: a sensor cannot be called that,"},
    {"sensors: {1a: {driver: ldrobot, port: 'udp:1'}}\n",
     "1:11: sensors.1a: a sensor cannot be called that,"},
    {"sensors: {'': {driver: ldrobot, port: 'udp:1'}}\n",
     "1:11: sensors.: a sensor cannot be called that,"},
    {"sensors: {a/b: {driver: ldrobot, port: 'udp:1'}}\n",
     "1:11: sensors.a/b: a sensor cannot be called that,"},
    {"sensors: {'*': {driver: ldrobot, port: 'udp:1'}}\n",
     "1:11: sensors.*: a sensor cannot be called that,"},
    {"sensors: {aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: {driver: ldrobot, port: 'udp:1'}}\n",
     "1:11: sensors.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: a sensor cannot be called that,"},
    {"sensors:\n  a: {driver: ldrobot, port: 'udp:1'}\n  a: {driver: ldrobot, port: 'udp:2'}\n",
     "3:3: sensors.a: given again, first in line 2, keep one"},
    {"sensors:\n  a: {driver: ldrobot, port: 'serial:/dev/x'}\n  b: {driver: ldrobot, port: "
     "'serial:/dev/x'}\n",
     "3:30: sensors.b.port: the same port as sensors.a.port, give"},
    {"sensors:\n  a: {driver: ldrobot, port: 'serial:/dev/x'}\n  b: {driver: ldrobot, port: "
     "'serial:/dev/../dev/x'}\n",
     "3:30: sensors.b.port: the same port as sensors.a.port, give"},
    {"sensors:\n  a: {driver: ldrobot, port: 'udp:7'}\n  b: {driver: ldrobot, port: 'udp:7', from: "
     "10.0.0.1}\n",
     "3:30: sensors.b.port: the same port as sensors.a.port, give"},
    {"sensors:\n  a: {driver: ldrobot, from: 10.0.0.1, port: 'udp:7'}\n  b: {driver: ldrobot, "
     "port: "
     "'udp:7', from: 10.0.0.1}\n",
     "3:30: sensors.b.port: the same port as sensors.a.port, give each its own port, or both "
     "their"},
    {"sensors:\n  a: {driver: ldrobot, from: 10.0.0.1, port: 'udp:7'}\n  b: {driver: ldrobot, "
     "port: "
     "'udp:10.0.0.5:7', from: 10.0.0.2}\n",
     "3:30: sensors.b.port: the same port as sensors.a.port, give"},
    {"sensors:\n  a: {driver: ldrobot, port: 'udp:7'}\n  b: {driver: ldrobot, port: "
     "'udp:10.0.0.1:7'}\n",
     "3:30: sensors.b.port: the same port as sensors.a.port, give"},
    {"sensors:\n  a: {driver: ldrobot, port: 'tcp:10.0.0.1:7'}\n  b: {driver: ldrobot, port: "
     "'tcp:10.0.0.1:7'}\n",
     "3:30: sensors.b.port: the same port as sensors.a.port, give"},
    {"sensors: {a: {driver: ldrobot, port: 'udp:7', baud: 9600}}\n",
     "1:53: sensors.a.baud: makes sense for serial ports only,"},
    {"sensors: {a: {driver: ldrobot, port: 'udp:7', line: uart}}\n",
     "1:53: sensors.a.line: makes sense for serial ports only,"},
    {"sensors: {a: {driver: ldrobot, port: 'udp:7', from: '10.0.0.1:0'}}\n",
     "1:53: sensors.a.from: the text '10.0.0.1:0' is not valid,"},
    {"sensors: {a: {driver: ldrobot, port: 'udp:7', from: 10.0.0.256}}\n",
     "1:53: sensors.a.from: '10.0.0.256' is not valid, expected"},
    {"sensors: {a: {driver: ldrobot, port: 'tcp:10.0.0.1:7', from: 10.0.0.1}}\n",
     "1:62: sensors.a.from: makes sense for udp ports only, leave"},
    {"sensors: {a: {driver: ldrobot, port: 'udp:7', min_range: 5, max_range: 4}}\n",
     "1:58: sensors.a.min_range: min_range is not less than max_range,"},
    {"sensors: {a: {driver: ldrobot, port: 'udp:7', filters: {angles_deg: [[0, 90, 180]]}}}\n",
     "1:69: sensors.a.filters.angles_deg: a list is not valid, expected a list of at most 32 pairs "
     "[from, to], each from -360 to 360 deg"},
    {"sensors: {a: {driver: ldrobot, port: 'udp:7', filters: {median_window: 4}}}\n",
     "1:72: sensors.a.filters.median_window: an even number has no middle, expected an odd"},
    {"sensors: {a: {driver: ldrobot, port: 'udp:7', filters: {box: {max: [1, 0, 1]}}}}\n",
     "1:68: sensors.a.filters.box.max: the box is empty, expected every number of max above"},
    {"sensors: {a: {driver: ldrobot, port: 'udp:7', filters: {speckle: {distance: 1, "
     "neighbours: 5}}}}\n",
     "1:92: sensors.a.filters.speckle.neighbours: more neighbours than there are beams"},
    {"sensors: {a: {driver: microstrain_mip, port: 'serial:/dev/a', filters: {voxel: 1}}}\n",
     "1:72: sensors.a.filters: makes sense for lidars only, leave"},
    {"frame: a\nsensors: {a: {driver: ldrobot, port: 'udp:7'}}\n",
     "2:11: sensors.a: the tracking frame is called so, give the"},
    {"sensors: {lidard: {driver: ldrobot, port: 'udp:7'}}\n",
     "1:11: sensors.lidard: the topics of /lidard are the daemon's own, give it"},
    {"sensors: {a: {driver: rplidar, port: 'udp:7'}}\n",
     "1:38: sensors.a.port: rplidar devices need commands, and these have no destination, expected "
     "from: HOST:PORT"},
    {"sensors: {a: {driver: pepperl_fuchs, port: 'udp:7'}}\n",
     "1:44: sensors.a.port: pepperl_fuchs devices need commands at a second port, and none is "
     "given, "
     "expected control: tcp:HOST:80 beside it"},
    {"sensors: {a: {driver: rplidar, port: 'udp:7', from: 10.0.0.1}}\n",
     "1:53: sensors.a.from: rplidar devices need commands, and these have no"},
    {"sensors: {a: {driver: microstrain_mip, port: 'udp:7'}}\n",
     "1:46: sensors.a.port: microstrain_mip devices need commands, and these"},
    {"sensors: {a: {driver: ldrobot, port: 'udp:7', emit: chunk, capacity: 8}, b: {driver: "
     "ldrobot, port: 'udp:8', max_wait_ms: 1000}}\n",
     "1:70: sensors.a.capacity: 8 data are less than arrive in the"},
    {"sensors: {a: {driver: ldrobot, port: 'udp:7', options: {model: STL-27L}, emit: "
     "{subdivisions: 1}, capacity: 20000}}\n",
     "1:109: sensors.a.capacity: '20000' is not valid, expected an"},
    {"a: [1\n", "2:1: yaml: end of sequence flow not found, correct"},
    {"a: {\n", "2:1: yaml: end of map flow not found, correct the"},
    {"a: \"x\n", "1:1: a: unknown key, the keys here are frame,"},
    {"\ta: 1\n", "1:3: yaml: illegal map value, correct the YAML"},
    {"a: b: c\n", "1:5: yaml: illegal map value, correct the YAML"},
    {"- a\nb: 1\n", "2:1: yaml: a second document begins here, keep one"},
    {"a: 1\n  b: 2\n", "2:4: yaml: illegal map value, correct the YAML"},
    {"a: @x\n", "1:4: yaml: unknown token, correct the YAML here or"},
    {"a: `x\n", "1:4: yaml: unknown token, correct the YAML here or"},
    {"%YAML 9\n", "1:1: yaml: bad YAML version: 9, correct the YAML"},
    {"---\nsensors: {a: {driver: ldrobot, port: 'udp:1'}}\n---\nframe: x\n",
     "4:1: yaml: a second document begins here, keep one"},
    {"a: &a [*a]\n", "1:8: yaml: an alias (*name) is not supported,"},
    {"a: &a {b: *a}\n", "1:11: yaml: an alias (*name) is not supported,"},
    {"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
     "2:8: yaml: an alias (*name) is not supported,"},
    {"a: *nowhere\n", "1:4: yaml: the referenced anchor is not defined,"},
    {"frame: !custom x\n", "1:8: yaml: the tag !custom is not supported, leave"},
    {"? {a: b}\n: c\n", "1:3: ?: a key cannot be a map, expected a plain"},
    {"a: \"\\q\"\n", "1:7: yaml: unknown escape character: q, correct"},
    {"frame: x\nframe: y\n", "2:1: frame: given again, first in line 1, keep one"},
};

void check(const std::string& text, const char* expected) {
  const config::Loaded loaded = config::load_text(text, "t");
  const auto* faults = std::get_if<std::vector<config::Fault>>(&loaded);
  CHECK_TEXT(faults, text.c_str());
  const std::string first = config::to_string(faults->front());
  STRNCMP_EQUAL_TEXT(("t:" + std::string(expected)).c_str(), first.c_str(),
                     2 + std::string(expected).size(), text.c_str());
  for (const config::Fault& fault : *faults) {
    CHECK_TEXT(!fault.wrong.empty() && !fault.remedy.empty(), text.c_str());
  }
}

}  // namespace

TEST_GROUP(ConfigBadFiles){};

TEST(ConfigBadFiles, BadLinesAreRefusedAtTheirPlaceWithARemedy) {
  for (const Bad& bad : kLines) {
    check(std::string(bad.text) + "\nsensors: {z: {driver: ldrobot, port: 'udp:9'}}\n", bad.fault);
  }
}

TEST(ConfigBadFiles, BadFilesAreRefusedAtTheirPlaceWithARemedy) {
  for (const Bad& bad : kFiles) check(bad.text, bad.fault);
}
