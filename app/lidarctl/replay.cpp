// lidarctl replay: a raw capture through the whole stack. Equal input gives equal output.
#include <array>
#include <cstdio>
#include <deque>
#include <fstream>

#include "app/driver_setup.h"
#include "app/lidarctl/commands.h"
#include "app/lidarctl/file_sink.h"
#include "app/raw_capture.h"
#include "app/station.h"
#include "config/load.h"
#include "hal/mcap/reader.h"

namespace lidarctl {
namespace {

struct Arguments {
  std::string capture, config, out;
  bool strict = false;
};

// Reads the capture piece by piece: records in order, and its attached configuration.
class CaptureFile final : public hal::RecordSource, private hal::mcap::RecordSink {
 public:
  explicit CaptureFile(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    if (!file_) throw Failure(kNoInput, path + ": cannot be opened");
  }

  std::optional<hal::RawRecord> next() override {
    if (!waiting_.empty()) waiting_.pop_front();  // its bytes were valid until now
    while (!waiting_.empty() || read()) {
      if (waiting_.empty()) continue;
      if (const auto record = hal::decode(waiting_.front())) return record;
      ++malformed_;
      waiting_.pop_front();
    }
    return std::nullopt;
  }

  // Reads to the end, keeping only the configuration.
  std::string configuration() {
    keep_records_ = false;
    while (read()) {
    }
    return configuration_;
  }
  std::uint64_t lost() const { return lost_; }            // records that the capture misses
  std::uint64_t malformed() const { return malformed_; }  // records that are none, left out

 private:
  bool read() {
    file_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    const auto n = static_cast<std::size_t>(file_.gcount());
    if (n == 0) return false;
    const hal::Status fed = reader_.feed(std::as_bytes(std::span(buffer_).first(n)), *this);
    if (!fed) throw Failure(kNoInput, path_ + ": " + hal::in_words(fed.error()).c_str());
    return true;
  }

  void on_record(const hal::mcap::Record& record) override {
    if (record.opcode == hal::mcap::Opcode::attachment) {
      const auto attachment = hal::mcap::decode_attachment(record.content);
      if (!attachment || attachment->name != app::kConfigurationName) return;
      const auto* const text = reinterpret_cast<const char*>(attachment->data.data());
      configuration_.assign(text, attachment->data.size());
    } else if (record.opcode == hal::mcap::Opcode::message && keep_records_) {
      const auto message = hal::mcap::decode_message(record.content);
      if (!message) {
        ++malformed_;
        return;
      }
      if (message->sequence > sequence_) lost_ += message->sequence - sequence_ - 1;
      sequence_ = message->sequence;
      waiting_.emplace_back(message->data.begin(), message->data.end());
    }
  }

  std::string path_;
  std::ifstream file_;
  hal::mcap::Reader reader_{std::size_t{16} << 20};
  std::array<char, 65'536> buffer_{};
  std::deque<std::vector<std::byte>> waiting_;
  std::string configuration_;
  bool keep_records_ = true;
  std::uint32_t sequence_ = 0;  // of the record before; the first has 1
  std::uint64_t lost_ = 0, malformed_ = 0;
};

config::Stack load(const Arguments& arguments) {
  const bool given = !arguments.config.empty();
  const std::string text = given ? "" : CaptureFile(arguments.capture).configuration();
  if (!given && text.empty()) {
    throw Failure(kNoInput,
                  arguments.capture + ": carries no configuration; give one with --config FILE");
  }
  config::Loaded loaded =
      given ? config::load(arguments.config) : config::load_text(text, arguments.capture);
  if (const auto* const faults = std::get_if<std::vector<config::Fault>>(&loaded)) {
    for (const config::Fault& fault : *faults)
      std::fprintf(stderr, "%s\n", config::to_string(fault).c_str());
    throw Failure(kBadConfig, "");
  }
  config::Stack stack = std::get<config::Stack>(std::move(loaded));
  if (arguments.strict) stack.collation.policy = collation::Policy::strict;
  return stack;
}

void replay(const Arguments& arguments) {
  const config::Stack stack = load(arguments);
  const config::Plan plan = config::plan(stack);
  hal::Log log(2, hal::Severity::warning, hal::Log::Style::plain);
  FileSink sink(arguments.out, plan.max_message);
  app::Station station(stack, plan, sink, log);
  if (const hal::Status made = station.status(); !made) {
    throw Failure(kFailed, hal::in_words(made.error()).c_str());
  }
  CaptureFile capture(arguments.capture);
  hal::Replayer replayer(capture);
  for (std::size_t i = 0; i < stack.sensors.size(); ++i) {
    const config::Sensor& sensor = stack.sensors[i];
    if (!config::is_device(sensor)) continue;
    const auto id = static_cast<std::uint8_t>(i);
    drivers::DriverSetup setup = app::driver_setup(stack, i, station.pipeline().input());
    const std::optional<hal::PortSpec>* const specs[] = {&sensor.port, &sensor.control,
                                                         &sensor.imu};
    for (std::uint8_t channel = 0; channel < drivers::kMaxChannels; ++channel) {
      if (!*specs[channel]) continue;
      setup.ports[channel] = replayer.make_port(id, channel, hal::to_string(**specs[channel]));
    }
    station.pipeline().add(sensor.driver->make(sensor.options, std::move(setup)));
  }
  for (int place = 0; place < stack.input.clients && !stack.inputs.empty(); ++place) {
    station.pipeline().inputs().add(
        replayer.make_port(app::kInputSocket, static_cast<std::uint8_t>(place), "input"));
  }
  replayer.run(station);
  station.finish(replayer.clock().now());
  sink.finish();
  for (std::size_t i = 0; i < stack.sensors.size(); ++i) {
    const app::Account a = station.pipeline().account(static_cast<drivers::SensorId>(i));
    std::printf("%-12s %llu packets, %llu out, %s\n", stack.sensors[i].name.c_str(),
                static_cast<unsigned long long>(a.packets),
                static_cast<unsigned long long>(a.queue.out), a.rate_text.c_str());
  }
  for (std::size_t i = 0; i < stack.inputs.size(); ++i) {
    const std::size_t id = stack.sensors.size() + i;
    std::printf("%-12s %llu messages, %llu out, %s\n", stack.inputs[i].name.c_str(),
                static_cast<unsigned long long>(station.pipeline().inputs().stats(i).messages),
                static_cast<unsigned long long>(station.pipeline().queue(id).out),
                station.pipeline().rate(id).text().c_str());
  }
  std::printf(
      "%llu messages; %llu divergences from the recorded run, %llu records lost and %llu "
      "malformed in the capture\n",
      static_cast<unsigned long long>(sink.messages()),
      static_cast<unsigned long long>(replayer.divergences()),
      static_cast<unsigned long long>(capture.lost()),
      static_cast<unsigned long long>(capture.malformed()));
}

}  // namespace

void add_replay(CLI::App& root) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const command =
      root.add_subcommand("replay", "Run a raw capture (`capture:` key) through the whole stack");
  command->add_option("FILE", arguments->capture, "raw capture")->required();
  command->add_option("--out", arguments->out, "MCAP file for the collated stream");
  command->add_option("--config", arguments->config, "instead of the captured configuration");
  command->add_flag("--strict", arguments->strict, "collate by the policy `strict`");
  command->callback([arguments] { replay(*arguments); });
}

}  // namespace lidarctl
