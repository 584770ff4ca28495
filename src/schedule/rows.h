// Work that can be cut between rows: the indices of some leading dimensions, each of which is
// computed by itself. A kernel of that kind declares it (ir::PrimitiveInfo::independent); for a
// fused group its loops decide.
#pragma once

#include "schedule/fuse.h"

namespace fg::schedule {

// The numbers of rows into which the work of a group can be cut; the finest cut first.
std::vector<int64_t> row_counts(const ir::Graph& graph, const Group& group);

// Whether row r of the group's results needs only row r of the root of an input; the root is made
// along with the group.
bool reads_own_rows(const ir::Graph& graph, const std::vector<Place>& places, const Group& group,
                    ir::ValueId input, int64_t rows);

// Whether a kernel of that kind gets a part of this operand, not all of it.
bool is_cut(const ir::Graph& graph, const ir::Operation& operation, ir::ValueId input);

}  // namespace fg::schedule
