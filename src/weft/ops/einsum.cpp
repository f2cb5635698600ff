#include "weft/ops/einsum.h"

#include <optional>

#include "weft/graph/node.h"
#include "weft/ops/arrange.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

// Letters are their characters; the axes of an ellipsis are numbered from the right: -1, -2, ...
using Labels = SmallVector<int, 8>;

bool has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }
std::size_t find(const Labels& labels, int label) {
    return static_cast<std::size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
}
std::string name_of(int label) { return label < 0 ? std::string("...") : std::string(1, static_cast<char>(label)); }

struct Term {
    Tensor value;
    Labels labels;  // one an axis
};

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// "a...b" with an ellipsis of `wide` axes.
Labels parse_labels(std::string_view subscripts, std::string_view part, std::size_t wide) {
    Labels labels;
    bool dots = false;
    for (std::size_t i = 0; i < part.size(); ++i) {
        if (letter(part[i])) {
            labels.push_back(part[i]);
        } else if (part.substr(i, 3) == "..." && !dots) {
            dots = true;
            for (std::size_t axis = wide; axis > 0; --axis) labels.push_back(-static_cast<int>(axis));
            i += 2;
        } else {
            throw ValueError(text("einsum: '", subscripts, "': '", part.substr(i, 1), "' in '", part,
                                  "' is neither a letter nor one '...'"));
        }
    }
    return labels;
}

std::size_t letters_of(std::string_view part) {
    return static_cast<std::size_t>(std::count_if(part.begin(), part.end(), letter));
}

Term parse_term(std::string_view subscripts, std::string_view part, const Tensor& operand) {
    (void)parse_labels(subscripts, part, 0);  // refuses what is no letter before letters are counted
    std::size_t letters = letters_of(part);
    bool dots = part.find('.') != std::string_view::npos;
    if (letters > operand.ndim() || (!dots && letters != operand.ndim())) {
        throw ShapeError(text("einsum: '", subscripts, "': '", part, "' names ", letters,
                              " axes, its operand of shape ", operand.shape(), " has ", operand.ndim()));
    }
    return {operand, parse_labels(subscripts, part, operand.ndim() - letters)};
}

// The sum over axes in the operand's own type, as NumPy's einsum (sum itself widens integers).
Tensor sum_out(const Tensor& x, const Axes& axes) { return axes.empty() ? x : astype(sum(x, axes), x.dtype()); }

// A letter that an operand repeats means its diagonal.
void take_diagonals(std::string_view subscripts, Term& term) {
    for (std::size_t i = 0; i < term.labels.size(); ++i) {
        for (std::size_t j = term.labels.size() - 1; j > i; --j) {
            if (term.labels[j] != term.labels[i]) continue;
            if (!may_equal(term.value.shape()[i], term.value.shape()[j])) {
                throw ShapeError(text("einsum: '", subscripts, "': '", name_of(term.labels[i]),
                                      "' names axes of sizes ", term.value.shape()[i], " and ", term.value.shape()[j],
                                      " of one operand"));
            }
            term.value = diagonal(term.value, 0, static_cast<std::int64_t>(i),
                                  static_cast<std::int64_t>(j));  // the diagonal becomes the last axis
            int label = term.labels[i];
            term.labels.erase(j), term.labels.erase(i);
            term.labels.push_back(label);
            take_diagonals(subscripts, term);
            return;
        }
    }
}

// Axes that `keep` does not hold are summed.
void sum_unneeded(Term& term, const Labels& keep) {
    Axes axes;
    Labels rest;
    for (std::size_t i = 0; i < term.labels.size(); ++i) {
        if (has(keep, term.labels[i]))
            rest.push_back(term.labels[i]);
        else
            axes.push_back(static_cast<std::int64_t>(i));
    }
    term.value = sum_out(term.value, axes);
    term.labels = rest;
}

Size size_of(const Term& term, int label) { return term.value.shape()[find(term.labels, label)]; }

