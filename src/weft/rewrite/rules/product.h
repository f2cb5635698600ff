// A product taken apart: all that multiplications, divisions, negatives and squares below a node join, as factors with powers and one
// number; and put together again in its normal form, number * (above / below). The same for sums, as terms with coefficients and one
// number. What the rules of algebra and of sigmoids are made of. Callers: rewrite/rules/.
#pragma once

#include "weft/base/small_vector.h"
#include "weft/rewrite/rules/rules.h"

namespace weft {

/// How many operations are taken apart at once: longer products and sums are met in parts.
inline constexpr std::size_t most_nodes = 32;

struct Factor {
    Node* node;
    int power;
    bool gate = false;  // where it is 0, so is the product, whatever the rest is (gated_multiply)
};

class Product {
  public:
    /// The product at a node of the site. What others read too is a factor as it is, unless `through`.
    Product(const Site& site, const Node& top, bool through = false);

    void multiply(const Product& other);
    void multiply(const Tensor& factor, int power);
    /// How many operations it takes, put together; how many it was (what others read too is there anyway).
    std::size_t cost() const;
    std::size_t cost_before() const { return before_; }
    bool divides() const;
    /// Whether no part of it is likely to leave the type's range where the product itself does not: as what is divided by along a chain of
    /// quotients (x / (1 + |x|), again and again), all multiplied, and a number to the power of the chain's length.
    bool stays_in_range() const;
    Tensor build() const;
    /// Where a mask (where(here, x, 0)) stands beside a division by what the same condition picks of p, the division is by p. Whether it did.
    bool meet_masks(const Site& site);
    /// Without the factor at this place.
    Product without(std::size_t factor) const;

    DType dtype;
    double number = 1;
    SmallVector<Factor, 6> factors;
    /// Whether nothing was left as it is that `through` would have opened.
    bool complete = true;

  private:
    void add(Node* node, int power, bool gate);
    bool divides_one() const;
    std::size_t before_ = 0;
    std::vector<Tensor> made_;  // factors that are new
};

/// x to the power of k >= 1, by squarings.
Tensor raised(const Tensor& x, int k);

struct Term {
    Node* node;
    double times;
};

class Sum {
  public:
    Sum(const Site& site, const Node& top, bool through = false);
    std::size_t cost() const;
    std::size_t cost_before() const { return before_; }
    Tensor build() const;

    DType dtype;
    double number = 0;
    SmallVector<Term, 6> terms;
    /// As Product's.
    bool complete = true;

  private:
    void add(Node* node, double times);
    std::size_t before_ = 0;
};

}  // namespace weft
