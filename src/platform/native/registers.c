/* SPDX-License-Identifier: MIT */
#include "platform/native/registers.h"

#include "platform/platform.h"

#if defined(__x86_64__)

#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

enum { HWCAP2_FSGSBASE = 2 };

/* A shadow stack would have to be switched, too. */
static bool has_shadow_stack(void)
{
    uint64_t shadow_stack = 0; /* rdsspq does nothing where there is none */
    __asm__ volatile("rdsspq %0" : "+r"(shadow_stack));
    return shadow_stack != 0;
}

const char *registers_obstacle(void)
{
    if (!(getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE))
        return "the processor or the kernel does not let programs set their thread "
               "pointer (FSGSBASE)";
    return has_shadow_stack() ? "the process has shadow stacks" : NULL;
}

/* The parked registers, from the stack pointer upwards: control words of the floating
 * point units, r15 to r12, rbx, rbp, return address. */
#define SAVE                                                                           \
    "push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"          \
    "sub $8, %rsp\n stmxcsr (%rsp)\n fnstcw 4(%rsp)\n"
#define RESTORE                                                                        \
    "ldmxcsr (%rsp)\n fldcw 4(%rsp)\n add $8, %rsp\n"                                  \
    "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n"
/* For debuggers and unwinders: where the return address is, relative to the stack. */
#define SAVED_FRAME                                                                    \
    ".cfi_def_cfa_offset 64\n .cfi_offset rbp, -16\n .cfi_offset rbx, -24\n"           \
    ".cfi_offset r12, -32\n .cfi_offset r13, -40\n .cfi_offset r14, -48\n"             \
    ".cfi_offset r15, -56\n"
#define FUNCTION(name)                                                                 \
    ".globl " name "\n .hidden " name "\n .type " name ", @function\n"                 \
    ".p2align 4\n" name ":\n .cfi_startproc\n endbr64\n"
#define END(name) ".cfi_endproc\n .size " name ", . - " name "\n"
#define LABEL(name) ".globl " name "\n .hidden " name "\n" name ":\n"

/* The first instruction of a switch keeps the stack pointer in rax. */
__asm__(".text\n"
    FUNCTION("registers_park")
    SAVE SAVED_FRAME
    "mov %rsp, (%rdi)\n"
    "mov %rdi, %rbx\n"
    "mov %rsi, %rsp\n"
    ".cfi_undefined rip\n"
    "call *%rdx\n"
    "mov (%rbx), %rsp\n"
    RESTORE "ret\n"
    END("registers_park")

    FUNCTION("registers_enter")
    LABEL("registers_enter_begin")
    "mov %rsp, %rax\n"
    SAVE SAVED_FRAME
    "mov %rsp, (%rdi)\n"
    LABEL("registers_enter_commit")
    "mov (%rsi), %rsp\n"
    "mov 8(%rsi), %rcx\n"
    "wrfsbase %rcx\n"
    RESTORE
    "mov %edx, %eax\n"
    LABEL("registers_enter_end")
    "ret\n"
    END("registers_enter")

    FUNCTION("registers_leave")
    LABEL("registers_leave_begin")
    "mov %rsp, %rax\n"
    "mov 16(%rdi), %rdx\n"
    "test %rdx, %rdx\n"
    "jz 1f\n"
    SAVE SAVED_FRAME
    "mov %rsp, (%rdi)\n"
    LABEL("registers_leave_commit")
    "mov (%rdx), %rsp\n"
    "mov 8(%rdx), %rcx\n"
    "wrfsbase %rcx\n"
    RESTORE
    "mov %esi, %eax\n"
    LABEL("registers_leave_end")
    "ret\n"
    ".cfi_def_cfa_offset 8\n .cfi_same_value rbp\n .cfi_same_value rbx\n"
    ".cfi_same_value r12\n .cfi_same_value r13\n .cfi_same_value r14\n"
    ".cfi_same_value r15\n"
    "1: xor %eax, %eax\n"
    "ret\n"
    END("registers_leave")

    FUNCTION("registers_resume")
    "mov (%rdi), %rsp\n"
    "mov 8(%rdi), %rcx\n"
    "wrfsbase %rcx\n"
    RESTORE
    "mov %esi, %eax\n"
    "ret\n"
    END("registers_resume"));

extern const char registers_enter_begin[], registers_enter_commit[],
    registers_enter_end[], registers_leave_begin[], registers_leave_commit[],
    registers_leave_end[];

#define NO_CANARY __attribute__((no_stack_protector))

/* The interrupted thread has loaded the stack pointer of `target`: completes its switch
 * up to the `ret`. */
