/* The transform of one group of lines, by Stockham's passes, which need no reordering. Included for each kind of number.

   A pass of radix r over n / s elements (s of which belong to different transforms) computes, with m = n / s / r,

       y[q + s (r p + k)] = w^(p k) sum over j of x[q + s (p + m j)] exp(-2 pi i j k / r)      p < m, q < s, k < r */

typedef REAL NAME(Vector) __attribute__((vector_size(64), may_alias));
typedef struct { NAME(Vector) re, im; } NAME(Lanes);
#define VECTOR NAME(Vector)
#define LANES_OF NAME(Lanes)
#define WIDTH (64 / (ptrdiff_t)sizeof(REAL))

INLINE LANES_OF NAME(turned)(LANES_OF a, const REAL *w)
{
    return (LANES_OF){a.re * w[0] - a.im * w[1], a.re * w[1] + a.im * w[0]};
}

INLINE LANES_OF NAME(sum)(LANES_OF a, LANES_OF b) { return (LANES_OF){a.re + b.re, a.im + b.im}; }
INLINE LANES_OF NAME(difference)(LANES_OF a, LANES_OF b) { return (LANES_OF){a.re - b.re, a.im - b.im}; }
/* a - i b */
INLINE LANES_OF NAME(minus_i)(LANES_OF a, LANES_OF b) { return (LANES_OF){a.re + b.im, a.im - b.re}; }
INLINE LANES_OF NAME(plus_i)(LANES_OF a, LANES_OF b) { return (LANES_OF){a.re - b.im, a.im + b.re}; }

INLINE void NAME(put_turned)(LANES_OF *y, LANES_OF a, const REAL *w, ptrdiff_t p)
{
    *y = p ? NAME(turned)(a, w) : a; /* where p is 0, all factors are 1 */
}

INLINE void NAME(pass_2)(const LANES_OF *x, LANES_OF *y, ptrdiff_t m, ptrdiff_t s, const REAL *w)
{
    for (ptrdiff_t p = 0; p < m; p++, w += 2) {
        for (ptrdiff_t q = 0; q < s; q++) {
            LANES_OF a = x[q + s * p], b = x[q + s * (p + m)];
            y[q + s * 2 * p] = NAME(sum)(a, b);
            NAME(put_turned)(&y[q + s * (2 * p + 1)], NAME(difference)(a, b), w, p);
        }
    }
}

INLINE void NAME(pass_4)(const LANES_OF *x, LANES_OF *y, ptrdiff_t m, ptrdiff_t s, const REAL *w)
{
    for (ptrdiff_t p = 0; p < m; p++, w += 6) {
        for (ptrdiff_t q = 0; q < s; q++) {
            const LANES_OF *at = x + q + s * p;
            LANES_OF a = at[0], b = at[s * m], c = at[s * m * 2], d = at[s * m * 3], *to = y + q + s * 4 * p;
            LANES_OF even = NAME(sum)(a, c), odd = NAME(sum)(b, d);
            LANES_OF apart = NAME(difference)(a, c), turn = NAME(difference)(b, d);
            to[0] = NAME(sum)(even, odd);
            NAME(put_turned)(to + s, NAME(minus_i)(apart, turn), w, p);
            NAME(put_turned)(to + s * 2, NAME(difference)(even, odd), w + 2, p);
            NAME(put_turned)(to + s * 3, NAME(plus_i)(apart, turn), w + 4, p);
        }
    }
}

/* Any odd radix: what lies opposite meets the same cosine, and the opposite sine. `roots` are those of one. */
INLINE void NAME(pass_odd)(int r, const LANES_OF *x, LANES_OF *y, ptrdiff_t m, ptrdiff_t s, const REAL *w,
                           const REAL *roots)
{
    LANES_OF sums[LARGEST_PRIME / 2], differences[LARGEST_PRIME / 2];
    int half = r / 2;
    for (ptrdiff_t p = 0; p < m; p++, w += 2 * (r - 1)) {
        for (ptrdiff_t q = 0; q < s; q++) {
            const LANES_OF *at = x + q + s * p;
            LANES_OF first = at[0], total = first, *to = y + q + s * r * p;
            for (int j = 0; j < half; j++) {
                LANES_OF a = at[s * m * (j + 1)], b = at[s * m * (r - 1 - j)];
                sums[j] = NAME(sum)(a, b);
                differences[j] = NAME(difference)(a, b);
                total = NAME(sum)(total, sums[j]);
            }
            to[0] = total;
            for (int k = 1; k <= half; k++) {
                LANES_OF even = first, odd = {{0}, {0}};
                for (int j = 0, turn = k; j < half; j++) {
                    REAL c = roots[2 * turn], sine = -roots[2 * turn + 1];
                    even.re += sums[j].re * c;
                    even.im += sums[j].im * c;
                    odd.re += differences[j].re * sine;
                    odd.im += differences[j].im * sine;
                    turn = turn + k < r ? turn + k : turn + k - r;
                }
                NAME(put_turned)(to + s * k, NAME(minus_i)(even, odd), w + 2 * (k - 1), p);
                NAME(put_turned)(to + s * (r - k), NAME(plus_i)(even, odd), w + 2 * (r - k - 1), p);
            }
        }
    }
}

/* Transforms x; the result is where the function says, in x or in y. */
VECTORISED static LANES_OF *NAME(transform)(const Plan *plan, LANES_OF *x, LANES_OF *y)
{
    const REAL *factors = plan->factors;
    ptrdiff_t s = 1;
    for (int i = 0; i < plan->passes; i++) {
        int r = plan->radix[i];
        ptrdiff_t m = plan->n / s / r;
        const REAL *w = factors + 2 * r; /* after the roots of the radix */
        if (r == 2) NAME(pass_2)(x, y, m, s, w);
        else if (r == 4) NAME(pass_4)(x, y, m, s, w);
        else if (r == 3) NAME(pass_odd)(3, x, y, m, s, w, factors);
        else if (r == 5) NAME(pass_odd)(5, x, y, m, s, w, factors);
        else NAME(pass_odd)(r, x, y, m, s, w, factors);
        factors = w + 2 * m * (r - 1);
        s *= r;
        LANES_OF *result = y;
        y = x;
        x = result;
    }
    return x;
}
