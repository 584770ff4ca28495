// OrderedDict: items with names in an order: parameters, buffers, modules by path. As libtorch's.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fg {

namespace nn {
[[noreturn]] void fail_missing_key(std::string_view key);
[[noreturn]] void fail_known_key(std::string_view key);
}  // namespace nn

template <class T>
class OrderedDict {
 public:
  class Item {
   public:
    Item(std::string key, T value) : key_(std::move(key)), value_(std::move(value)) {}
    const std::string& key() const { return key_; }
    const T& value() const { return value_; }
    T& value() { return value_; }

   private:
    std::string key_;
    T value_;
  };

  T& insert(std::string key, T value) {
    if (!places_.emplace(key, items_.size()).second) nn::fail_known_key(key);
    return items_.emplace_back(std::move(key), std::move(value)).value();
  }
  const T* find(std::string_view key) const {
    auto found = places_.find(key);
    return found == places_.end() ? nullptr : &items_[found->second].value();
  }
  T* find(std::string_view key) { return const_cast<T*>(std::as_const(*this).find(key)); }
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  const T& operator[](std::string_view key) const {
    const T* found = find(key);
    if (!found) nn::fail_missing_key(key);
    return *found;
  }
  const Item& operator[](size_t place) const { return items_.at(place); }

  std::vector<std::string> keys() const {
    std::vector<std::string> result;
    for (const Item& item : items_) result.push_back(item.key());
    return result;
  }
  std::vector<T> values() const {
    std::vector<T> result;
    for (const Item& item : items_) result.push_back(item.value());
    return result;
  }
  size_t size() const { return items_.size(); }
  bool is_empty() const { return items_.empty(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }

 private:
  std::vector<Item> items_;
  std::map<std::string, size_t, std::less<>> places_;
};

}  // namespace fg
