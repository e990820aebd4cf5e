/* SPDX-License-Identifier: MIT */
/* Installed in a folder that only outer.c's RUNPATH names. */
__attribute__((visibility("default"))) int inner_answer(void);

int inner_answer(void)
{
    return 42;
}
