/* SPDX-License-Identifier: MIT */
#include "platform/native/undo.h"

#include "platform/htm.h"
#include "platform/native/undo_state.h"

#if defined(__x86_64__)

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

struct undo *undo;
static __thread char here __attribute__((tls_model("initial-exec")));

/* The kernel never passes on the system call of this function. */
__asm__(".pushsection .text\n"
        ".globl undo_return\n.hidden undo_return\n.type undo_return, @function\n"
        ".balign 16\nundo_return:\n\tmov $15, %eax\n\tsyscall\n\tnop\n\tnop\n"
        ".popsection\n");
extern void undo_return(void);

static bool is_mine(void)
{
    return undo->open && undo->thread == &here;
}

/* Runs on the alternate stack. */
__attribute__((noreturn)) static void roll_back(void)
{
    undo->blocks = 0;
    if (undo->depth > 1)
        undo->status |= HTM_NESTED;
    undo_restore();
    _longjmp(undo->at_begin, 1);
}

static void faulted(int signal, siginfo_t *info, void *context)
{
    (void)context;
    if (!is_mine()) { /* the program's own fault: it happens again, and is fatal */
        struct sigaction usual = {.sa_handler = SIG_DFL};
        sigaction(signal, &usual, NULL);
        return;
    }
    undo->blocks = 0;
    const uintptr_t address = (uintptr_t)info->si_addr;
    if (!undo_is_protected(address))
        undo->status = 0;
    else if (undo->page_count == PAGES)
        undo->status = HTM_CAPACITY;
    else if (undo->page_count + 1 != undo->aborts_after) {
        undo_save_page(address - address % PAGE);
        undo->blocks = 1;
        return;
    }
    roll_back();
}

static void called(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info, (void)context;
    undo->blocks = 0;
    if (!undo->decided)
        undo->status = 0; /* as an interrupt */
    roll_back();
}

enum { RESTORER = 0x04000000 }; /* the kernel's SA_RESTORER */

static void handle(int signal, void (*handler)(int, siginfo_t *, void *), long more)
{
    struct {
        void (*handler)(int, siginfo_t *, void *);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } action = {handler, SA_SIGINFO | RESTORER | (unsigned long)more, undo_return, 0};
    call(SYS_rt_sigaction, signal, (long)&action, 0, 8);
}

static void end(void)
{
    call(SYS_prctl, DISPATCH, DISPATCH_OFF, 0, 0);
    call(SYS_sigaltstack, (long)&undo->before, 0, 0, 0);
    undo->open = false;
    undo->depth = 0;
    undo_let_others_go();
    store_release(&undo->owner, 0);
}

static void plan(void)
{
    undo->aborts_after = UINT32_MAX;
    undo->decided = false;
    undo->status = 0;
    if (!undo->random)
        return;
    undo->random = undo->random * 1664525 + 1013904223;
    const uint32_t chance = undo->random >> 16;
    if (chance % 4 == 0)
        undo->aborts_after = 0;
    else if (chance % 4 == 1)
        undo->aborts_after = 1 + chance / 4 % 4;
    undo->status = HTM_CONFLICT | (chance & 64 ? HTM_RETRY : 0);
}

static __attribute__((noinline)) bool prepare(void)
{
    const uintptr_t mine = (uintptr_t)__builtin_frame_address(0) - PAGE;
    return undo_stop_others() && undo_protect(mine);
}

/* The fifth argument of prctl, the selector. */
static long dispatch_on(void)
{
    long result;
    register long r10 __asm__("r10") = 16;
    register long r8 __asm__("r8") = (long)&undo->blocks;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_prctl), "D"((long)DISPATCH), "S"((long)DISPATCH_ON),
                       "d"((long)undo_return), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
}

uint32_t undo_begin(void)
{
    if (is_mine()) {
        undo->depth++;
        return HTM_STARTED;
    }
    uint32_t free = 0;
    while (!compare_exchange_acquire(&undo->owner, &free, 1)) {
        call(SYS_sched_yield, 0, 0, 0, 0);
        free = 0;
    }
    const stack_t handlers = {.ss_sp = undo->handler_stack,
                              .ss_size = sizeof undo->handler_stack};
    call(SYS_sigaltstack, (long)&handlers, (long)&undo->before, 0, 0);
    plan();
    undo->region_count = undo->page_count = undo->stack_count = 0;
    if (_setjmp(undo->at_begin)) {
        const uint32_t status = undo->status;
        end();
        return status;
    }
    if (!prepare() || dispatch_on() != 0) {
        undo_unprotect();
        end();
        return 0;
    }
    undo->thread = &here;
    undo->depth = 1;
    undo->open = true;
    undo->blocks = 1;
    return HTM_STARTED;
}

void undo_abort(uint32_t status)
{
    if (!is_mine())
        return;
    undo->status = status;
    undo->decided = true;
    call(SYS_getpid, 0, 0, 0, 0); /* called() rolls back */
}

void undo_commit(void)
{
    if (undo->depth > 1) {
        undo->depth--;
        return;
    }
    if (undo->aborts_after == 0)
        undo_abort(undo->status);
    undo->blocks = 0;
    undo_unprotect();
    end();
}

const char *undo_prepare(uint32_t seed)
{
    void *memory = mmap(NULL, sizeof *undo, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return "there is no memory for transactions";
    undo = memory;
    undo->random = seed;
    if (dispatch_on() != 0)
        return "undo needs Linux 5.11";
    call(SYS_prctl, DISPATCH, DISPATCH_OFF, 0, 0);
    handle(SIGSEGV, faulted, SA_ONSTACK | SA_NODEFER);
    handle(SIGSYS, called, SA_ONSTACK | SA_NODEFER);
    handle(UNDO_SIGNAL, undo_stopped, SA_RESTART);
    return NULL;
}

#else

const char *undo_prepare(uint32_t seed)
{
    (void)seed;
    return "undo is for x86-64 processors";
}

uint32_t undo_begin(void)
{
    return 0;
}

void undo_commit(void)
{
}

void undo_abort(uint32_t status)
{
    (void)status;
}

#endif
