/* SPDX-License-Identifier: MIT */
/*
 * What gcov loses: a process that ends by _exit(), as the children of a test
 * do, or by a signal that it raises, writes none of its counts. Linked into
 * every program of tests/mutate's counted build.
 */
void __gcov_dump(void);
void __gcov_reset(void);
void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));
int __real_raise(int signal);
int __wrap_raise(int signal);

/* Reset: a child that shares its parent's memory leaves it counting. */
static void write_counts(void)
{
	__gcov_dump();
	__gcov_reset();
}

void __wrap__exit(int status)
{
	write_counts();
	__real__exit(status);
}

int __wrap_raise(int signal)
{
	write_counts();
	return __real_raise(signal);
}