// Sizes of one letter must agree, or be 1: such an axis is dropped, it broadcasts anyway.
void drop_ones(std::string_view subscripts, Term& a, Term& b) {
    Axes gone_a, gone_b;
    Labels rest_a, rest_b;
    for (int label : a.labels) {
        if (!has(b.labels, label)) {
            rest_a.push_back(label);
            continue;
        }
        Size left = size_of(a, label), right = size_of(b, label);
        if (!may_equal(left, right) && !(left == Size(1)) && !(right == Size(1))) {
            throw ShapeError(text("einsum: '", subscripts, "': '", name_of(label), "' has size ", left, " in ",
                                  a.value.shape(), " and ", right, " in ", b.value.shape()));
        }
        if (left == Size(1) && !(right == Size(1)))
            gone_a.push_back(static_cast<std::int64_t>(find(a.labels, label)));
        else
            rest_a.push_back(label);
        if (right == Size(1) && !(left == Size(1))) gone_b.push_back(static_cast<std::int64_t>(find(b.labels, label)));
    }
    for (std::size_t i = 0; i < b.labels.size(); ++i) {
        if (std::find(gone_b.begin(), gone_b.end(), static_cast<std::int64_t>(i)) == gone_b.end())
            rest_b.push_back(b.labels[i]);
    }
    a = {squeeze(a.value, gone_a), rest_a};
    b = {squeeze(b.value, gone_b), rest_b};
}

// x's axes in the order of the groups, each group one axis.
Tensor grouped(const Term& term, std::initializer_list<const Labels*> groups) {
    Axes order;
    Shape shape;
    for (const Labels* group : groups) {
        Size together = 1;
        for (int label : *group) {
            order.push_back(static_cast<std::int64_t>(find(term.labels, label)));
            together = together * size_of(term, label);
        }
        shape.push_back(together);
    }
    return reshape(permute_dims(term.value, order), shape);
}

// Both in one: letters that `keep` does not hold are summed, as one matmul of groups of axes.
Term join(std::string_view subscripts, Term a, Term b, const Labels& keep) {
    drop_ones(subscripts, a, b);
    Labels wanted_a = keep, wanted_b = keep;
    for (int label : b.labels) wanted_a.push_back(label);
    for (int label : a.labels) wanted_b.push_back(label);
    sum_unneeded(a, wanted_a), sum_unneeded(b, wanted_b);
    Labels batch, inner, rows, columns, labels;
    Shape shape;
    auto keep_axis = [&](Labels& group, const Term& term, int label) {
        group.push_back(label), labels.push_back(label), shape.push_back(size_of(term, label));
    };
    for (int label : a.labels) {
        if (!has(b.labels, label)) continue;
        if (has(keep, label))
            keep_axis(batch, a, label);
        else
            inner.push_back(label);
    }
    for (int label : a.labels) {
        if (!has(b.labels, label)) keep_axis(rows, a, label);
    }
    for (int label : b.labels) {
        if (!has(a.labels, label)) keep_axis(columns, b, label);
    }
    Tensor left = grouped(a, {&batch, &rows, &inner}), right = grouped(b, {&batch, &inner, &columns});
    Tensor product = inner.empty() ? left * right : matmul(left, right);  // (B, M, 1) * (B, 1, N) broadcasts
    return {reshape(product, shape), labels};
}

Labels implicit_output(const std::vector<Term>& terms) {
    Labels all, output;
    for (const Term& term : terms) {
        for (int label : term.labels) all.push_back(label);
    }
    std::sort(all.begin(), all.end());  // the ellipsis' axes, being negative, come first, the leftmost ahead
    for (std::size_t i = 0; i < all.size(); ++i) {
        bool once = (i == 0 || all[i - 1] != all[i]) && (i + 1 == all.size() || all[i + 1] != all[i]);
        if (all[i] < 0 ? !has(output, all[i]) : once) output.push_back(all[i]);
    }
    return output;
}

void check_output(std::string_view subscripts, const Labels& output, const std::vector<Term>& terms) {
    for (std::size_t i = 0; i < output.size(); ++i) {
        bool known =
            std::any_of(terms.begin(), terms.end(), [&](const Term& term) { return has(term.labels, output[i]); });
        if (!known)
            throw ValueError(
                text("einsum: '", subscripts, "': the result's '", name_of(output[i]), "' stands in no operand"));
        if (find(output, output[i]) != i)
            throw ValueError(text("einsum: '", subscripts, "': the result names '", name_of(output[i]), "' twice"));
    }
}

// What joining two would give, in elements; unknown sizes count as large.
double cost(const Term& a, const Term& b, const Labels& keep) {
    double count = 1;
    auto times = [&](const Term& term, int label) {
        count *= size_of(term, label).known() ? static_cast<double>(size_of(term, label).value()) : 64;
    };
    for (int label : a.labels) {
        if (has(keep, label)) times(a, label);
    }
    for (int label : b.labels) {
        if (has(keep, label) && !has(a.labels, label)) times(b, label);
    }
    return count;
}

// What must survive joining terms i and j: the output's letters and those of all other terms.
Labels needed(const std::vector<Term>& terms, std::size_t i, std::size_t j, const Labels& output) {
    Labels keep = output;
    for (std::size_t k = 0; k < terms.size(); ++k) {
        if (k == i || k == j) continue;
        for (int label : terms[k].labels) keep.push_back(label);
    }
    return keep;
}

