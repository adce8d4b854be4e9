// SPDX-License-Identifier: MIT
#include "lib/explain.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "upmu.h"

/* For the value of any later key glibc calls calloc(3), which a signal handler
 * must not: that is set when the words are asked for. */
#define KEYS_WITH_ROOM 32

/*
 * A page of its own, until the thread ends. An array here would be 1,024 of the
 * some 1,500 bytes that libc has for such variables of all libraries loaded
 * later, libgomp's too. By mmap(2): upmu_read() may fail in a signal handler.
 */
static _Thread_local char *explanation;
static _Thread_local bool is_lost;
static pthread_key_t key;
static atomic_flag is_tried = ATOMIC_FLAG_INIT;
static atomic_bool has_key;

static void free_text(void *text)
{
	/* First: a signal's handler may want words meanwhile. */
	explanation = NULL;
	munmap(text, UPMU_EXPLAIN_SIZE);
}

/* A plugin may have the library in itself, and threads outlive it: dlclose(),
 * too, runs what atexit(3) was given there. The words stay, here of one thread:
 * handlers that were there before tell why the program ends. */
static void forget_key(void)
{
	if (atomic_exchange(&has_key, false))
		pthread_key_delete(key);
}

/* Whoever opens a set has tried it, so that no signal handler does. */
static void make_key(void)
{
	if (!atomic_flag_test_and_set(&is_tried))
		has_key = !pthread_key_create(&key, free_text) &&
			  !atexit(forget_key);
}

static void keep_until_end(void)
{
	if (has_key && explanation)
		pthread_setspecific(key, explanation);
}

static void make_text(void)
{
	void *text = mmap(NULL, UPMU_EXPLAIN_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	make_key();
	if (text == MAP_FAILED)
		return;
	explanation = text;
	/* Without a key it stays when the thread ends. */
	if (key < KEYS_WITH_ROOM)
		keep_until_end();
}

static void append(const char *format, va_list args)
{
	size_t used = strlen(explanation);

	vsnprintf(explanation + used, UPMU_EXPLAIN_SIZE - used, format, args);
}

int upmu_explain_set(int error, const char *format, ...)
{
	va_list args;

	if (!explanation)
		make_text();
	is_lost = !explanation;
	if (is_lost)
		return error;
	explanation[0] = '\0';
	va_start(args, format);
	append(format, args);
	va_end(args);
	if (!explanation[0])
		snprintf(explanation, UPMU_EXPLAIN_SIZE, "%s",
			 strerror(-error));
	return error;
}

void upmu_explain_hint(const char *format, ...)
{
	static const char label[] = "\nhint: ";
	size_t used;
	va_list args;

	if (!explanation)
		return;
	used = strlen(explanation);
	snprintf(explanation + used, UPMU_EXPLAIN_SIZE - used, "%s", label);
	va_start(args, format);
	append(format, args);
	va_end(args);
}

void upmu_explain_clear(void)
{
	make_key();
	is_lost = false;
	if (explanation)
		explanation[0] = '\0';
}

/* A set that is opened at last may have been refused by a source before. */
int upmu_explain_done(int error)
{
	if (!error)
		upmu_explain_clear();
	keep_until_end();
	return error;
}

const char *upmu_explain(void)
{
	if (is_lost)
		return "out of memory: no room for the words";
	if (!explanation)
		return "";
	keep_until_end();
	return explanation;
}

const char *upmu_version(void)
{
	return UPMU_VERSION;
}
