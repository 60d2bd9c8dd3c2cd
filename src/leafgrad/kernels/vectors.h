/* VECTORISED before a function: compiled for several generations of processors, the best of which is chosen when the
   extension is loaded. Plain loops become vector instructions of each; where that is not supported it means nothing. */
#ifndef LEAFGRAD_VECTORS_H
#define LEAFGRAD_VECTORS_H

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) &&         \
    !defined(__SANITIZE_ADDRESS__) /* functions that are chosen while a program is loaded come before the sanitizer */
#define VECTORISED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define VECTORISED
#endif

/* INLINE: what such functions call becomes part of each of them, and is compiled for the same processor. */
#if defined(_MSC_VER)
#define INLINE static __forceinline
#define SIMD
#else
#define INLINE static inline __attribute__((always_inline))
#define SIMD _Pragma("omp simd")
#endif

#endif
