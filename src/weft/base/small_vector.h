// A vector of small plain values whose first N lie inside the object: shapes, strides and axes without an allocation.
// Elements must be trivially copyable. Callers: core/ (Shape, Strides), graph/.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft {

template <class T, std::size_t N>
class SmallVector {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    SmallVector() = default;
    explicit SmallVector(std::size_t count, T value = T{}) { resize(count, value); }
    SmallVector(std::initializer_list<T> values) : SmallVector(values.begin(), values.end()) {}
    template <class Iterator, class = typename std::iterator_traits<Iterator>::iterator_category>
    SmallVector(Iterator first, Iterator last) {
        for (; first != last; ++first) push_back(static_cast<T>(*first));
    }
    SmallVector(const std::vector<T>& values) : SmallVector(values.begin(), values.end()) {}
    SmallVector(const SmallVector& other) { assign(other); }
    SmallVector(SmallVector&& other) noexcept { steal(other); }
    SmallVector& operator=(const SmallVector& other) {
        if (this != &other) {
            size_ = 0;
            assign(other);
        }
        return *this;
    }
    SmallVector& operator=(SmallVector&& other) noexcept {
        if (this != &other) {
            release();
            steal(other);
        }
        return *this;
    }
    ~SmallVector() { release(); }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T& front() { return data_[0]; }
    const T& front() const { return data_[0]; }
    T& back() { return data_[size_ - 1]; }
    const T& back() const { return data_[size_ - 1]; }

    void push_back(T value) {
        if (size_ == capacity_) grow(std::size_t{capacity_} * 2);
        data_[size_++] = value;
    }
    void pop_back() { --size_; }
    void clear() { size_ = 0; }
    void resize(std::size_t count, T value = T{}) {
        if (count > capacity_) grow(count);
        for (std::size_t i = size_; i < count; ++i) data_[i] = value;
        size_ = static_cast<std::uint32_t>(count);
    }
    void insert(std::size_t at, T value) {
        push_back(value);
        std::rotate(begin() + at, end() - 1, end());
    }
    void erase(std::size_t at) {
        std::copy(begin() + at + 1, end(), begin() + at);
        --size_;
    }

    friend bool operator==(const SmallVector& a, const SmallVector& b) {
        return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
    }

  private:
    void grow(std::size_t capacity) {
        if (capacity > std::numeric_limits<std::uint32_t>::max())
            throw std::length_error("SmallVector: too many elements");
        T* wider = new T[capacity];
        std::copy(begin(), end(), wider);
        release();
        data_ = wider;
        capacity_ = static_cast<std::uint32_t>(capacity);
    }
    void assign(const SmallVector& other) {
        if (other.size_ > capacity_) grow(other.size_);
        if (data_ == inline_ && other.data_ == other.inline_)
            copy_inside(other);
        else
            std::copy(other.begin(), other.end(), data_);
        size_ = other.size_;
    }
    // What lies inside, at once where that is little: a copy of a known size takes no call.
    void copy_inside(const SmallVector& other) {
        if constexpr (sizeof(inline_) <= 64)
            std::memcpy(static_cast<void*>(inline_), other.inline_, sizeof(inline_));
        else
            std::copy(other.begin(), other.end(), inline_);
    }
    void steal(SmallVector& other) {
        if (other.data_ == other.inline_) {
            data_ = inline_;
            capacity_ = N;
            copy_inside(other);
        } else {
            data_ = std::exchange(other.data_, other.inline_);
            capacity_ = std::exchange(other.capacity_, std::uint32_t{N});
        }
        size_ = std::exchange(other.size_, 0);
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfree-nonheap-object"  // g++ 12 cannot tell that data_ is not inline_ here
    void release() {
        if (data_ != inline_) delete[] data_;
        data_ = inline_;
        capacity_ = N;
    }
#pragma GCC diagnostic pop

    T* data_ = inline_;
    std::uint32_t size_ =
        0;  // lists of small values are many and short: nodes and arrays hold two or three of them each
    std::uint32_t capacity_ = N;
    T inline_[N];
};

}  // namespace weft
