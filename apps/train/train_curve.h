// The loss curve of a training as a picture.
#pragma once

#include "apps/train/train_checkpoint.h"

namespace fg::apps {

// An SVG that stands alone and may stand in a page; light or dark as the browser is.
std::string curve_svg(const Curve& curve);

}  // namespace fg::apps
