/* Plans of lengths, which are kept until there are too many. Included for each kind of number; the interpreter lock is
   held. */

static Plan *NAME(plans);
static ptrdiff_t NAME(kept);

static void NAME(leave)(Plan *plan) { if (plan != NULL) plan->users--; }

static void NAME(free_plan)(Plan *plan)
{
    NAME(leave)(plan->first);
    NAME(leave)(plan->second);
    free(plan->factors);
    free(plan);
}

/* Those that nobody uses; parts of plans that were freed go the next time. */
static void NAME(make_room)(void)
{
    for (Plan **at = &NAME(plans); *at != NULL;) {
        Plan *plan = *at;
        if (plan->users) {
            at = &plan->next;
            continue;
        }
        *at = plan->next;
        NAME(kept) -= plan->bytes;
        NAME(free_plan)(plan);
    }
}

static void NAME(put_root)(REAL *to, ptrdiff_t t, ptrdiff_t n)
{
    double re, im;
    root_of_one(t, n, &re, &im);
    to[0] = (REAL)re;
    to[1] = (REAL)im;
}

static int NAME(fill_passes)(Plan *plan)
{
    ptrdiff_t count = 0, s = 1;
    if (!find_passes(plan)) return 0;
    for (int i = 0; i < plan->passes; i++) {
        count += plan->radix[i] + plan->n / s / plan->radix[i] * (plan->radix[i] - 1);
        s *= plan->radix[i];
    }
    plan->bytes = 2 * (ptrdiff_t)sizeof(REAL) * count;
    REAL *to = plan->factors = malloc((size_t)plan->bytes + 1);
    if (to == NULL) return 0;
    ptrdiff_t length = plan->n;
    for (int i = 0; i < plan->passes; i++) {
        int r = plan->radix[i];
        for (int k = 0; k < r; k++, to += 2) NAME(put_root)(to, k, r);
        for (ptrdiff_t p = 0; p < length / r; p++) {
            for (int k = 1; k < r; k++, to += 2) NAME(put_root)(to, p * k, length);
        }
        length /= r;
    }
    return 1;
}

/* w^(e l) as the product of w^(1024 i) and w^j: sines of few angles only. */
#define NEAR_ROOTS 1024

static int NAME(fill_split)(Plan *plan)
{
    ptrdiff_t a = plan->first->n, b = plan->second->n, n = plan->n, far = n / NEAR_ROOTS + 1;
    plan->bytes = 2 * (ptrdiff_t)sizeof(REAL) * (n + WIDTH); /* the last vector of factors may be read beyond the end */
    REAL *to = plan->factors = calloc((size_t)plan->bytes, 1);
    double *roots = malloc(2 * sizeof(double) * (size_t)(far + NEAR_ROOTS)), *near = roots + 2 * far;
    if (to == NULL || roots == NULL) {
        free(roots);
        return 0;
    }
    for (ptrdiff_t i = 0; i < far; i++) root_of_one(i * NEAR_ROOTS, n, roots + 2 * i, roots + 2 * i + 1);
    for (ptrdiff_t i = 0; i < NEAR_ROOTS && i <= n; i++) root_of_one(i, n, near + 2 * i, near + 2 * i + 1);
    for (ptrdiff_t e = 0; e < a; e++) {
        for (ptrdiff_t l = 0; l < b; l++, to += 2) {
            const double *u = roots + 2 * (e * l / NEAR_ROOTS), *v = near + 2 * (e * l % NEAR_ROOTS);
            to[0] = (REAL)(u[0] * v[0] - u[1] * v[1]);
            to[1] = (REAL)(u[0] * v[1] + u[1] * v[0]);
        }
    }
    free(roots);
    return 1;
}

/* A plan that is in use until it is left; NULL if there is none, for large prime factors or for want of memory. */
static Plan *NAME(plan_of)(ptrdiff_t n, int split)
{
    for (Plan **at = &NAME(plans); *at != NULL; at = &(*at)->next) {
        Plan *plan = *at;
        if (plan->n == n && plan->split == split) {
            *at = plan->next; /* the next search finds it first */
            plan->next = NAME(plans);
            NAME(plans) = plan;
            plan->users++;
            return plan;
        }
    }
    if (NAME(kept) > MOST_KEPT) NAME(make_room)();
    Plan *plan = calloc(1, sizeof(Plan));
    if (plan == NULL) return NULL;
    plan->n = n;
    plan->split = split;
    plan->users = 1;
    int made;
    if (split) {
        ptrdiff_t a = split_of(n);
        plan->first = NAME(plan_of)(a, 0);
        plan->second = plan->first == NULL ? NULL : NAME(plan_of)(n / a, 0);
        made = plan->second != NULL && NAME(fill_split)(plan);
    } else {
        made = NAME(fill_passes)(plan);
    }
    if (!made) {
        NAME(free_plan)(plan);
        return NULL;
    }
    plan->next = NAME(plans);
    NAME(plans) = plan;
    NAME(kept) += plan->bytes;
    return plan;
}
