// SPDX-License-Identifier: MIT
/*
 * Threads that end with sets open, forks, executed programs, dlclose(): built
 * with sanitizers, or run under valgrind, these tests say that nothing leaks.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "said.h"

#define THREADS 8

/* perf's software clock where this system permits it, else the model. */
static struct upmu_options options = { .size = sizeof(options) };
static const char *events;

static int choose_source(void **state)
{
	struct upmu *set;

	(void)state;
	options.source = "read";
	events = "task-clock,page-faults";
	if (!upmu_open(&set, events, &options)) {
		upmu_close(set);
		return 0;
	}
	print_message("# model instead of perf: %s\n", upmu_explain());
	options.source = "model";
	events = "r1,r2";
	return 0;
}

static void *open_and_end(void *out)
{
	upmu_open(out, events, &options);
	return NULL;
}

static void sets_of_ended_threads_are_read_and_closed(void **state)
{
	struct upmu *sets[THREADS] = { NULL };
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, open_and_end, &sets[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++) {
		struct upmu_value values[2];

		assert_non_null(sets[i]);
		assert_int_equal(upmu_read(sets[i], values, 2), 0);
		upmu_close(sets[i]);
	}
}

static void *open_and_close(void *failures)
{
	for (int i = 0; i < 50; i++) {
		struct upmu_value values[2];
		struct upmu *set;

		if (upmu_open(&set, events, &options) ||
		    upmu_read(set, values, 2) ||
		    upmu_count(upmu_counter_at(set, 0)) == UPMU_NO_COUNT)
			++*(int *)failures;
		else
			upmu_close(set);
	}
	return NULL;
}

static void threads_open_and_close_at_the_same_time(void **state)
{
	pthread_t threads[THREADS];
	int failures[THREADS] = { 0 };

	(void)state;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, open_and_close, &failures[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(failures[i], 0);
	}
}

static void *fail_and_explain(void *said)
{
	struct upmu *set;

	upmu_open(&set, "no_such_event", &options);
	*(int *)said = !!strstr(upmu_explain(), "no_such_event");
	return NULL;
}

static int wait_for(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	return status;
}

static void *fail_and_tell_where(void *unused)
{
	struct upmu *set;

	(void)unused;
	upmu_open(&set, "no_such_event", &options);
	return (void *)(uintptr_t)upmu_explain();
}

static void an_explanation_goes_with_its_thread(void **state)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	unsigned char resident;
	pthread_t thread;
	void *words;

	(void)state;
	pthread_create(&thread, NULL, fail_and_tell_where, NULL);
	pthread_join(thread, &words);
	assert_non_null(words);
	words = (void *)((uintptr_t)words & ~(page - 1));
	assert_int_equal(mincore(words, page, &resident), -1);
	assert_int_equal(errno, ENOMEM); /* nothing is mapped there */
}

/* Sanitizers do not live without memory. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define IS_NOT_LIMITED 77

static void *fail_without_memory(void *unused)
{
	static const struct rlimit none;
	struct upmu *set;

	(void)unused;
	setrlimit(RLIMIT_AS, &none);
	if (mmap(NULL, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	    MAP_FAILED)
		_exit(IS_NOT_LIMITED);
	upmu_open(&set, "no_such_event", &options);
	_exit(!strstr(upmu_explain(), "out of memory"));
}

static void without_memory_that_is_the_explanation(void **state)
{
	pthread_t thread;
	pid_t child = fork();
	int status;

	(void)state;
	if (!child) {
		pthread_create(&thread, NULL, fail_without_memory, NULL);
		pthread_join(thread, NULL);
		_exit(2);
	}
	status = wait_for(child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == IS_NOT_LIMITED) {
		print_message("# skip: qemu-user takes no RLIMIT_AS\n");
		skip();
	}
	assert_int_equal(status, 0);
}
#endif

static void explanations_are_each_threads_own(void **state)
{
	struct upmu *set;
	pthread_t thread;
	int said = 0;

	(void)state;
	assert_int_equal(upmu_open(&set, "another_event", &options), -ENOENT);
	pthread_create(&thread, NULL, fail_and_explain, &said);
	pthread_join(thread, NULL);
	assert_true(said);
	assert_said("another_event");
}

static void a_child_reads_closes_and_opens(void **state)
{
	struct upmu_value values[2];
	struct upmu *set, *own;
	pid_t child;

	(void)state;
	assert_int_equal(upmu_open(&set, events, &options), 0);
	child = fork();
	if (!child) {
		if (upmu_read(set, values, 2))
			_exit(1);
		upmu_close(set);
		if (upmu_open(&own, events, &options))
			_exit(2);
		if (upmu_read(own, values, 2))
			_exit(3);
		upmu_close(own);
		_exit(0);
	}
	assert_int_equal(wait_for(child), 0);
	assert_int_equal(upmu_read(set, values, 2), 0);
	upmu_close(set);
}

static void *fork_often(void *failures)
{
	for (int i = 0; i < 20; i++) {
		pid_t child = fork();

		if (!child) {
			struct upmu *set;

			_exit(upmu_open(&set, events, &options) != 0);
		}
		*(int *)failures += wait_for(child) != 0;
	}
	return NULL;
}

/* A lock that another thread holds at the fork must not stay held. */
static void forks_beside_threads_that_open_do_not_hang(void **state)
{
	pthread_t opener, forker;
	int failures[2] = { 0 };

	(void)state;
	pthread_create(&opener, NULL, open_and_close, &failures[0]);
	pthread_create(&forker, NULL, fork_often, &failures[1]);
	pthread_join(opener, NULL);
	pthread_join(forker, NULL);
	assert_int_equal(failures[0] + failures[1], 0);
}

