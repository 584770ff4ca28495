// What an executable does, for people and programs that look into it. It is filled only where
// someone asks for it.
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
    int kernel = -1;                   // of a loop: of `kernels`
    std::vector<int64_t> sizes{};      // of its loops: a kernel of one loop serves any length
    std::vector<ir::ValueId> operands{};
    size_t parts = 1;             // calls of the kernel on different values
    std::vector<Step> members{};  // what runs by tiles
    int64_t rows = 0, height = 0, tile_bytes = 0;

    bool is_loop() const { return kernel >= 0; }
    bool is_tiled() const { return rows > 0; }
  };

  std::vector<Kernel> kernels{};
  std::vector<Step> steps{};
  std::vector<schedule::Place> places{};
  schedule::MemoryPlan memory{};
  int64_t consuming_bytes = 0;      // of the block, where the inputs are handed over
  std::vector<ir::ValueId> kept{};  // values in storages of their own, which the caller gets

  void add_step(std::string name, const schedule::Group& group) {
    current().push_back({std::move(name), group.operations});
  }
  // What is added until it is closed are the members of one step.
  void open_tile(std::string name, std::span<const schedule::Group> members,
                 const schedule::Tile& tile);
  void close_tile() { in_tile_ = false; }
  // The step that was added last does the same to other values at the same time.
  void join_step(const schedule::Group& group);
  // The step that was added last runs this loop; equal kernels have equal names.
  void add_loop(const std::string& kernel, const Loop& loop);

 private:
  std::vector<Step>& current() { return in_tile_ ? steps.back().members : steps; }
  bool in_tile_ = false;
};

}  // namespace fg::codegen
