// SPDX-License-Identifier: MIT
/*
 * kmod_broken - somebody takes the PMU from under a lease, and its holder knows
 *
 * Loads and unloads the module itself. /proc/upmu_peek plays the somebody: a
 * module that puts a function of its own before the PMU driver's.
 */
#include <poll.h>

#include "tests/boards/kmod.h"

#define LOAD   "insmod /upmu/upmu.ko adopt=auto"
#define UNLOAD "rmmod upmu 2>/dev/null"
#define PEEK   "/proc/upmu_peek"

static short told_within(int fd, int ms)
{
	struct pollfd waits = { .fd = fd, .events = 0, .revents = 0 };

	return poll(&waits, 1, ms) == 1 ? waits.revents : 0;
}

/* What poll() says within the time in which the module must have looked. */
static short told(int fd)
{
	return told_within(fd, 60000);
}

/* And before anything made it look again. */
static short told_already(int fd)
{
	return told_within(fd, 0);
}

static void mode_tests(uint32_t mode, const char *name)
{
	uint32_t first = 0, second = 0;
	int fd = take(mode), later;

	printf("# %s\n", name);
	tap(fd >= 0 && info_of(fd).lease_state == UPMU_STATE_LIVE &&
		    file_has("/proc/upmu", " ok processes 1"),
	    "a_lease_begins_unbroken", "%d", fd);
	tap(!poke(PEEK, "0 wrap 1"), "somebody_replaces_the_drivers_functions",
	    NULL);
	tap(told(fd) == POLLERR, "the_holder_is_told_by_poll", NULL);
	tap(info_of(fd).lease_state == UPMU_STATE_BROKEN, "and_by_info", "%u",
	    info_of(fd).lease_state);
	tap(file_has("/proc/upmu", " broken processes 1"),
	    "and_all_by_the_state", NULL);
	tap(!system("dmesg | grep -q 'upmu: the .* lease of .* is broken: '"),
	    "and_the_log_says_whose_and_why", NULL);
	tap(try_cycles(&first) && try_cycles(&second) && first != second,
	    "the_holder_does_not_get_sigill", "%u %u", first, second);
	close(fd);
	tap(no_leases_soon() && !try_cycles(NULL), "it_ends_as_any_other",
	    NULL);
	tap(system(UNLOAD), "the_module_stays_while_its_functions_are_called",
	    NULL);
	later = take(mode);
	tap(later >= 0 && told_already(later) == POLLERR &&
		    info_of(later).lease_state == UPMU_STATE_BROKEN,
	    "a_lease_taken_then_is_broken_from_the_start", "%d", later);
	close(later);
	tap(!poke(PEEK, "0 wrap 0"), "somebody_puts_them_back", NULL);
	fd = take(mode);
	tap(fd >= 0 && info_of(fd).lease_state == UPMU_STATE_LIVE,
	    "a_lease_taken_after_that_is_unbroken", "%d", fd);
	close(fd);
	tap(!system(UNLOAD) && !system(LOAD),
	    "and_the_module_can_be_unloaded_again", NULL);
}

/* `open` has no holder to be told: the log is. */
static void open_tests(void)
{
	const char *path = "/sys/module/upmu/parameters/open";
	double end = seconds() + 60;
	bool logged = false;

	tap(!poke(path, "cycles") && !poke(PEEK, "0 wrap 1"),
	    "somebody_does_so_under_open_cycles", NULL);
	while (!logged && seconds() < end) {
		logged = !system("dmesg | grep -q 'open=cycles is broken'");
		usleep(100000);
	}
	tap(logged, "the_log_says_that_open_is_broken", NULL);
	tap(system(UNLOAD), "the_module_stays_then_too", NULL);
	tap(!poke(PEEK, "0 wrap 0") && !poke(path, "none") && !system(UNLOAD),
	    "until_they_are_put_back", NULL);
}

/* It came before the lease and leaves during it: ours is not called then. */
static void leaves_first_test(void)
{
	int fd, later;

	tap(!system(LOAD) && !poke(PEEK, "0 wrap 1"),
	    "somebody_was_there_before_the_lease", NULL);
	fd = take(UPMU_MODE_CYCLES);
	tap(info_of(fd).lease_state == UPMU_STATE_LIVE,
	    "which_wraps_what_it_finds", NULL);
	tap(!poke(PEEK, "0 wrap 0") && told(fd) == POLLERR,
	    "who_puts_back_the_drivers_functions_breaks_it", NULL);
	close(fd);
	later = take(UPMU_MODE_CYCLES);
	tap(info_of(later).lease_state == UPMU_STATE_LIVE,
	    "the_next_lease_is_unbroken", "%d", later);
	close(later);
	tap(!system(UNLOAD), "and_the_module_unloads", NULL);
}

int main(void)
{
	tap(!system("insmod /upmu/upmu_peek.ko") && !system(LOAD),
	    "the_modules_load", NULL);
	mode_tests(UPMU_MODE_CYCLES, "cycles");
	mode_tests(UPMU_MODE_RAW, "raw");
	open_tests();
	leaves_first_test();
	return tap_done();
}
