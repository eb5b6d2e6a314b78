// lidarctl export: a recording as CSV, or its clouds as PCD, for programs that read nothing else.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "app/lidarctl/any_cloud.h"
#include "app/lidarctl/commands.h"
#include "app/lidarctl/stream_client.h"

namespace lidarctl {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string file, folder, format = "csv";
  std::vector<std::string> topics;
};

// "/front/points": "front_points".
std::string name_of(const std::string& topic) {
  std::string name = topic.substr(topic.starts_with('/') ? 1 : 0);
  std::ranges::replace(name, '/', '_');
  return name;
}

class File {
 public:
  explicit File(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb")) {
    if (!file_) throw Failure(kFailed, path + ": cannot be written");
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (file_) std::fclose(file_);
  }
  std::FILE* get() const { return file_; }
  void close() {
    const bool is_good = std::ferror(file_) == 0;
    if (std::fclose(std::exchange(file_, nullptr)) != 0 || !is_good) {
      throw Failure(kFailed, path_ + ": could not be written whole; is the disk full?");
    }
  }

 private:
  std::string path_;
  std::FILE* file_;
};

class Exporter {
 public:
  explicit Exporter(const Arguments& arguments) : arguments_(arguments) {
    std::error_code error;
    fs::create_directories(arguments.folder, error);
    if (!fs::is_directory(arguments.folder)) {
      throw Failure(kFailed, arguments.folder + ": cannot be made a folder: " + error.message());
    }
  }

  void take(const StreamMessage& m) {
    const auto& wanted = arguments_.topics;
    if (!wanted.empty() && std::ranges::find(wanted, m.topic) == wanted.end()) return;
    if (m.type == "sensor_msgs/msg/PointCloud2") {
      if (const auto cloud = AnyCloud::decode(m.message.data)) {
        arguments_.format == "pcd" ? put_pcd(m.topic, *cloud) : put(m.topic, *cloud);
      }
    } else if (arguments_.format == "csv" && m.type == "sensor_msgs/msg/LaserScan") {
      if (const auto scan = app::decode_laser_scan(m.message.data)) put(m.topic, *scan);
    } else if (arguments_.format == "csv" && m.type == "sensor_msgs/msg/Imu") {
      if (const auto imu = app::decode_imu(m.message.data)) put(m.topic, *imu);
    }
  }

  void finish() {
    for (auto& [topic, file] : files_) file->close();
    for (const auto& [path, count] : written_)
      std::printf("%s: %" PRIu64 "\n", path.c_str(), count);
    if (written_.empty()) throw Failure(kFailed, "nothing to export was found");
  }

 private:
  std::FILE* csv(const std::string& topic, const char* columns) {
    const std::string path = arguments_.folder + "/" + name_of(topic) + ".csv";
    ++written_[path];
    auto& file = files_[topic];
    if (!file) {
      file = std::make_unique<File>(path);
      std::fprintf(file->get(), "%s\n", columns);
    }
    return file->get();
  }

  void put(const std::string& topic, const AnyCloud& cloud) {
    std::FILE* const out = csv(topic, "stamp_ns,x,y,z,intensity,time");
    for (std::size_t i = 0; i < cloud.size(); ++i) {
      const app::PointXyzit p = cloud[i];
      std::fprintf(out, "%" PRId64 ",%.7g,%.7g,%.7g,%.7g,%.9g\n", cloud.header().unix_ns,
                   static_cast<double>(p.x), static_cast<double>(p.y), static_cast<double>(p.z),
                   static_cast<double>(p.intensity), static_cast<double>(p.time));
    }
  }

  void put(const std::string& topic, const app::LaserScan& scan) {
    std::FILE* const out = csv(topic, "stamp_ns,angle,range,intensity");
    for (std::size_t i = 0; i < scan.ranges.size(); ++i) {
      const double angle = static_cast<double>(scan.angle_min) +
                           static_cast<double>(i) * static_cast<double>(scan.angle_increment);
      std::fprintf(out, "%" PRId64 ",%.7g,%.7g,", scan.header.unix_ns, angle,
                   static_cast<double>(scan.ranges[i]));
      if (i < scan.intensities.size()) {
        std::fprintf(out, "%.7g", static_cast<double>(scan.intensities[i]));
      }
      std::fputc('\n', out);
    }
  }

  template <std::size_t N>
  static void put(std::FILE* out, const std::optional<std::array<double, N>>& vector) {
    for (std::size_t i = 0; i < N; ++i) {
      vector ? std::fprintf(out, ",%.9g", (*vector)[i]) : std::fprintf(out, ",");
    }
  }
  void put(const std::string& topic, const app::Imu& imu) {
    std::FILE* const out = csv(topic,
                               "stamp_ns,gyro_x,gyro_y,gyro_z,accel_x,accel_y,accel_z,"
                               "orientation_x,orientation_y,orientation_z,orientation_w");
    std::fprintf(out, "%" PRId64, imu.header.unix_ns);
    put(out, imu.angular_velocity);
    put(out, imu.linear_acceleration);
    put(out, imu.orientation);
    std::fputc('\n', out);
  }

  // PCD 0.7 (pointclouds.org), one file per cloud, named by its stamp.
  void put_pcd(const std::string& topic, const AnyCloud& cloud) {
    const std::string folder = arguments_.folder + "/" + name_of(topic);
    fs::create_directories(folder);
    File file(folder + "/" + std::to_string(cloud.header().unix_ns) + ".pcd");
    std::fprintf(file.get(),
                 "# .PCD v0.7\nVERSION 0.7\nFIELDS x y z intensity time\nSIZE 4 4 4 4 4\n"
                 "TYPE F F F F F\nCOUNT 1 1 1 1 1\nWIDTH %zu\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\n"
                 "POINTS %zu\nDATA binary\n",
                 cloud.size(), cloud.size());
    for (std::size_t i = 0; i < cloud.size(); ++i) {
      const app::PointXyzit point = cloud[i];
      std::fwrite(&point, sizeof point, 1, file.get());
    }
    file.close();
    ++written_[folder];
  }

  const Arguments& arguments_;
  std::map<std::string, std::unique_ptr<File>> files_;
  std::map<std::string, std::uint64_t> written_;  // messages, by file or folder
};

void export_file(const Arguments& arguments) {
  std::ifstream in(arguments.file, std::ios::binary);
  if (!in) throw Failure(kNoInput, arguments.file + ": cannot be read");
  Exporter exporter(arguments);
  MessageReader reader;
  std::vector<char> buffer(1 << 20);
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0) {
    reader.feed(std::as_bytes(std::span(buffer).first(static_cast<std::size_t>(in.gcount()))),
                arguments.file, [&](const StreamMessage& m) { exporter.take(m); });
  }
  exporter.finish();
}

}  // namespace

void add_export(CLI::App& root) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const command =
      root.add_subcommand("export", "Write a recording as CSV files, or its clouds as PCD files");
  command->add_option("FILE", arguments->file, "an MCAP file")->required();
  command->add_option("FOLDER", arguments->folder, "where to; made if it is not there")->required();
  command->add_option("--format", arguments->format, "csv: a file per topic; pcd: a file per cloud")
      ->check(CLI::IsMember({"csv", "pcd"}))
      ->capture_default_str();
  command->add_option("--topic", arguments->topics, "only these topics; may be repeated");
  command->callback([arguments] { export_file(*arguments); });
}

}  // namespace lidarctl
