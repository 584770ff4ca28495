// A listing of the steps, kernels and memory of an executable, for people and for explain. It is
// filled on request only.
#pragma once

#include "codegen/loop.h"
#include "schedule/tile.h"

namespace fg::codegen {

struct Listing {
  struct Kernel {
    std::string name;
    LoopKernel loop;
  };
  struct Step {
    std::string name;
    std::vector<uint32_t> operations;  // of the graph
    int kernel = -1;                   // of a loop: place in `kernels`
    std::vector<int64_t> sizes{};      // of its loops: a kernel of one loop serves any length
    std::vector<ir::ValueId> operands{};
    size_t parts = 1;             // calls of the kernel on different values
    std::vector<Step> members{};  // steps that run by tiles
    int64_t rows = 0, height = 0, tile_bytes = 0;

    bool is_loop() const { return kernel >= 0; }
    bool is_tiled() const { return rows > 0; }
  };

  std::vector<Kernel> kernels{};
  std::vector<Step> steps{};
  std::vector<schedule::Place> places{};
  schedule::MemoryPlan memory{};
  int64_t consuming_bytes = 0;      // of the arena, where the inputs are handed over
  std::vector<ir::ValueId> kept{};  // values in storages of their own, which the caller gets

  void add_step(std::string name, const schedule::Group& group) {
    current().push_back({std::move(name), group.operations});
  }
  // Opens a step by tiles: steps that are added until it is closed are its members.
  void open_tile(std::string name, std::span<const schedule::Group> members,
                 const schedule::Tile& tile);
  void close_tile() { in_tile_ = false; }
  // Lets the step that was added last do the same to other values at the same time.
  void join_step(const schedule::Group& group);
  // Lets the step that was added last run this loop; equal kernels have equal names.
  void add_loop(const std::string& kernel, const Loop& loop);

 private:
  std::vector<Step>& current() { return in_tile_ ? steps.back().members : steps; }
  bool in_tile_ = false;
};

}  // namespace fg::codegen
