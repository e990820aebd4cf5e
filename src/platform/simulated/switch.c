/* SPDX-License-Identifier: MIT */
#include "platform/simulated/switch.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
enum { SAVED_BYTES = 48 };
__asm__(".text\n"
        ".globl switch_stack\n"
        ".hidden switch_stack\n"
        ".type switch_stack, @function\n"
        "switch_stack:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size switch_stack, .-switch_stack\n");

void *new_stack(void *end, void (*body)(void))
{
    char *entry = (char *)((uintptr_t)end & ~(uintptr_t)15) - 16;
    memset(entry - SAVED_BYTES, 0, SAVED_BYTES + 16);
    memcpy(entry, &body, sizeof body); /* the return address of switch_stack */
    return entry - SAVED_BYTES;
}

#elif defined(__aarch64__)
enum { SAVED_BYTES = 160, LINK_OFFSET = 88 };
__asm__(".text\n"
        ".globl switch_stack\n"
        ".hidden switch_stack\n"
        ".type switch_stack, %function\n"
        "switch_stack:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size switch_stack, .-switch_stack\n");

void *new_stack(void *end, void (*body)(void))
{
    char *saved = (char *)((uintptr_t)end & ~(uintptr_t)15) - SAVED_BYTES;
    memset(saved, 0, SAVED_BYTES);
    memcpy(saved + LINK_OFFSET, &body, sizeof body);
    return saved;
}
#else
#error "Hasp supports x86-64 and aarch64; port src/platform/simulated/switch.c"
#endif
