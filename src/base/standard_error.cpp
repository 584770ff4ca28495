#include "base/standard_error.h"

#include <filesystem>
#include <functional>
#include <new>
#include <optional>
#include <system_error>
#include <typeinfo>
#include <variant>

#include "base/fail.h"

namespace fg {
namespace {

template <class... Types>
bool is_one_of(const std::exception& exception) {
  return ((dynamic_cast<const Types*>(&exception) != nullptr) || ...);
}

std::string sentence_of(const std::system_error& error) {
  const auto* of_file = dynamic_cast<const std::filesystem::filesystem_error*>(&error);
  std::string path = of_file ? of_file->path1().string() : "";
  return fmt::format("the system refuses{}{}: {}", path.empty() ? "" : " ", path,
                     error.code().message());
}

}  // namespace

Error as_error(const std::exception& exception) {
  if (const auto* ours = dynamic_cast<const Error*>(&exception)) return *ours;
  if (const auto* error = dynamic_cast<const std::system_error*>(&exception)) {
    return {ErrorKind::runtime, sentence_of(*error)};
  }
  if (is_one_of<std::bad_alloc, std::length_error>(exception)) {
    return {ErrorKind::memory, "more memory is needed than there is"};
  }
  if (is_one_of<std::bad_cast>(exception)) {
    return {ErrorKind::type, "a value is of another type than expected"};
  }
  if (is_one_of<std::out_of_range, std::bad_variant_access, std::bad_optional_access,
                std::bad_function_call, std::bad_typeid>(exception)) {
    return {ErrorKind::internal,
            "foregrad made a mistake with a value of its own; please report what led to it"};
  }
  return {ErrorKind::runtime, exception.what()};
}

}  // namespace fg
