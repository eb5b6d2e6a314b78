// Writes one MCAP file with every kind of message that lidard knows, for readers that are not ours.
// Usage: mcap_sample FILE CHUNK_SIZE [zstd|lz4] (0: no chunks)
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "app/drop_notice.h"
#include "app/lidarctl/compression.h"
#include "app/messages.h"
#include "hal/mcap/writer.h"

namespace {

namespace mcap = hal::mcap;

constexpr std::int64_t kStart = 1'700'000'000'000'000'000;

class File final : public mcap::ByteSink {
 public:
  explicit File(const char* path) : file_(std::fopen(path, "wb")) {}
  ~File() {
    if (file_ != nullptr) std::fclose(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  hal::Status write(hal::Bytes bytes) override {
    if (file_ == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
      return hal::Error{hal::Errc::io, errno, "sample: write", {}};
    }
    return hal::ok;
  }

 private:
  std::FILE* file_;
};

class Sample {
 public:
  Sample(File& file, std::size_t chunk_size, mcap::Compressor* compressor)
      : writer_(file, {app::kProfile, "lidard sample", chunk_size, compressor}) {
    require(writer_.start());
    points_ = channel("/front/points", app::kPointCloud2Type);
    scan_ = channel("/front/scan", app::kLaserScanType);
    imu_ = channel("/imu", app::kImuType);
    diagnostics_ = channel("/diagnostics", app::kDiagnosticArrayType);
    events_ = channel("/lidard/events", app::kDiagnosticArrayType);
    tf_ = channel("/tf_static", app::kTfMessageType);
  }

  void write_all() {
    attachment();
    transforms();
    for (int i = 0; i < 200; ++i) {
      const std::int64_t t = kStart + i * 10'000'000LL;
      imu(t, i);
      if (i % 10 == 0) cloud(t, static_cast<std::size_t>(i));
      if (i % 10 == 5) scan(t, static_cast<std::size_t>(i));
      if (i % 100 == 0) diagnostics(t);
    }
    const auto size = app::encode_drop_notice({kStart, 3, 12}, buffer_);
    write(events_, kStart, size);
    require(writer_.finish());
  }

 private:
  static void require(const hal::Status& status) {
    if (status) return;
    std::fprintf(stderr, "%s: %s\n", status.error().where, status.error().detail.c_str());
    std::exit(1);
  }
  std::uint16_t channel(std::string_view topic, const app::MessageType& type) {
    const auto schema = writer_.add_schema(type.name, app::kSchemaEncoding,
                                           std::as_bytes(std::span(type.definition)));
    const mcap::KeyValue qos{app::kQosKey, ""};
    return *writer_.add_channel(topic, *schema, app::kMessageEncoding, {&qos, 1});
  }
  void write(std::uint16_t id, std::int64_t t, std::size_t size) {
    const auto time = static_cast<std::uint64_t>(t);
    require(
        writer_.write(mcap::Message{id, ++sequence_, time, time, hal::Bytes(buffer_).first(size)}));
  }

  void attachment() {
    static constexpr std::string_view kText = "frame: base_link\n";
    const auto at = static_cast<std::uint64_t>(kStart);
    require(writer_.write(mcap::Attachment{at, at, "lidard.yaml", "application/yaml",
                                           std::as_bytes(std::span(kText))}));
    const mcap::KeyValue pair{"host", "sample"};
    require(writer_.write(mcap::Metadata{"lidard", {&pair, 1}}));
  }
  void transforms() {
    const app::Transform t[]{{{kStart, "base_link"}, "front", {1, 2, 3}, {0, 0, 0, 1}},
                             {{kStart, "base_link"}, "imu", {0, 0, 0.5}, {0, 0, 1, 0}}};
    write(tf_, kStart, app::encode(t, buffer_));
  }
  void imu(std::int64_t t, int i) {
    app::Imu imu{{t, "imu"}, {}, app::Vector3{0, 0, 0.01 * i}, app::Vector3{0, 0, 9.81}};
    if (i % 2 == 1) imu.orientation = app::Quaternion{0, 0, 0, 1};
    write(imu_, t, app::encode(imu, buffer_));
  }
  void cloud(std::int64_t t, std::size_t n) {
    std::vector<app::PointXyzit> points;
    for (std::size_t k = 0; k < n; ++k) {
      const auto f = static_cast<float>(k);
      points.push_back({f, -f, 0.5F, 47, (f - static_cast<float>(n) + 1) * 1e-4F});
    }
    write(points_, t,
          app::encode(app::PointCloud{{t, "base_link"}, std::span<const app::PointXyzit>(points)},
                      buffer_));
  }
  void scan(std::int64_t t, std::size_t n) {
    const std::vector<float> ranges(n, 2.5F), intensities(n % 2 == 0 ? n : 0, 100);
    const app::LaserScan scan{{t, "front"},
                              -3.14F,
                              3.14F,
                              0.01F,
                              1e-5F,
                              0.1F,
                              0.05F,
                              12,
                              std::span<const float>(ranges),
                              std::span<const float>(intensities)};
    write(scan_, t, app::encode(scan, buffer_));
  }
  void diagnostics(std::int64_t t) {
    app::DiagnosticWriter w({t, ""}, buffer_);
    w.status(app::Level::ok, "front", "streaming", "rplidar");
    w.value("rate_hz", "10.0");
    w.value("late", "0");
    w.status(app::Level::error, "rear", "no such port", "");
    write(diagnostics_, t, w.finish());
  }

  mcap::Writer writer_;
  std::uint16_t points_, scan_, imu_, diagnostics_, events_, tf_;
  std::uint32_t sequence_ = 0;
  std::array<std::byte, 1 << 16> buffer_{};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  File file(argv[1]);
  const auto compressor = lidarctl::make_compressor(argc == 4 ? argv[3] : "none");
  Sample(file, static_cast<std::size_t>(std::atol(argv[2])), compressor.get()).write_all();
  return 0;
}
