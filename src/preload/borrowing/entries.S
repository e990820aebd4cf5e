/* SPDX-License-Identifier: MIT */
/*
 * The functions of functions.def. Each jumps to the C library's function with all
 * arguments as they were; if the caller is in a borrowed stretch, it hands that back
 * first. They jump because some functions return twice, and some take any number of
 * arguments. r11 may be changed by any call.
 */
        .text

/* Calls borrow_before(number), which is on the stack, and keeps all registers that may
 * hold arguments. */
        .type   borrow_enter_kernel, @function
        .p2align 4
borrow_enter_kernel:
        .cfi_startproc
        .cfi_def_cfa_offset 16
        push    %rdi
        push    %rsi
        push    %rdx
        push    %rcx
        push    %r8
        push    %r9
        push    %rax
        push    %r10
        sub     $128, %rsp
        .cfi_def_cfa_offset 208
        movaps  %xmm0, (%rsp)
        movaps  %xmm1, 16(%rsp)
        movaps  %xmm2, 32(%rsp)
        movaps  %xmm3, 48(%rsp)
        movaps  %xmm4, 64(%rsp)
        movaps  %xmm5, 80(%rsp)
        movaps  %xmm6, 96(%rsp)
        movaps  %xmm7, 112(%rsp)
        mov     192(%rsp), %edi
        call    borrow_before
        mov     %rax, %r11
        movaps  (%rsp), %xmm0
        movaps  16(%rsp), %xmm1
        movaps  32(%rsp), %xmm2
        movaps  48(%rsp), %xmm3
        movaps  64(%rsp), %xmm4
        movaps  80(%rsp), %xmm5
        movaps  96(%rsp), %xmm6
        movaps  112(%rsp), %xmm7
        add     $128, %rsp
        .cfi_def_cfa_offset 80
        pop     %r10
        pop     %rax
        pop     %r9
        pop     %r8
        pop     %rcx
        pop     %rdx
        pop     %rsi
        pop     %rdi
        add     $8, %rsp
        .cfi_def_cfa_offset 8
        jmp     *%r11
        .cfi_endproc
        .size   borrow_enter_kernel, . - borrow_enter_kernel

        .set    borrow_number, 0

        .macro  function name
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        endbr64
        mov     borrow_self@gottpoff(%rip), %r11
        mov     %fs:(%r11), %r11
        test    %r11, %r11
        jz      1f
        cmpq    $0, 16(%r11)
        jnz     2f
1:      mov     borrow_real + 8 * borrow_number(%rip), %r11
        test    %r11, %r11
        jz      2f
        jmp     *%r11
2:      push    $borrow_number
        .cfi_adjust_cfa_offset 8
        jmp     borrow_enter_kernel
        .cfi_endproc
        .size   \name, . - \name
        .set    borrow_number, borrow_number + 1
        .endm

#define HAND_BACK(name) function name
#define STOP(name) function name
#include "preload/borrowing/functions.def"

        .section .note.GNU-stack, "", @progbits