Tensor join_all(std::string_view subscripts, std::vector<Term> terms, const Labels& output) {
    for (Term& term : terms) take_diagonals(subscripts, term);
    while (terms.size() > 1) {
        std::size_t best_i = 0, best_j = 1;
        double best = -1;
        for (std::size_t i = 0; i < terms.size(); ++i) {
            for (std::size_t j = i + 1; j < terms.size(); ++j) {
                double price = cost(terms[i], terms[j], needed(terms, i, j, output));
                if (best < 0 || price < best) best = price, best_i = i, best_j = j;
            }
        }
        terms[best_i] = join(subscripts, terms[best_i], terms[best_j], needed(terms, best_i, best_j, output));
        terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(best_j));
    }
    sum_unneeded(terms[0], output);
    Axes order;
    for (int label : output) order.push_back(static_cast<std::int64_t>(find(terms[0].labels, label)));
    return permute_dims(terms[0].value, order);
}

Tensor evaluate_subscripts(std::string_view given, std::span<const Tensor> operands) {
    std::string compact;
    for (char c : given) {
        if (c != ' ') compact += c;
    }
    std::string_view subscripts = compact;
    std::size_t arrow = subscripts.find("->");
    std::string_view left = subscripts.substr(0, arrow);
    std::vector<Term> terms;
    DType dtype = operands.empty() ? DType::float32 : operands[0].dtype();
    for (const Tensor& operand : operands) dtype = promote(dtype, operand.dtype());
    std::size_t parts = static_cast<std::size_t>(std::count(left.begin(), left.end(), ',')) + 1;
    if (parts != operands.size())
        throw ValueError(
            text("einsum: '", given, "' describes ", parts, " operands, but ", operands.size(), " are given"));
    std::size_t wide = 0;
    for (const Tensor& operand : operands) {
        std::string_view part = left.substr(0, left.find(','));
        terms.push_back(parse_term(given, part, operand.astype(dtype)));
        if (part.find('.') != std::string_view::npos) wide = std::max(wide, operand.ndim() - letters_of(part));
        left.remove_prefix(std::min(left.size(), part.size() + 1));
    }
    Labels output = arrow == std::string_view::npos ? implicit_output(terms)
                                                    : parse_labels(given, subscripts.substr(arrow + 2), wide);
    check_output(given, output, terms);
    return join_all(given, std::move(terms), output);
}

}  // namespace

Tensor einsum(std::string_view subscripts, std::span<const Tensor> operands, std::source_location where) {
    try {
        return evaluate_subscripts(subscripts, operands);
    } catch (Error& error) {
        error.add(place(where));
        throw;
    }
}

Tensor einsum(std::string_view subscripts, std::initializer_list<Tensor> operands, std::source_location where) {
    return einsum(subscripts, std::span<const Tensor>(operands.begin(), operands.size()), where);
}

extern const Operation einsum_operation;
const Operation einsum_operation{
    .name = "einsum",
    .family = Family::composite,
    .arity = -1,
    .doc = "Einstein's summation over named axes.",
    .numpy = "einsum",
    .torch = "einsum",
    .composite = true,
    .samples = {
        {{{3, 4}, {4, 5}}, [](auto x) { return einsum("ij,jk->ik", x); }, "np.einsum('ij,jk->ik', x0, x1)"},
        {{{3, 4}}, [](auto x) { return einsum("ij->ji", x); }, "np.einsum('ij->ji', x0)"},
        {{{4, 4}}, [](auto x) { return einsum("ii", x); }, "np.einsum('ii', x0)"},
        {{{4, 3, 4}}, [](auto x) { return einsum("iji->ij", x); }, "np.einsum('iji->ij', x0)"},
        {{{2, 3, 4}, {2, 4, 5}}, [](auto x) { return einsum("...ij,...jk", x); }, "np.einsum('...ij,...jk', x0, x1)"},
        {{{2, 3}, {3, 4}, {4}}, [](auto x) { return einsum("ab,bc,c->a", x); }, "np.einsum('ab,bc,c->a', x0, x1, x2)"},
        {{{2, 3}, {2, 3}}, [](auto x) { return einsum("ij,ij->", x); }, "np.einsum('ij,ij->', x0, x1)"},
        {{{3}, {4}}, [](auto x) { return einsum("i,j", x); }, "np.einsum('i,j', x0, x1)"}}};
WEFT_REGISTER(einsum_operation);

}  // namespace weft