static NO_CANARY void complete(ucontext_t *context, const struct registers *target,
                               greg_t value)
{
    greg_t *at = context->uc_mcontext.gregs;
    const uint64_t *parked = (const uint64_t *)target->stack;
    uint32_t mxcsr = (uint32_t)parked[0];
    uint16_t control = (uint16_t)(parked[0] >> 32);
    context->uc_mcontext.fpregs->mxcsr = mxcsr;
    context->uc_mcontext.fpregs->cwd = control;
    at[REG_R15] = (greg_t)parked[1];
    at[REG_R14] = (greg_t)parked[2];
    at[REG_R13] = (greg_t)parked[3];
    at[REG_R12] = (greg_t)parked[4];
    at[REG_RBX] = (greg_t)parked[5];
    at[REG_RBP] = (greg_t)parked[6];
    at[REG_RIP] = (greg_t)parked[7];
    at[REG_RSP] = (greg_t)(target->stack + 8 * sizeof *parked);
    at[REG_RAX] = value;
    uint64_t thread_pointer = target->thread_pointer;
    __asm__ volatile("wrfsbase %0" : : "r"(thread_pointer) : "memory");
}

static NO_CANARY bool within(greg_t address, const char *first, const char *last)
{
    return address > (greg_t)first && address <= (greg_t)last;
}

NO_CANARY void registers_settle(void *interrupted)
{
    ucontext_t *context = interrupted;
    greg_t *at = context->uc_mcontext.gregs;
    const greg_t next = at[REG_RIP];
    if (within(next, registers_enter_begin, registers_enter_commit)) {
        at[REG_RSP] = at[REG_RAX];
        at[REG_RIP] = (greg_t)registers_enter_begin;
    } else if (within(next, registers_leave_begin, registers_leave_commit)) {
        at[REG_RSP] = at[REG_RAX];
        at[REG_RIP] = (greg_t)registers_leave_begin;
    } else if (within(next, registers_enter_commit, registers_enter_end)) {
        complete(context, (const struct registers *)at[REG_RSI], at[REG_RDX]);
    } else if (within(next, registers_leave_commit, registers_leave_end)) {
        complete(context, (const struct registers *)at[REG_RDX], at[REG_RSI]);
    }
}

uint64_t context_stack(const void *context)
{
    return (uint64_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
}

uint64_t *context_mask(void *context)
{
    return (uint64_t *)(void *)&((ucontext_t *)context)->uc_sigmask;
}

/* The frame of a signal, as the kernel lays it out (struct ucontext, _fpstate). */
enum {
    CONTEXT_BYTES = offsetof(ucontext_t, uc_sigmask) + 8,
    LEGACY_STATE_BYTES = 512,
    RESERVED_AT = 464,
    STATE_ALIGNMENT = 64,
    RED_ZONE = 128,
    KEPT_NEAR = 65536,
};

static size_t state_bytes(const void *state)
{
    uint32_t words[2]; /* FP_XSTATE_MAGIC1, bytes of everything */
    memcpy(words, (const char *)state + RESERVED_AT, sizeof words);
    return words[0] == 0x46505853 ? words[1] : LEGACY_STATE_BYTES;
}

void *context_keep(void *interrupted)
{
    ucontext_t *context = interrupted;
    const uint64_t stack = context_stack(context), here = (uint64_t)context;
    if (here < stack && stack - here < KEPT_NEAR)
        return context;
    const size_t bytes = state_bytes(context->uc_mcontext.fpregs);
    uint64_t at = (stack - RED_ZONE - bytes) & ~(uint64_t)(STATE_ALIGNMENT - 1);
    memcpy((void *)at, context->uc_mcontext.fpregs, bytes);
    ucontext_t *kept = (ucontext_t *)((at - CONTEXT_BYTES) & ~(uint64_t)15);
    memcpy((void *)kept, context, CONTEXT_BYTES);
    kept->uc_mcontext.fpregs = (fpregset_t)at;
    return kept;
}

void context_resume(void *interrupted, uint64_t mask)
{
    ucontext_t *context = interrupted;
    *context_mask(context) = mask;
    raw_syscall(SYS_sigaltstack, 0, (long)&context->uc_stack, 0, 0, 0, 0);
    __asm__ volatile("mov %0, %%rsp\n"
                     "mov %1, %%eax\n"
                     "syscall\n"
                     "ud2"
                     :
                     : "r"(context), "i"(SYS_rt_sigreturn)
                     : "memory");
    __builtin_unreachable();
}

#else

const char *registers_obstacle(void)
{
    return "only x86-64 is supported";
}

#endif
