// Several lidars as one: their clouds, merged by time into clouds that know which lidar saw what.
//
// It comes behind the collator, so clouds arrive in the order of their stamps. What it merges ends
// where every lidar that is waited for has told all it saw: `end` is the least of their newest
// stamps. Cartographer's RangeDataCollator (mapping/internal/range_data_collator.cc) with one
// pending cloud per lidar behaves so too; what differs is named at the functions.
#pragma once

#include <boost/circular_buffer.hpp>
#include <span>
#include <vector>

#include "collation/cloud.h"

namespace collation {

struct MergedPoint {
  Eigen::Vector3f position;  // m, tracking frame
  float time;                // s relative to the cloud's stamp, <= 0; ascending
  float intensity;           // the device's own number; 0 where its cloud had none
  std::uint32_t origin;  // index of the lidar that saw it, in the order of the constructor's list
};

// Everything that the merged lidars saw after the stamp of the cloud before, up to `at`.
struct MergedCloud {
  MergedCloud(std::size_t lidars, std::size_t max_points) : origins(lidars), points(max_points) {}

  hal::Time first{}, at{};               // of its earliest point; the stamp
  std::uint64_t contributors = 0;        // bit i: lidar i gave points
  std::vector<Eigen::Vector3f> origins;  // where each lidar stands in the tracking frame, m
  hal::BoundedVector<MergedPoint> points;
};

struct MergedLidar {
  std::size_t clouds = 1;  // that are kept while others are waited for, >= 1
  std::size_t points = 0;  // of one cloud at most
};

// Counters only grow, `held` apart. The books:
//   clouds = merged + backward + late_clouds + held_clouds
//   points = out + late + backward_points + bad_time + full + held
struct MergeStats {
  std::uint64_t clouds = 0, points = 0;     // given in
  std::uint64_t merged = 0, out = 0;        // clouds that are wholly behind `end`; points that left
  std::uint64_t emitted = 0;                // merged clouds that left
  std::uint64_t backward = 0;               // clouds not stamped after the lidar's previous one
  std::uint64_t backward_points = 0;        // of these
  std::uint64_t late_clouds = 0, late = 0;  // stamped before what had left; points likewise
  std::uint64_t bad_time = 0;               // points after their cloud's stamp or their successor
  std::uint64_t full = 0;                   // points of clouds longer than was told
  std::uint64_t forced = 0;                 // times that a lidar was no longer waited for
  std::uint64_t cut = 0;                    // merged clouds that ended early because they were full
  std::uint64_t held_clouds = 0, held = 0;
};

// All memory is taken at construction.
class RangeDataCollator {
 public:
  static constexpr std::size_t kMaxLidars = 64;

  // A merged cloud has at most `max_points` (>= 1); more are given out in several.
  RangeDataCollator(std::span<const MergedLidar> lidars, std::size_t max_points);

  // Calls emit(MergedCloud&) for each cloud that this one completes; what is given is valid during
  // the call. Stamps of what is emitted never decrease. Where a lidar has as many clouds pending as
  // are kept, the oldest is not held back any longer: what is there leaves up to its stamp, and the
  // lidars that are missing are late. So a dead lidar delays the others by `clouds`, and costs them
  // nothing. (The reference lost all clouds of a lidar after a point with a positive time, and went
  // back in time with its input; such points and clouds are dropped here and counted.)
  template <class Emit>
  void add(std::size_t lidar, const TimedPointCloud& cloud, Emit&& emit) {
    if (!accept(lidar, cloud)) return;
    Source& source = sources_[lidar];
    if (source.stamps.full()) take_off(end_);
    if (source.stamps.full()) {
      ++stats_.forced;
      release(source.stamps.front(), emit);
      store(source, cloud);
    } else {
      store(source, cloud);
      release(complete_until(lidar), emit);
    }
  }

  // A lidar that is not there is not waited for; what it gave is merged all the same. Emits what
  // is complete without it. Initially all are waited for.
  template <class Emit>
  void set_waiting(std::size_t lidar, bool waiting, Emit&& emit) {
    if (sources_[lidar].waiting == waiting) return;
    sources_[lidar].waiting = waiting;
    if (!waiting) release(complete_until(kNobody), emit);
  }

  // Emits what is held, whoever is missing: at the end.
  template <class Emit>
  void flush(Emit&& emit) {
    release(newest(), emit);
  }

  MergeStats stats() const;

  // Bytes taken at construction, for the memory budget.
  static std::size_t memory(std::span<const MergedLidar> lidars, std::size_t max_points);

 private:
  static constexpr std::size_t kNobody = ~std::size_t{0};

  struct Pending {
    Eigen::Vector3f position;
    float intensity;
    std::int64_t at;  // ns, inner time
    std::uint32_t origin;
  };
  using Run = std::span<const Pending>;
  // Beside the clouds that are kept there may be one whose stamp equals that of what left last:
  // points of that very time have not left with it.
  static constexpr std::size_t pending_at_most(const MergedLidar& lidar) {
    return (lidar.clouds + 1) * lidar.points;
  }
  // One lidar: points that have not left, in order of time, and the stamps of their clouds. The
  // buffer holds twice as many as can be pending, so that they are rarely moved to its front.
  struct Source {
    explicit Source(const MergedLidar& lidar)
        : points_of_cloud(lidar.points), points(2 * pending_at_most(lidar)), stamps(lidar.clouds) {}
    std::size_t points_of_cloud;  // at most
    std::vector<Pending> points;
    std::size_t first = 0, last = 0;
    boost::circular_buffer<hal::Time> stamps;  // of clouds that are not wholly behind `end_`
    hal::Time newest = hal::Time::min();
    bool waiting = true;
  };

  template <class Emit>
  void release(hal::Time end, Emit&& emit) {
    for (bool more = end > end_; more;) {
      more = merge(end);
      emit(out_);
    }
  }

  bool accept(std::size_t lidar, const TimedPointCloud& cloud);
  void store(Source& source, const TimedPointCloud& cloud);
  void make_room(Source& source, std::size_t points);
  hal::Time complete_until(std::size_t asking) const;
  hal::Time newest() const;  // of all pending clouds
  bool merge(hal::Time end);
  Run merge_all_but_last();
  void write(Run a, Run b, hal::Time end);
  void cut();
  void take_off(hal::Time end);

  std::vector<Source> sources_;
  std::vector<Run> runs_;                    // what each source gives to the cloud under way
  std::array<std::vector<Pending>, 2> mid_;  // merged runs, from three lidars on
  MergedCloud out_;
  hal::Time end_ = hal::Time::min();  // stamp of what left last
  MergeStats stats_;
};

}  // namespace collation
