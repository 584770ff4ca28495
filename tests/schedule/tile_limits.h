// Even tiny work runs by tiles while this lives.
#pragma once

#include "schedule/tile.h"

namespace fg::schedule {

class TileEverything {
 public:
  explicit TileEverything(int64_t tile_bytes = 300) : before_(tile_limits) {
    tile_limits = {
        .least_bytes = 1, .tile_bytes = tile_bytes, .row_bytes = int64_t{1} << 40, .least_rows = 2};
  }
  ~TileEverything() { tile_limits = before_; }
  TileEverything(const TileEverything&) = delete;
  TileEverything& operator=(const TileEverything&) = delete;

 private:
  TileLimits before_;
};

}  // namespace fg::schedule
