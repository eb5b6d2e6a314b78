// A PointCloud2 of one lidar, or a merged one: what both have.
#pragma once

#include <optional>

#include "app/messages.h"

namespace lidarctl {

class AnyCloud {
 public:
  // Empty when it is neither. Valid as long as `data`.
  static std::optional<AnyCloud> decode(hal::Bytes data) {
    AnyCloud cloud;
    if (const auto single = app::decode_point_cloud(data)) {
      cloud.header_ = single->header;
      cloud.points_ = single->points;
      return cloud;
    }
    const auto merged = app::decode_merged_cloud(data);
    if (!merged) return std::nullopt;
    cloud.header_ = merged->header;
    cloud.merged_ = merged->points;
    return cloud;
  }

  const app::Header& header() const { return header_; }
  std::size_t size() const { return points_.size() + merged_.size(); }
  app::PointXyzit operator[](std::size_t i) const {
    return merged_.size() > 0 ? merged_[i].point : points_[i];
  }

 private:
  app::Header header_{};
  app::Packed<app::PointXyzit> points_{};  // one of them is empty
  app::Packed<app::PointMerged> merged_{};
};

}  // namespace lidarctl
