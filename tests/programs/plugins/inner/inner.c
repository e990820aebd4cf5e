/* SPDX-License-Identifier: MIT */
/* This library is installed in a folder that is only in the RUNPATH of outer.c. */
__attribute__((visibility("default"))) int inner_answer(void);

int inner_answer(void)
{
    return 42;
}
