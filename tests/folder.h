// A folder of its own, gone with the test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

struct Folder {
  Folder() = default;
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return path + "/" + name; }
  // The path of a file in it, which has the text if there is one.
  std::string file(const std::string& name, const std::string& text = "") const {
    if (!text.empty()) std::ofstream(*this / name) << text;
    return *this / name;
  }
  int64_t files() const { return std::distance(std::filesystem::directory_iterator(path), {}); }

  std::string path = make();

 private:
  static std::string make() {
    std::string name = std::filesystem::temp_directory_path() / "foregrad-test-XXXXXX";
    return mkdtemp(name.data());
  }
};