static void *open_until_cancelled(void *is_going)
{
	for (;;) {
		struct upmu *set;

		pthread_testcancel();
		if (!upmu_open(&set, events, &options))
			upmu_close(set);
		atomic_store((atomic_bool *)is_going, true);
	}
	return NULL;
}

static int lowest_free_descriptor(void)
{
	int fd = dup(STDOUT_FILENO);

	close(fd);
	return fd;
}

/* It holds no lock and leaves no descriptor, wherever it was. */
static void a_thread_is_cancelled_between_sets_only(void **state)
{
	int before = lowest_free_descriptor(), failures = 0;

	(void)state;
	for (int i = 0; i < 20; i++) {
		atomic_bool is_going = false;
		pthread_t thread;

		pthread_create(&thread, NULL, open_until_cancelled, &is_going);
		while (!atomic_load(&is_going))
			sched_yield();
		pthread_cancel(thread);
		pthread_join(thread, NULL);
		assert_int_equal(lowest_free_descriptor(), before);
	}
	fork_often(&failures);
	assert_int_equal(failures, 0);
}

#define SIGNALS 50

static struct upmu *interrupted;
static atomic_int signals, wrong;

/* Both of the thread that is interrupted, perhaps in the middle of reading. */
static void read_in_a_handler(int signal)
{
	struct upmu_value before[2], after[2];
	uint64_t counts[2], count;

	(void)signal;
	if (upmu_read(interrupted, before, 2) ||
	    upmu_count_all(interrupted, counts, 2)) {
		wrong++;
		return;
	}
	count = upmu_count(upmu_counter_at(interrupted, 1));
	if (upmu_read(interrupted, after, 2) || before[1].count > counts[1] ||
	    counts[1] > count || count > after[1].count)
		wrong++;
	signals++;
}

static void read_until_signal(int n)
{
	const struct itimerval soon = { .it_value = { 0, 300 } };
	uint64_t last = 0;

	setitimer(ITIMER_REAL, &soon, NULL);
	while (signals + wrong < n) {
		uint64_t count = upmu_count(upmu_counter_at(interrupted, 1));
		struct upmu_value values[2];

		wrong += upmu_read(interrupted, values, 2) != 0;
		wrong += count < last || values[1].count < count;
		last = count;
	}
}

static void a_signal_handler_reads_what_it_interrupts(void **state)
{
	struct sigaction before, reading = { .sa_flags = SA_RESTART };

	(void)state;
	assert_int_equal(upmu_open(&interrupted, events, &options), 0);
	reading.sa_handler = read_in_a_handler;
	sigaction(SIGALRM, &reading, &before);
	for (int i = 1; i <= SIGNALS; i++)
		read_until_signal(i);
	sigaction(SIGALRM, &before, NULL);
	assert_int_equal(wrong, 0);
	upmu_close(interrupted);
}

static void a_program_is_executed_with_a_set_open(void **state)
{
	struct upmu *set;
	pid_t child;

	(void)state;
	assert_int_equal(upmu_open(&set, events, &options), 0);
	child = fork();
	if (!child) {
		execlp("true", "true", NULL);
		_exit(1);
	}
	assert_int_equal(wait_for(child), 0);
	upmu_close(set);
}

#ifdef LIBRARY
static const char *to_load;
static pthread_barrier_t meeting;

static struct {
	int (*open_region)(struct upmu_region **out, const char *name);
	int (*begin)(struct upmu_region *region);
	int (*end)(struct upmu_region *region);
	int (*measure)(void (*fn)(void *arg), void *arg,
		       const struct upmu_measure_options *how,
		       struct upmu_measurement *results, size_t n);
} loaded;

static void *load(void)
{
	void *library = dlopen(to_load, RTLD_NOW);

	if (!library)
		_exit(10);
	*(void **)&loaded.open_region = dlsym(library, "upmu_region_open");
	*(void **)&loaded.begin = dlsym(library, "upmu_region_begin");
	*(void **)&loaded.end = dlsym(library, "upmu_region_end");
	*(void **)&loaded.measure = dlsym(library, "upmu_measure");
	return library;
}

