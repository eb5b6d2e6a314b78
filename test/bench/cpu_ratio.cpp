// What the whole daemon costs beyond reading: its CPU with a fleet of devices, beside a loop that
// only reads what they send. All run at the same time, each with a fleet of its own, so that the
// load of the machine hits them alike: windows one after the other differ by a factor of three on a
// busy one. Prints the medians; LIDARD_STRICT=1 makes a high ratio a failure.
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "hal/event_loop.h"
#include "test/bench/readers.h"

namespace {

using namespace std::chrono_literals;

constexpr int kWindows = 5;
constexpr hal::Duration kSettle = 1s, kWindow = 2s;
constexpr double kHighestRatio = 2.5;

void read_for(hal::Duration d, std::deque<bench::Client>& clients) {
  const hal::InnerClock clock;
  const hal::Time end = clock.now() + d;
  std::vector<pollfd> polls;
  for (const bench::Client& client : clients) polls.push_back({client.fd(), POLLIN, 0});
  for (hal::Time now = clock.now(); now < end; now = clock.now()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - now);
    ::poll(polls.data(), polls.size(), static_cast<int>(left.count()));
    for (std::size_t i = 0; i < polls.size(); ++i) {
      if (polls[i].revents != 0) clients[i].read();
    }
  }
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

class Column {
 public:
  void add(const bench::Cost& cost, const bench::Cost& raw) {
    us_.push_back(cost.us_per_frame);
    percent_.push_back(cost.percent);
    ratio_.push_back(cost.us_per_frame / raw.us_per_frame);
  }
  void print(const char* name) const {
    std::printf("  %-16s %6.2f %% %8.2f us/frame %6.2f\n", name, median(percent_), median(us_),
                ratio());
  }
  double ratio() const { return median(ratio_); }

 private:
  std::vector<double> us_, percent_, ratio_;
};

struct Scene {
  const char* name;
  const char* what;
  bench::FleetOf fleet;               // of the daemons
  sim::Options raw_set;               // of the reference's, to which nobody speaks
  const char* keys;                   // of each sensor
  double messages_hz;                 // of each device
  bool raw_is_batched, low, batched;  // how the reference reads; which daemons there are
};

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all{
      {.name = "lidars",
       .what = "4 x LD19 on ptys",
       .fleet = {.driver = "ldrobot", .count = 4, .frames_hz = 375},
       .raw_set = {},
       .keys = "",
       .messages_hz = 20,  // as points and as scan
       .raw_is_batched = false,
       .low = true,
       .batched = true},
      {.name = "scanners",
       .what = "4 x nanoScan3 by UDP, 1651 beams at 33 Hz",
       .fleet = {.driver = "sick_safety",
                 .count = 4,
                 .frames_hz = 33.3,
                 .is_udp = true,
                 .set = {{"model", "nanoScan3"}, {"preset", "on"}}},
       .raw_set = {{"model", "nanoScan3"}, {"preset", "on"}},
       .keys = "",
       .messages_hz = 66,
       .raw_is_batched = false,
       .low = true,
       .batched = false},
      {.name = "imus",
       .what = "8 x MIP on ptys, 1 kHz",
       .fleet = {.driver = "microstrain_mip",
                 .count = 8,
                 .frames_hz = 1000,
                 .set = {{"baud", "921600"}},
                 .rate_hz = 1000},
       .raw_set = {{"baud", "921600"}, {"streaming", "on"}},
       .keys = "baud: 921600, options: {rate_hz: 1000}",
       .messages_hz = 1000,
       .raw_is_batched = true,
       .low = false,
       .batched = true},
  };
  return all;
}

// The highest ratio to the reference of what is judged: low where there is one.
double run(const char* program, const Scene& scene) {
  bench::FleetOf raw_of = scene.fleet;
  raw_of.set = scene.raw_set;
  const hal::Duration period = scene.raw_is_batched ? hal::EventLoop::kBatchPeriod : 0ms;
  bench::Reader reference(raw_of,
                          [&](const bench::Fleet& fleet) { bench::read_raw(fleet, period); });
  std::vector<std::unique_ptr<bench::Lidard>> daemons;
  std::vector<const char*> names;
  for (const char* latency : {"low", "batched"}) {
    const bool is_low = std::string_view(latency) == "low";
    if (!(is_low ? scene.low : scene.batched)) continue;
    std::string keys = std::string("latency: ") + latency;
    if (*scene.keys != 0) keys.append(", ").append(scene.keys);
    daemons.push_back(std::make_unique<bench::Lidard>(program, scene.fleet, keys));
    names.push_back(is_low ? "lidard, low" : "lidard, batched");
  }
  std::deque<bench::Client> clients;
  for (const auto& daemon : daemons) clients.emplace_back(daemon->socket());
  Column raw;
  std::vector<Column> columns(daemons.size());
  read_for(kSettle, clients);
  for (int window = -1; window < kWindows; ++window) {
    const bench::Cost raw_cost = reference.cost();
    if (window >= 0) raw.add(raw_cost, raw_cost);  // before, they started
    for (std::size_t i = 0; i < daemons.size(); ++i) {
      const bench::Cost cost = daemons[i]->reader().cost();
      if (window >= 0) columns[i].add(cost, raw_cost);
    }
    if (window + 1 < kWindows) read_for(kWindow, clients);
  }
  const double seconds = kWindows * hal::to_seconds(kWindow);
  const double count = static_cast<double>(scene.fleet.count);
  for (const bench::Client& client : clients) {  // a busy machine loses some
    if (static_cast<double>(client.messages()) < count * scene.messages_hz * seconds / 4)
      bench::give_up("lidard did not stream");
  }
  std::printf("%s, %d windows of 2 s: CPU of one core, cost, ratio to the reference\n", scene.what,
              kWindows);
  raw.print(scene.raw_is_batched ? "raw, every 5 ms" : "raw, at once");
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i].print(names[i]);
  return columns.front().ratio();
}

}  // namespace

// cpu_ratio [PROGRAM [SCENE]]
int main(int argc, char** argv) {
  const char* const program = argc > 1 ? argv[1] : LIDARD_PROGRAM;
  ::signal(SIGPIPE, SIG_IGN);
  double highest = 0;
  for (const Scene& scene : scenes()) {
    if (argc > 2 && std::string_view(argv[2]) != scene.name) continue;
    highest = std::max(highest, run(program, scene));
  }
  const char* const strict = std::getenv("LIDARD_STRICT");
  const bool judged = strict != nullptr && std::string_view(strict) == "1";
  if (!judged || highest <= kHighestRatio) return 0;
  std::printf("a ratio is above %.1f\n", kHighestRatio);
  return 1;
}
