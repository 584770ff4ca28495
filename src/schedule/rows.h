// Work that can be cut between rows: the indices of some leading dimensions, each of which is
// computed by itself. What a kernel of that kind declares (ir::PrimitiveInfo::independent) and what
// the loops of a group are decide it.
#pragma once

#include "schedule/fuse.h"

namespace fg::schedule {

// In how many rows the work of a group can be cut; the finest cut first.
std::vector<int64_t> row_counts(const ir::Graph& graph, const Group& group);

// Row r of what the group makes needs, of an input whose root is made along with it, only what is
// in row r of that root.
bool reads_own_rows(const ir::Graph& graph, const std::vector<Place>& places, const Group& group,
                    ir::ValueId input, int64_t rows);

// A kernel of that kind gets a part of this operand, not all of it.
bool is_cut(const ir::Graph& graph, const ir::Operation& operation, ir::ValueId input);

}  // namespace fg::schedule
