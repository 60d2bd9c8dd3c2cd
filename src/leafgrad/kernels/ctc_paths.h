/* ctc_losses(scores, targets, lengths, blank, zero_infinity): for logarithms of probabilities (time, sample, label) how
   unlikely the labels of each sample are, summed over all ways in which they may be spread over time, and the slopes of
   that by the scores. Targets are a tuple of labels for each sample.

   A path goes through the states blank, label, blank, label, ..., blank. All states of one time are computed as one
   vector from those of the time before. Before the first of a row stand two that cannot be, so that every state has two
   before it. From the end it is the same with the states in the opposite order. */
#ifndef LEAFGRAD_CTC_PATHS_H
#define LEAFGRAD_CTC_PATHS_H

#include <stdlib.h>

#include "reduction_plan.h"
#include "vector_math.h"

typedef struct {
    npy_intp count, length; /* of states, and of the scores that count */
    npy_intp *states;       /* the label of each */
} Sample;

typedef struct {
    const char *from;
    char *losses, *slopes;
    npy_intp times, samples, labels, row; /* a row has the states of the longest sample, and two before them */
    int zero_infinity;
    Sample *each;
    atomic_int failed;
} Paths;

#define DEFINE_PATHS(real, kind, whole)                                                                                \
    /* all beginnings of paths, one time later: they stay in a state, or come from the one or the two before it */     \
    VECTORISED static void extend_paths_##kind(const real *last, const whole *jumps, const real *emitted, real *out,   \
                                               npy_intp count)                                                         \
    {                                                                                                                  \
        SIMD for (npy_intp s = 0; s < count; s++)                                                                      \
        {                                                                                                              \
            real stay = last[s], step = last[s - 1], jump = jumps[s] ? last[s - 2] : -(real)INFINITY;                  \
            real most = stay > step ? stay : step;                                                                     \
            most = jump > most ? jump : most;                                                                          \
            most = most == -(real)INFINITY ? 0 : most;                                                                 \
            real sum = exp_to_one_##kind(stay - most) + exp_to_one_##kind(step - most);                                \
            out[s] = log_##kind(sum + exp_to_one_##kind(jump - most)) + most + emitted[s];                             \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    /* how likely each state is at a time, from the paths that begin before it and those that end after it */          \
    VECTORISED static void visits_##kind(const real *before, const real *after, const real *emitted, real likelihood,  \
                                         real *out, npy_intp count)                                                    \
    {                                                                                                                  \
        SIMD for (npy_intp s = 0; s < count; s++)                                                                      \
        {                                                                                                              \
            real both = before[s] + after[count - 1 - s];                                                              \
            both = both == -(real)INFINITY ? both : both - emitted[s] - likelihood;                                    \
            out[s] = exp_##kind(both);                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    VECTORISED static void exponentials_##kind(const real *x, real *out, npy_intp count)                               \
    {                                                                                                                  \
        SIMD for (npy_intp i = 0; i < count; i++) out[i] = exp_##kind(x[i]);                                           \
    }                                                                                                                  \
                                                                                                                       \
    /* the slopes of one sample from the beginnings of its paths, which are walked through from the end; `after` has   \
       two rows, with the states in the opposite order */                                                              \
    static void slopes_of_sample_##kind(const Paths *paths, const Sample *sample, const real *x, real *slopes,         \
                                        const real *before, const whole *jumps_back, real *after, real likelihood)     \
    {                                                                                                                  \
        npy_intp count = sample->count, row = paths->row, time = sample->length;                                       \
        real *emitted = after + 2 * row, *opposite = emitted + row, *visits = opposite + row;                          \
        for (npy_intp s = -2; s < row - 2; s++) after[s] = after[s + row] = -(real)INFINITY;                           \
        while (time-- > 0) {                                                                                           \
            const real *scores = x + time * paths->samples * paths->labels;                                            \
            real *out = slopes + time * paths->samples * paths->labels;                                                \
            for (npy_intp s = 0; s < count; s++) {                                                                     \
                emitted[s] = opposite[count - 1 - s] = scores[sample->states[s]];                                      \
            }                                                                                                          \
            real *now = after + (time & 1) * row;                                                                      \
            if (time == sample->length - 1) {                                                                          \
                now[0] = opposite[0];                                                                                  \
                if (count > 1) now[1] = opposite[1];                                                                   \
            } else {                                                                                                   \
                extend_paths_##kind(after + (~time & 1) * row, jumps_back, opposite, now, count);                      \
            }                                                                                                          \
            visits_##kind(before + time * row, now, emitted, likelihood, visits, count);                               \
            exponentials_##kind(scores, out, paths->labels);                                                           \
            for (npy_intp s = 0; s < count; s++) out[sample->states[s]] -= visits[s];                                  \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void paths_of_sample_##kind(const Paths *paths, npy_intp n, real *rows, whole *jumps)                       \
    {                                                                                                                  \
        const Sample *sample = &paths->each[n];                                                                        \
        npy_intp count = sample->count, row = paths->row, length = sample->length, width = paths->labels;              \
        npy_intp step = paths->samples * width;                                                                        \
        const real *x = (const real *)paths->from + n * width;                                                         \
        real *slopes = (real *)paths->slopes + n * width, *loss = (real *)paths->losses + n, *before = rows + 2;       \
        if (length == 0) {                                                                                             \
            *loss = count > 1 && !paths->zero_infinity ? (real)INFINITY : 0;                                           \
            return;                                                                                                    \
        }                                                                                                              \
        whole *jumps_back = jumps + row;                                                                               \
        for (npy_intp s = 0; s < count; s++) {                                                                         \
            jumps[s] = s > 1 && s % 2 && sample->states[s] != sample->states[s - 2];                                   \
            npy_intp opposite = count - 1 - s;                                                                         \
            jumps_back[s] = s > 1 && s % 2 && sample->states[opposite] != sample->states[opposite + 2];                \
        }                                                                                                              \
        real *emitted = before + paths->times * row;                                                                   \
        for (npy_intp s = -2; s < row - 2; s++) before[s] = -(real)INFINITY;                                           \
        for (npy_intp s = 0; s < count && s < 2; s++) before[s] = x[sample->states[s]];                                \
        for (npy_intp time = 1; time < length; time++) {                                                               \
            real *now = before + time * row;                                                                           \
            now[-2] = now[-1] = -(real)INFINITY;                                                                       \
            for (npy_intp s = 0; s < count; s++) emitted[s] = x[time * step + sample->states[s]];                      \
            extend_paths_##kind(now - row, jumps, emitted, now, count);                                                \
        }                                                                                                              \
        const real *end = before + (length - 1) * row + count - 1;                                                     \
        real one = end[0], other = end[-1], most = one > other ? one : other;                                          \
        most = most == -(real)INFINITY ? 0 : most;                                                                     \
        real likelihood = log_##kind(exp_to_one_##kind(one - most) + exp_to_one_##kind(other - most)) + most;          \
        *loss = -likelihood;                                                                                           \
        if (abs_##kind(likelihood) < (real)INFINITY) {                                                                 \
            slopes_of_sample_##kind(paths, sample, x, slopes, before, jumps_back, emitted, likelihood);                \
            return;                                                                                                    \
        }                                                                                                              \
        real slope = (real)NAN;                                                                                        \
        if (likelihood == likelihood && paths->zero_infinity) *loss = slope = 0;                                       \
        for (npy_intp time = 0; time < length; time++) {                                                               \
            for (npy_intp label = 0; label < width; label++) slopes[time * step + label] = slope;                      \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void paths_of_samples_##kind(void *context, ptrdiff_t first, ptrdiff_t last)                                \
    {                                                                                                                  \
        Paths *paths = context;                                                                                        \
        real *rows = malloc((paths->times + 5) * paths->row * sizeof(real));                                           \
        whole *jumps = malloc(2 * paths->row * sizeof(whole));                                                         \
        if (rows == NULL || jumps == NULL) {                                                                           \
            atomic_fetch_or(&paths->failed, 1);                                                                        \
        } else {                                                                                                       \
            for (; first < last; first++) paths_of_sample_##kind(paths, first, rows, jumps);                           \
        }                                                                                                              \
        free(rows);                                                                                                    \
        free(jumps);                                                                                                   \
    }

DEFINE_PATHS(float, f32, int32_t)
DEFINE_PATHS(double, f64, int64_t)

/* The states of all samples, in memory that begins at `states`. Returns 0 for labels or lengths that do not fit. */
static int find_samples(Paths *paths, PyObject *targets, PyObject *lengths, npy_intp blank, npy_intp *states)
{
    for (npy_intp n = 0; n < paths->samples; n++) {
        PyObject *labels = PyTuple_GET_ITEM(targets, n);
        Sample *sample = &paths->each[n];
        sample->count = 2 * PyTuple_GET_SIZE(labels) + 1;
        sample->length = PyLong_AsSsize_t(PyTuple_GET_ITEM(lengths, n));
        sample->states = states;
        if (sample->length < 0 || sample->length > paths->times) return 0;
        if (sample->count + 2 > paths->row) paths->row = sample->count + 2;
        for (npy_intp s = 0; s < sample->count; s++) {
            npy_intp label = s % 2 ? PyLong_AsSsize_t(PyTuple_GET_ITEM(labels, s / 2)) : blank;
            if (label < 0 || label >= paths->labels) return 0;
            *states++ = label;
        }
    }
    return 1;
}

/* How many states all samples have; -1 if these are not tuples of numbers for as many samples. */
static npy_intp count_states(PyObject *targets, PyObject *lengths, npy_intp samples)
{
    if (!PyTuple_CheckExact(targets) || !PyTuple_CheckExact(lengths)) return -1;
    if (PyTuple_GET_SIZE(targets) != samples || PyTuple_GET_SIZE(lengths) != samples) return -1;
    npy_intp count = 0;
    for (npy_intp n = 0; n < samples; n++) {
        PyObject *labels = PyTuple_GET_ITEM(targets, n);
        if (!PyTuple_CheckExact(labels) || !PyLong_CheckExact(PyTuple_GET_ITEM(lengths, n))) return -1;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(labels); i++) {
            if (!PyLong_CheckExact(PyTuple_GET_ITEM(labels, i))) return -1;
        }
        count += 2 * PyTuple_GET_SIZE(labels) + 1;
    }
    return count;
}

static void run_paths(Paths *paths, pool_work work, npy_intp states)
{
    npy_intp steps = states * paths->times * 16; /* a state takes as long as some 16 elements of a sum */
    if (steps < LET_OTHERS_RUN) {
        work(paths, 0, paths->samples);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    if (steps < SPLIT_FROM || paths->samples == 1) {
        work(paths, 0, paths->samples);
    } else {
        pool_run(work, paths, paths->samples, steps / paths->samples * (npy_intp)sizeof(float), steps >= LONG);
    }
    Py_END_ALLOW_THREADS
}

static PyObject *ctc_losses(PyObject *const *args, Py_ssize_t given)
{
    if (given != 5 || !PyArray_CheckExact(args[0]) || !PyLong_CheckExact(args[3]) || !PyBool_Check(args[4])) return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0];
    int kind = PyArray_DESCR(x) == kinds[FLOAT32] ? FLOAT32 : FLOAT64;
    if (PyArray_DESCR(x) != kinds[kind] || !PyArray_ISCARRAY_RO(x) || PyArray_NDIM(x) != 3) return NULL;
    Paths paths = {.from = PyArray_BYTES(x), .times = PyArray_DIM(x, 0), .samples = PyArray_DIM(x, 1)};
    paths.labels = PyArray_DIM(x, 2);
    paths.zero_infinity = args[4] == Py_True;
    atomic_init(&paths.failed, 0);
    npy_intp states = count_states(args[1], args[2], paths.samples);
    if (states < 0) return NULL;
    npy_intp *memory = malloc((states + 1) * sizeof *memory);
    paths.each = malloc((paths.samples + 1) * sizeof *paths.each);
    PyObject *losses = NULL, *slopes = NULL, *both = NULL;
    if (memory == NULL || paths.each == NULL) {
        PyErr_NoMemory();
    } else if (find_samples(&paths, args[1], args[2], PyLong_AsSsize_t(args[3]), memory)) {
        losses = PyArray_ZEROS(1, PyArray_DIMS(x) + 1, type_numbers[kind], 0);
        slopes = PyArray_ZEROS(3, PyArray_DIMS(x), type_numbers[kind], 0);
    } else {
        PyErr_Clear(); /* a number that is too large is one that does not fit */
    }
    if (losses != NULL && slopes != NULL) {
        paths.losses = PyArray_BYTES((PyArrayObject *)losses);
        paths.slopes = PyArray_BYTES((PyArrayObject *)slopes);
        run_paths(&paths, kind == FLOAT32 ? paths_of_samples_f32 : paths_of_samples_f64, states);
        both = atomic_load(&paths.failed) ? PyErr_NoMemory() : PyTuple_Pack(2, losses, slopes);
    }
    free(memory);
    free(paths.each);
    Py_XDECREF(losses);
    Py_XDECREF(slopes);
    return both;
}

#endif