static void *use_a_region(void *unused)
{
	struct upmu_region *region;

	(void)unused;
	return (void *)(intptr_t)(loaded.open_region(&region, "r") ||
				  loaded.begin(region) || loaded.end(region));
}

static _Thread_local jmp_buf out_of_it;

static void jump_out(void *unused)
{
	(void)unused;
	longjmp(out_of_it, 1);
}

/* It ends after the library was closed. */
static void *use_and_outlive(void *unused)
{
	struct upmu_measurement result = { .size = sizeof(result) }, no = { 0 };
	void *failed = use_a_region(unused);

	/* The words for it are the thread's, until it ends. */
	if (loaded.measure(jump_out, NULL, NULL, &no, 1) != -EINVAL)
		_exit(14);

	if (!setjmp(out_of_it))
		loaded.measure(jump_out, NULL, NULL, &result, 1);
	pthread_barrier_wait(&meeting);
	pthread_barrier_wait(&meeting);
	return failed;
}

static void outlive(void)
{
	pthread_t thread;
	void *library = load(), *failed = NULL;

	pthread_barrier_init(&meeting, NULL, 2);
	pthread_create(&thread, NULL, use_and_outlive, NULL);
	pthread_barrier_wait(&meeting);
	if (dlclose(library))
		_exit(12);
	pthread_barrier_wait(&meeting);
	pthread_join(thread, &failed);
	if (failed)
		_exit(13);
}

/* The thread ends, and the process exits, after the library was closed. */
static void load_use_and_unload(void)
{
	pthread_t thread;
	void *failed = NULL;

	for (int i = 0; i < 20; i++) {
		void *library = load();

		pthread_create(&thread, NULL, use_a_region, NULL);
		pthread_join(thread, &failed);
		if (failed || use_a_region(NULL) || dlclose(library))
			_exit(11);
	}
	outlive();
	if (fork() == 0)
		_exit(0);
	exit(0);
}

static void assert_unloads(const char *library)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child) {
		setenv("UPMU_SOURCE", "clock", 1);
		setenv("UPMU_EVENTS", "cycles", 1);
		setenv("UPMU_REPORT", "none", 1);
		to_load = library;
		load_use_and_unload();
	}
	assert_int_equal(wait_for(child), 0);
}

static void the_library_is_loaded_and_unloaded(void **state)
{
	(void)state;
	assert_unloads(LIBRARY);
}

#ifdef PLUGIN
static void a_plugin_with_the_library_in_itself_is_unloaded(void **state)
{
	(void)state;
	assert_unloads(PLUGIN);
}

static void copy_plugin(const char *name)
{
	int from = open(PLUGIN, O_RDONLY | O_CLOEXEC);
	int to = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	struct stat plugin;

	assert_int_equal(fstat(from, &plugin), 0);
	assert_int_equal(sendfile(to, from, NULL, (size_t)plugin.st_size),
			 plugin.st_size);
	close(from);
	close(to);
}

/* libc has little room for the thread-local variables of what comes later. */
static void many_plugins_with_the_library_in_themselves_are_loaded(void **state)
{
	char folder[] = "/tmp/upmu-plugins.XXXXXX", name[64];
	void *plugin[16];

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (int n = 0; n < 16; n++) {
		snprintf(name, sizeof(name), "%s/%d.so", folder, n);
		copy_plugin(name);
		plugin[n] = dlopen(name, RTLD_NOW);
		if (!plugin[n])
			print_error("plugin %d: %s\n", n, dlerror());
		unlink(name);
	}
	rmdir(folder);
	for (int n = 0; n < 16; n++) {
		assert_non_null(plugin[n]);
		dlclose(plugin[n]);
	}
}
#endif
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_of_ended_threads_are_read_and_closed),
		cmocka_unit_test(threads_open_and_close_at_the_same_time),
		cmocka_unit_test(explanations_are_each_threads_own),
		cmocka_unit_test(an_explanation_goes_with_its_thread),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
		cmocka_unit_test(without_memory_that_is_the_explanation),
#endif
		cmocka_unit_test(a_child_reads_closes_and_opens),
		cmocka_unit_test(forks_beside_threads_that_open_do_not_hang),
		cmocka_unit_test(a_thread_is_cancelled_between_sets_only),
		cmocka_unit_test(a_signal_handler_reads_what_it_interrupts),
		cmocka_unit_test(a_program_is_executed_with_a_set_open),
#ifdef LIBRARY
		cmocka_unit_test(the_library_is_loaded_and_unloaded),
#endif
#ifdef PLUGIN
		cmocka_unit_test(
			a_plugin_with_the_library_in_itself_is_unloaded),
		cmocka_unit_test(
			many_plugins_with_the_library_in_themselves_are_loaded),
#endif
	};

	return cmocka_run_group_tests_name("threads", tests, choose_source,
					   NULL);
}
