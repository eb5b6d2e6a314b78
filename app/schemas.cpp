#include "app/schemas.h"

#include <algorithm>
#include <array>

namespace app {
namespace {

// One text made of several at compile time.
template <const std::string_view&... parts>
struct Joined {
  static constexpr auto chars = [] {
    std::array<char, (parts.size() + ...)> all{};
    auto to = all.begin();
    ((to = std::copy(parts.begin(), parts.end(), to)), ...);
    return all;
  }();
  static constexpr std::string_view text{chars.data(), chars.size()};
};

constexpr std::string_view kHeader =
    R"(================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
)";

constexpr std::string_view kVector3 =
    R"(================================================================================
MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
)";

constexpr std::string_view kQuaternion =
    R"(================================================================================
MSG: geometry_msgs/Quaternion
float64 x 0
float64 y 0
float64 z 0
float64 w 1
)";

constexpr std::string_view kTransform =
    R"(================================================================================
MSG: geometry_msgs/Transform
Vector3 translation
Quaternion rotation
)";

constexpr std::string_view kTransformStamped =
    R"(================================================================================
MSG: geometry_msgs/TransformStamped
std_msgs/Header header
string child_frame_id
Transform transform
)";

constexpr std::string_view kPointField =
    R"(================================================================================
MSG: sensor_msgs/PointField
uint8 INT8=1
uint8 UINT8=2
uint8 INT16=3
uint8 UINT16=4
uint8 INT32=5
uint8 UINT32=6
uint8 FLOAT32=7
uint8 FLOAT64=8
string name
uint32 offset
uint8 datatype
uint32 count
)";

constexpr std::string_view kKeyValue =
    R"(================================================================================
MSG: diagnostic_msgs/KeyValue
string key
string value
)";

constexpr std::string_view kDiagnosticStatus =
    R"(================================================================================
MSG: diagnostic_msgs/DiagnosticStatus
byte OK=0
byte WARN=1
byte ERROR=2
byte STALE=3
byte level
string name
string message
string hardware_id
KeyValue[] values
)";

constexpr std::string_view kPointCloud2 =
    R"(std_msgs/Header header
uint32 height
uint32 width
PointField[] fields
bool is_bigendian
uint32 point_step
uint32 row_step
uint8[] data
bool is_dense
)";

constexpr std::string_view kLaserScan =
    R"(std_msgs/Header header
float32 angle_min
float32 angle_max
float32 angle_increment
float32 time_increment
float32 scan_time
float32 range_min
float32 range_max
float32[] ranges
float32[] intensities
)";

constexpr std::string_view kImu =
    R"(std_msgs/Header header
geometry_msgs/Quaternion orientation
float64[9] orientation_covariance
geometry_msgs/Vector3 angular_velocity
float64[9] angular_velocity_covariance
geometry_msgs/Vector3 linear_acceleration
float64[9] linear_acceleration_covariance
)";

constexpr std::string_view kMagneticField =
    R"(std_msgs/Header header
geometry_msgs/Vector3 magnetic_field
float64[9] magnetic_field_covariance
)";

constexpr std::string_view kFluidPressure =
    R"(std_msgs/Header header
float64 fluid_pressure
float64 variance
)";

constexpr std::string_view kTemperature =
    R"(std_msgs/Header header
float64 temperature
float64 variance
)";

constexpr std::string_view kDiagnosticArray =
    R"(std_msgs/Header header
DiagnosticStatus[] status
)";

constexpr std::string_view kTfMessage =
    R"(geometry_msgs/TransformStamped[] transforms
)";

}  // namespace

const MessageType kPointCloud2Type{"sensor_msgs/msg/PointCloud2",
                                   Joined<kPointCloud2, kPointField, kHeader>::text};
const MessageType kLaserScanType{"sensor_msgs/msg/LaserScan", Joined<kLaserScan, kHeader>::text};
const MessageType kImuType{"sensor_msgs/msg/Imu",
                           Joined<kImu, kQuaternion, kVector3, kHeader>::text};
const MessageType kMagneticFieldType{"sensor_msgs/msg/MagneticField",
                                     Joined<kMagneticField, kVector3, kHeader>::text};
const MessageType kFluidPressureType{"sensor_msgs/msg/FluidPressure",
                                     Joined<kFluidPressure, kHeader>::text};
const MessageType kTemperatureType{"sensor_msgs/msg/Temperature",
                                   Joined<kTemperature, kHeader>::text};
const MessageType kDiagnosticArrayType{
    "diagnostic_msgs/msg/DiagnosticArray",
    Joined<kDiagnosticArray, kDiagnosticStatus, kKeyValue, kHeader>::text};
const MessageType kTfMessageType{
    "tf2_msgs/msg/TFMessage",
    Joined<kTfMessage, kTransformStamped, kTransform, kVector3, kQuaternion, kHeader>::text};

}  // namespace app
