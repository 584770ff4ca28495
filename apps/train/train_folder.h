// The folder that a training writes to, and the signals that stop one.
#pragma once

#include <string>

#include "base/file.h"

namespace fg::apps {

// The folder of one training at a time; made where it is missing.
class TrainFolder {
 public:
  explicit TrainFolder(std::string path);
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string checkpoint() const { return file("checkpoint.safetensors"); }
  // Writes a file in full or not at all.
  void write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
  Descriptor lock_;
};

// While alive, SIGINT and SIGTERM are noted; a second one ends the program as ever.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  static int caught();  // the signal, or 0
};

}  // namespace fg::apps
