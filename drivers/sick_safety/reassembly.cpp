#include "drivers/sick_safety/reassembly.h"

#include <algorithm>
#include <cstring>

namespace drivers::safety {

Reassembly::Reassembly() : sets_(std::make_unique<std::array<Set, kSets>>()) {}

hal::Bytes Reassembly::add(const Fragment& fragment, hal::Time at) {
  ++stats_.fragments;
  for (Set& set : *sets_) {
    const bool is_other = set.id == fragment.id && set.total != fragment.total;
    if (!set.is_free && (is_other || at - set.began > kOldest)) give_up(set, at);
  }
  Set* set = find(fragment);
  if (set == nullptr && is_gone(fragment, at)) {
    ++stats_.repeated;
    return {};
  }
  if (set == nullptr) set = &begin(fragment, at);
  const auto size = static_cast<std::uint32_t>(fragment.bytes.size());
  const Cover covered = cover(*set, fragment.offset, fragment.offset + size);
  if (covered == Cover::covered) {
    ++stats_.repeated;
    return {};
  }
  ++set->fragments;
  set->longest = std::max(set->longest, size);
  if (covered == Cover::too_many_parts) {
    give_up(*set, at);
    return {};
  }
  std::memcpy(&set->payload[fragment.offset], fragment.bytes.data(), size);
  if (set->part[0].begin != 0 || set->part[0].end != set->total) return {};
  stats_.used += set->fragments;
  ++stats_.complete;
  end(*set, at);
  return hal::Bytes(set->payload).first(set->total);
}

void Reassembly::forget() {
  for (Set& set : *sets_) {
    if (!set.is_free) give_up(set, hal::Time::min());
  }
  gone_ = {};
}

std::size_t Reassembly::held() const {
  std::size_t sum = 0;
  for (const Set& set : *sets_) sum += set.is_free ? 0 : set.fragments;
  return sum;
}

Reassembly::Set* Reassembly::find(const Fragment& fragment) {
  const auto found = std::ranges::find_if(
      *sets_, [&](const Set& set) { return !set.is_free && set.id == fragment.id; });
  return found == sets_->end() ? nullptr : &*found;
}

Reassembly::Set& Reassembly::begin(const Fragment& fragment, hal::Time at) {
  auto place = std::ranges::find(*sets_, true, &Set::is_free);
  if (place == sets_->end()) {
    place = std::ranges::min_element(*sets_, {}, &Set::began);
    give_up(*place, at);
  }
  place->is_free = false;
  place->id = fragment.id;
  place->total = fragment.total;
  place->began = at;
  place->fragments = place->longest = 0;
  place->parts = 0;
  return *place;
}

bool Reassembly::is_gone(const Fragment& fragment, hal::Time at) const {
  return std::ranges::any_of(gone_, [&](const Gone& gone) {
    return gone.at != hal::Time::min() && gone.id == fragment.id && gone.total == fragment.total &&
           at - gone.at <= kOldest;
  });
}

Reassembly::Cover Reassembly::cover(Set& set, std::uint32_t begin, std::uint32_t end) {
  const auto parts = set.part.begin();
  const auto all = parts + static_cast<std::ptrdiff_t>(set.parts);
  // Those that touch the new bytes, which all become one.
  const auto first = std::find_if(parts, all, [&](const Part& p) { return p.end >= begin; });
  const auto last = std::find_if(first, all, [&](const Part& p) { return p.begin > end; });
  if (first == last) {
    if (set.parts == set.part.size()) return Cover::too_many_parts;
    std::move_backward(first, all, all + 1);
    *first = {begin, end};
    ++set.parts;
    return Cover::added;
  }
  if (first->begin <= begin && first->end >= end) return Cover::covered;
  first->begin = std::min(first->begin, begin);
  first->end = std::max((last - 1)->end, end);
  std::move(last, all, first + 1);
  set.parts -= static_cast<std::size_t>(last - first) - 1;
  return Cover::added;
}

void Reassembly::end(Set& set, hal::Time at) {
  set.is_free = true;
  gone_[next_gone_] = {set.id, set.total, at};
  next_gone_ = (next_gone_ + 1) % gone_.size();
}

// As many fragments are missing as the bytes that are make, of the longest that came.
void Reassembly::give_up(Set& set, hal::Time at) {
  std::uint32_t there = 0;
  for (std::size_t i = 0; i < set.parts; ++i) there += set.part[i].end - set.part[i].begin;
  stats_.missing += (set.total - there + set.longest - 1) / set.longest;
  stats_.abandoned += set.fragments;
  ++stats_.incomplete;
  end(set, at);
}

}  // namespace drivers::safety
