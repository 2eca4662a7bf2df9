"""Memory for the temporaries of generated code, kept from call to call.

docc's code takes each temporary from the C library, and does not give all of them back. Large ones
come from the kernel anew each time, which clears every page of them. Code compiled with `ARENA` set
takes them from one block for each thread instead, as from a stack; `RELEASE` empties it, and is to
be called after each call. What does not fit comes from the C library, and the block is made larger
for the next call.
"""

from __future__ import annotations

ARENA = "LOOPBOOK_ARENA"
"""Set in the environment of a compile, it makes the code take its temporaries from such a block."""

RELEASE = "loopbook_release"
"""Function of the library, without arguments, that gives back all that a call has taken."""

HEADER = "memory.h"

TEXT = """\
#ifndef LOOPBOOK_MEMORY
#define LOOPBOOK_MEMORY
#include <alloca.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#ifdef _OPENMP
#include <omp.h>
#endif
namespace loopbook {
constexpr size_t LINE = 64, MOST_KEPT = size_t(1) << 30;
struct Head { size_t bytes; Head *next; };
struct Arena {
    char *block = nullptr;
    size_t size = 0, used = 0, live = 0, most = 0;
    Head *others = nullptr;
    ~Arena() { release(); std::free(block); }
    void *take(size_t wanted) {
        size_t bytes = (wanted + 2 * LINE - 1) / LINE * LINE;
        live += bytes;
        if (live > most) most = live;
        Head *head;
        if (bytes <= size - used) {
            head = reinterpret_cast<Head *>(block + used);
            used += bytes;
        } else {
            head = static_cast<Head *>(std::aligned_alloc(LINE, bytes));
            if (!head) return nullptr;
            head->next = others;
            others = head;
        }
        head->bytes = bytes;
        return reinterpret_cast<char *>(head) + LINE;
    }
    void give(void *taken) {
        if (!taken) return;
        char *place = static_cast<char *>(taken) - LINE;
        Head *head = reinterpret_cast<Head *>(place);
        if (head == others) {
            live -= head->bytes;
            others = head->next;
            std::free(head);
        } else if (block && place + head->bytes == block + used) {
            live -= head->bytes;
            used = place - block;
        }
    }
    void release() {
        while (others) {
            Head *next = others->next;
            std::free(others);
            others = next;
        }
        if (most > size && most <= MOST_KEPT) {
            std::free(block);
            block = static_cast<char *>(std::aligned_alloc(LINE, most));
            size = block ? most : 0;
        }
        used = live = most = 0;
    }
};
static inline Arena &arena() {
    thread_local Arena own;
    return own;
}
static inline bool shared() {
#ifdef _OPENMP
    return omp_in_parallel();
#else
    return false;
#endif
}
__attribute__((malloc, noinline)) static void *take(size_t bytes) {
    return shared() ? std::malloc(bytes) : arena().take(bytes);
}
__attribute__((noinline)) static void give(void *taken) {
    shared() ? std::free(taken) : arena().give(taken);
}
}
extern "C" void loopbook_release() { loopbook::arena().release(); }
#define malloc(bytes) loopbook::take(bytes)
#define free(taken) loopbook::give(taken)
#endif
"""
"""What a thread takes in a parallel loop it takes from the C library: nobody would empty its block.
A block larger than a GiB is not kept."""
