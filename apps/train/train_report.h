// The files that a finished training leaves beside its checkpoint: the loss curve, a picture of the
// graph, a page about the compiled step, and one report that shows everything.
#pragma once

#include "apps/train/train_folder.h"
#include "apps/train/train_output.h"

namespace fg::apps {

struct TrainReport {
  const TrainFacts& facts;
  const Curve& curve;
  std::optional<FirstSteps> first;  // if they were compared
  Start start;
};

// Adds the written files, and notes on those that could not be written, to the summary.
void write_report(const TrainFolder& folder, const TrainReport& report, Trainer& trainer,
                  Summary& summary);

}  // namespace fg::apps
