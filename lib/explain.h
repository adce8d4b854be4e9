/* SPDX-License-Identifier: MIT */
/*
 * explain.h - the words behind the last error of this thread
 */
#ifndef UPMU_LIB_EXPLAIN_H
#define UPMU_LIB_EXPLAIN_H

#include <stdarg.h>
#include <stddef.h>

#define UPMU_EXPLAIN_SIZE 1024

/**
 * Replace this thread's explanation. One sentence without a full stop; what
 * to do about it goes to upmu_explain_hint(). Returns @error, so that a
 * caller writes: return upmu_explain_set(-EINVAL, "...").
 */
int upmu_explain_set(int error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** Add a line "hint: ..." with the exact command. */
void upmu_explain_hint(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/** Forget: a call that then fails without a word gets strerror's. */
void upmu_explain_clear(void);

/**
 * At the end of a call that no signal handler makes: 0 is without words, and
 * they end with the thread. Returns @error.
 */
int upmu_explain_done(int error);

#endif
