// The most recently used values by key, at most `capacity` of them. Not locked: its owner locks. Callers: the plan cache, functions.
#pragma once

#include <list>
#include <unordered_map>
#include <utility>

namespace weft {

template <class Key, class Value>
class Lru {
  public:
    explicit Lru(std::size_t capacity) : capacity_(capacity) {}
    /// Null if it is not there; else it is now the most recent.
    Value* find(const Key& key) {
        auto at = index_.find(key);
        if (at == index_.end()) return nullptr;
        list_.splice(list_.begin(), list_, at->second);
        return &at->second->second;
    }
    Value& insert(const Key& key, Value value) {
        if (Value* found = find(key)) return *found = std::move(value);
        list_.emplace_front(key, std::move(value));
        index_[key] = list_.begin();
        if (list_.size() > capacity_) {
            index_.erase(list_.back().first);
            list_.pop_back();
        }
        return list_.front().second;
    }
    std::size_t size() const { return list_.size(); }
    void clear() { index_.clear(), list_.clear(); }

  private:
    std::size_t capacity_;
    std::list<std::pair<Key, Value>> list_;
    std::unordered_map<Key, typename std::list<std::pair<Key, Value>>::iterator> index_;
};

}  // namespace weft
