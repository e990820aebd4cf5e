/* SPDX-License-Identifier: MIT */
/*
 * Signals of a process that borrows sections.
 *
 * The kernel knows its own threads only: a signal may arrive at a borrower while it
 * runs another thread's section, or at an owner whose section runs elsewhere. Hasp's
 * handler stands before the program's and makes it run in the right place:
 *
 *   in a stretch   the stretch is handed back where the signal interrupted it; the
 *                  owner continues it on its own kernel thread. The signal is sent to
 *                  the borrower again, which gets it in its own context. A fault is not
 *                  sent again: the owner repeats the instruction, and gets it
 *   on a waiting stack   the signal is blocked and sent again, and the offer withdrawn,
 *                  or the stretch handed back. The owner gets it on its own stack
 *   anywhere else  the program's handler is called
 */
#include "preload/borrowing/signals.h"

#include "preload/borrowing/real.h"
#include "preload/borrowing/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The program's handler of each signal; flags 0 and SIG_DFL unless it has one. */
static struct sigaction program_action[_NSIG];

static bool is_handler(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

static void allow_ours(sigset_t *set)
{
    if (borrow_signal)
        sigdelset(set, borrow_signal);
}

/* --- the handler --- */

/* Whether the instruction raises the signal again if it is repeated. */
static bool is_fault(int number, const siginfo_t *info)
{
    return info->si_code > 0 && (number == SIGSEGV || number == SIGBUS ||
                                 number == SIGFPE || number == SIGILL);
}

static bool is_trap(int number, const siginfo_t *info)
{
    return info->si_code > 0 && (number == SIGTRAP || number == SIGSYS);
}

/* The caller's kernel thread is that of the record, and has all signals blocked. */
static void send_again(const struct borrow_thread *record, int number, siginfo_t *info)
{
    raw_syscall(SYS_rt_tgsigqueueinfo, getpid(), (long)load_relaxed(&record->thread),
                number, (long)info, 0, 0);
}

static void note_mask(struct borrow_thread *record, uint64_t mask)
{
    if (load_relaxed(&record->masked))
        return;
    record->mask = mask;
    store_relaxed(&record->masked, 1);
}

__attribute__((noreturn)) static void leave_stretch(struct borrow_thread *owner,
                                                    int number, siginfo_t *info,
                                                    void *context)
{
    struct borrow_thread *borrower = (struct borrow_thread *)owner->registers.runner;
    uint64_t mask = *context_mask(context);
    owner->context = context_keep(context);
    note_mask(borrower, mask);
    borrower->interrupted++;
    if (number != borrow_signal && !is_fault(number, info))
        send_again(borrower, number, info);
    registers_resume(&borrower->registers, STRETCH_HANDED_BACK);
}

static void postpone(struct borrow_thread *owner, int number, siginfo_t *info,
                     void *context)
{
    if (number == borrow_signal)
        return;
    note_mask(owner, *context_mask(context));
    *context_mask(context) |= UINT64_C(1) << (number - 1);
    send_again(owner, number, info);
    if (request_change(owner->request, REQUEST_OFFERED, REQUEST_WAITING))
        return;
    struct registers *runner = owner->registers.runner;
    if (runner)
        borrow_kick((struct borrow_thread *)runner);
}

/* Returns the mask with which the kernel would call the program's handler. */
static uint64_t mask_of_handler(const struct sigaction *action, int number,
                                void *context)
{
    sigset_t blocked = action->sa_mask;
    uint64_t mask;
    if (!(action->sa_flags & (int)SA_NODEFER))
        sigaddset(&blocked, number);
    allow_ours(&blocked);
    memcpy(&mask, &blocked, sizeof mask);
    return mask | *context_mask(context);
}

static void call_handler(int number, siginfo_t *info, void *context)
{
    const struct sigaction action = program_action[number];
    if (!is_handler(&action))
        return;
    if (action.sa_flags & SA_RESETHAND) {
        const struct sigaction usual = {.sa_handler = SIG_DFL};
        program_action[number] = usual;
        real_sigaction()(number, &usual, NULL);
    }
    borrow_set_mask(mask_of_handler(&action, number, context));
    action.sa_sigaction(number, info, context);
}

/* All signals are blocked, so that no second signal hands the stretch back while the
 * first one does. call_handler() sets the mask of the program's handler. */
__attribute__((no_stack_protector)) static void
handle(int number, siginfo_t *info, void *context)
{
    registers_settle(context);
    struct borrow_thread *self = borrow_self;
    if (self && borrow_waits(self, context_stack(context)))
        postpone(self, number, info, context);
    else if (self && self->registers.runner && !is_trap(number, info))
        leave_stretch(self, number, info, context);
    else if (number != borrow_signal)
        call_handler(number, info, context);
}

/* --- actions --- */

static long process; /* whose actions are in program_action[] */

void borrow_keep_process(void)
{
    process = raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static bool is_ours(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO && action->sa_sigaction == handle;
}

/* The child of a vfork changes its own actions until it calls exec. Its handlers, if it
 * has some, run as they are: it borrows nothing. */
static int set_action_of_child(int number, const struct sigaction *action,
                               struct sigaction *before)
{
    struct sigaction found;
    if (real_sigaction()(number, action, &found))
        return -1;
    if (before)
        *before = is_ours(&found) ? program_action[number] : found;
    return 0;
}

static int set_action(int number, const struct sigaction *action,
                      struct sigaction *before)
{
    if (number <= 0 || number >= _NSIG || number == borrow_signal) {
        errno = EINVAL;
        return -1;
    }
    if (process && raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0) != process)
        return set_action_of_child(number, action, before);
    const struct sigaction previous = program_action[number];
    struct sigaction found, ours;
    if (!action) {
        if (real_sigaction()(number, NULL, &found))
            return -1;
    } else {
        ours = *action;
        allow_ours(&ours.sa_mask);
        if (is_handler(action)) {
            program_action[number] = *action;
            sigfillset(&ours.sa_mask);
            ours.sa_sigaction = handle;
            ours.sa_flags |= SA_SIGINFO;
            ours.sa_flags &= (int)~(unsigned)SA_RESETHAND;
        }
        if (real_sigaction()(number, &ours, &found)) {
            program_action[number] = previous;
            return -1;
        }
        if (!is_handler(action))
            program_action[number] = *action;
    }
    if (before)
        *before = is_ours(&found) ? previous : found;
    return 0;
}

EXPORT int sigaction(int number, const struct sigaction *restrict action,
                     struct sigaction *restrict before)
{
    borrow_hand_back();
    return set_action(number, action, before);
}

static sighandler_t set_handler(int number, sighandler_t handler, int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, before;
    if (!(flags & (int)SA_NODEFER))
        sigaddset(&action.sa_mask, number);
    borrow_hand_back();
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    return set_action(number, &action, &before) ? SIG_ERR : before.sa_handler;
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
    return set_handler(number, handler, SA_RESTART);
}

EXPORT sighandler_t ssignal(int number, sighandler_t handler)
{
    return set_handler(number, handler, SA_RESTART);
}

EXPORT sighandler_t bsd_signal(int number, sighandler_t handler);
EXPORT sighandler_t bsd_signal(int number, sighandler_t handler)
{
    return set_handler(number, handler, SA_RESTART);
}

EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
    return set_handler(number, handler, (int)(SA_RESETHAND | SA_NODEFER));
}

EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler);
EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    return set_handler(number, handler, (int)(SA_RESETHAND | SA_NODEFER));
}

/* --- masks and stacks --- */

typedef int change_mask(int, const sigset_t *, sigset_t *);

static int set_mask(change_mask *real, int how, const sigset_t *set, sigset_t *before)
{
    borrow_hand_back();
    if (!set)
        return real(how, NULL, before);
    sigset_t allowed = *set;
    if (how != SIG_UNBLOCK)
        allow_ours(&allowed);
    return real(how, &allowed, before);
}

EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict before)
{
    return set_mask(real_sigprocmask(), how, set, before);
}

EXPORT int pthread_sigmask(int how, const sigset_t *restrict set,
                           sigset_t *restrict before)
{
    return set_mask(real_pthread_sigmask(), how, set, before);
}

EXPORT int sigaltstack(const stack_t *restrict stack, stack_t *restrict before)
{
    borrow_hand_back();
    int result = real_sigaltstack()(stack, before);
    if (result == 0 && stack) {
        uint64_t begin = (uint64_t)stack->ss_sp;
        bool set = !(stack->ss_flags & SS_DISABLE);
        borrow_alternate.begin = set ? begin : 0;
        borrow_alternate.end = set ? begin + stack->ss_size : 0;
    }
    return result;
}

extern int __libc_allocate_rtsig(int high);

void borrow_watch_signals(void)
{
    struct sigaction action = {.sa_sigaction = handle,
                               .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    int number = __libc_allocate_rtsig(0); /* the program's SIGRTMAX is one less */
    if (number <= 0)
        return;
    sigfillset(&action.sa_mask);
    borrow_keep_process();
    if (real_sigaction()(number, &action, NULL) == 0)
        borrow_signal = number;
}
