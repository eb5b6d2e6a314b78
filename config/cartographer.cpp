#include "config/cartographer.h"

#include <array>

namespace config {

std::span<const CartographerOption> cartographer_options() {
  static constexpr std::string_view kOfTheInput =
      "An input that is listed is used; role says whether it is waited for. Its content passes "
      "through unread.";
  static constexpr std::string_view kRateOfTheInput =
      "None is left out at random: rate_hz bounds what is taken of that input.";
  static constexpr std::array kOptions{
      CartographerOption{"collate_by_trajectory", "collation.by_trajectory", "The same."},
      CartographerOption{
          "collate_fixed_frame", "inputs.*.role",
          "passthrough takes any input or sensor out of the order, not only some kinds."},
      CartographerOption{"collate_landmarks", "inputs.*.role", "As collate_fixed_frame."},
      CartographerOption{
          "num_subdivisions_per_laser_scan", "sensors.*.emit",
          "{subdivisions: N}. A turn is divided by time, not by the number of valid points, and "
          "parts are never lost for want of a time increment."},
      CartographerOption{
          "num_accumulated_range_data", "sensors.*.emit",
          "turn. What makes one cloud is a turn by the device's own boundary and clock, or with "
          "merged what all lidars saw; nobody has to count messages."},
      CartographerOption{"num_laser_scans", "sensors", "Each lidar is listed by its name."},
      CartographerOption{"num_multi_echo_laser_scans", "sensors", "As num_laser_scans."},
      CartographerOption{"num_point_clouds", "sensors", "As num_laser_scans."},
      CartographerOption{"rangefinder_sampling_ratio", "sensors.*.sampling_ratio",
                         "Each lidar has its own, where one was shared by all."},
      CartographerOption{"imu_sampling_ratio", "sensors.*.sampling_ratio", "Of that IMU."},
      CartographerOption{"odometry_sampling_ratio", "inputs.*.rate_hz", kRateOfTheInput},
      CartographerOption{"fixed_frame_pose_sampling_ratio", "inputs.*.rate_hz", kRateOfTheInput},
      CartographerOption{"landmarks_sampling_ratio", "inputs.*.rate_hz", kRateOfTheInput},
      CartographerOption{"use_imu_data", "sensors",
                         "An IMU that is listed is used; role says whether it is waited for."},
      CartographerOption{"use_odometry", "inputs", kOfTheInput},
      CartographerOption{"use_nav_sat", "inputs", kOfTheInput},
      CartographerOption{"use_landmarks", "inputs", kOfTheInput},
      CartographerOption{"use_intensities", "",
                         "None: the intensities of devices that have them always go along."},
      CartographerOption{"lookup_transform_timeout_sec", "sensors.*.pose",
                         "Poses are configured and do not change, so nothing is looked up and "
                         "nothing waits."},
      CartographerOption{
          "ignore_out_of_order", "",
          "None: data that go back in time are always dropped and counted under their reason; "
          "nothing aborts."},
      CartographerOption{"tracking_frame", "frame",
                         "An IMU may stand away from its origin; see sensors.NAME.pose.xyz."},
      CartographerOption{"min_range", "sensors.*.min_range", "Each lidar has its own."},
      CartographerOption{"max_range", "sensors.*.max_range", "Each lidar has its own."},
  };
  return kOptions;
}

}  // namespace config
