// SPDX-License-Identifier: MIT
/* Leases: each refusal of upmu.ko with its own errno and words. */
#include "fake_kernel.h"

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/module/lease.h"
#include "lib/sys.h"
#include "said.h"

static int lease;

static int boot_pi2(void **state)
{
	(void)state;
	fake_boot("pi2");
	lease = -77;
	return 0;
}

static int nothing_is_left(void **state)
{
	(void)state;
	assert_int_equal(fake_open_fds(), 0);
	assert_int_equal(fake.live_leases, 0);
	return 0;
}

static void assert_refused(uint32_t mode, uint32_t flags, int error,
			   const char *words)
{
	assert_int_equal(upmu_lease_take(&lease, mode, flags), error);
	assert_int_equal(lease, -77);
	assert_said(words);
}

static void a_lease_is_taken_with_mode_and_flags_and_given_back(void **state)
{
	(void)state;
	assert_int_equal(upmu_lease_take(&lease, UPMU_MODE_CYCLES,
					 UPMU_LEASE_CHILDREN | UPMU_LEASE_EXEC),
			 0);
	assert_int_equal(fake.last_lease.mode, UPMU_MODE_CYCLES);
	assert_int_equal(fake.last_lease.flags,
			 UPMU_LEASE_CHILDREN | UPMU_LEASE_EXEC);
	assert_int_equal(fake.last_lease.size, sizeof(struct upmu_lease));
	assert_int_equal(fake.last_lease.reserved, 0);
	assert_int_equal(upmu_lease_check(lease), 0);
	upmu_lease_release(lease);
}

static void no_module_is_enxio(void **state)
{
	(void)state;
	fake.device_error = -ENOENT;
	assert_refused(UPMU_MODE_COUNT, 0, -ENXIO,
		       "the module upmu is not loaded");
	assert_said("hint: sudo modprobe upmu");
}

static void no_permission_is_eperm_and_names_the_group(void **state)
{
	(void)state;
	fake.device_error = -EACCES;
	assert_refused(UPMU_MODE_COUNT, 0, -EPERM, "not in the group upmu");
	assert_said("hint: sudo usermod -aG upmu");
}

static void a_module_of_another_abi_is_eproto(void **state)
{
	(void)state;
	fake.info_error = -ENOTTY;
	assert_refused(UPMU_MODE_COUNT, 0, -EPROTO, "another ABI");
	fake.info_error = 0;
	fake.info.abi = 0;
	assert_refused(UPMU_MODE_COUNT, 0, -EPROTO, "another ABI");
	assert_said("modprobe -r upmu");
}

static void a_newer_module_serves(void **state)
{
	(void)state;
	fake.info.abi = UPMU_ABI + 1;
	assert_int_equal(upmu_lease_take(&lease, UPMU_MODE_COUNT, 0), 0);
	upmu_lease_release(lease);
}

static void a_holder_is_named(void **state)
{
	(void)state;
	fake.lease_error = -EBUSY;
	fake.info.holder_pid = 4711;
	fake.info.holder_mode = UPMU_MODE_RAW;
	strcpy(fake.info.holder_comm, "oldbench");
	assert_refused(UPMU_MODE_COUNT, 0, -EBUSY,
		       "process 4711 (oldbench) holds a RAW lease");
	assert_said("hint: cat /proc/upmu");
}

static void who_is_not_in_the_way_of_cycles_is_not_named(void **state)
{
	(void)state;
	fake.lease_error = -EBUSY;
	fake.info.holder_pid = 4711;
	fake.info.holder_mode = UPMU_MODE_COUNT;
	assert_refused(UPMU_MODE_CYCLES, 0, -EBUSY,
		       "the mode CYCLES cannot be had: a perf event holds");
	assert_said("hint: cat /proc/upmu");
}

static void the_parameter_open_is_named_where_it_is_in_the_way(void **state)
{
	(void)state;
	fake.lease_error = -EBUSY;
	fake.info.open = UPMU_OPEN_ALL;
	assert_refused(UPMU_MODE_RAW, 0, -EBUSY, "parameter open is 'all'");
	assert_said("hint: echo none | sudo tee");
}

static void a_perf_event_in_the_way_is_ebusy(void **state)
{
	(void)state;
	fake.lease_error = -EBUSY;
	assert_refused(UPMU_MODE_RAW, 0, -EBUSY, "a perf event holds");
}

static void raw_for_root_names_the_parameter(void **state)
{
	(void)state;
	fake.lease_error = -EPERM;
	assert_refused(UPMU_MODE_RAW, 0, -EPERM, "parameter raw is 'root'");
	assert_said("echo group | sudo tee");
}

static void a_locked_down_kernel_is_eperm(void **state)
{
	(void)state;
	fake.lease_error = -EPERM;
	fake.info.flags = UPMU_INFO_RAW_GROUP;
	assert_refused(UPMU_MODE_RAW, 0, -EPERM, "locked down");
	assert_refused(UPMU_MODE_COUNT, 0, -EPERM, "locked down");
}

static void what_a_machine_cannot_grant_tells_why(void **state)
{
	static const struct {
		uint32_t reason;
		const char *words;
	} rows[] = {
		{ UPMU_REASON_NO_PMU, "no PMU to be seen" },
		{ UPMU_REASON_NO_PERF_PMU, "adopt=auto" },
		{ UPMU_REASON_USER_ACCESS,
		  "hint: sudo sysctl kernel.perf_user_access=1" },
		{ UPMU_REASON_RAW_UNSAFE,
		  "perf or KVM takes the permission back" },
		{ UPMU_REASON_RAW_UNSAFE + 1, "does not say why" },
		{ 99, "does not say why" },
	};

	(void)state;
	fake.lease_error = -EOPNOTSUPP;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		fake.info.reason = rows[i].reason;
		assert_refused(UPMU_MODE_COUNT, 0, -EOPNOTSUPP, rows[i].words);
	}
}

static void unknown_modes_and_flags_are_einval(void **state)
{
	(void)state;
	assert_refused(0, 0, -EINVAL, "number 0");
	assert_refused(4, 0, -EINVAL, "number 4");
	fake.lease_error = -EINVAL;
	assert_refused(UPMU_MODE_COUNT, 1u << 9, -EINVAL, "a flag asked for");
}

static void no_memory_and_no_descriptors_pass_through(void **state)
{
	(void)state;
	fake.lease_error = -ENOMEM;
	assert_refused(UPMU_MODE_COUNT, 0, -ENOMEM, "no COUNT lease");
	/* The module's own, which no ulimit changes. */
	fake.lease_error = -EMFILE;
	assert_refused(UPMU_MODE_COUNT, 0, -EMFILE, "as many as may be (64)");
	fake.device_error = -EMFILE;
	assert_refused(UPMU_MODE_COUNT, 0, -EMFILE, "cannot open /dev/upmu");
	fake.device_error = -ENFILE;
	assert_refused(UPMU_MODE_COUNT, 0, -ENFILE, "cannot open /dev/upmu");
}

static void a_broken_lease_is_estale(void **state)
{
	(void)state;
	assert_int_equal(upmu_lease_take(&lease, UPMU_MODE_RAW, 0), 0);
	fake.info.lease_state = UPMU_STATE_BROKEN;
	assert_int_equal(upmu_lease_check(lease), -ESTALE);
	assert_said("the lease was broken");
	fake.info.lease_state = UPMU_STATE_ENDED;
	assert_int_equal(upmu_lease_check(lease), -ESTALE);
	assert_said("the lease has ended");
	upmu_lease_release(lease);
}

static void what_is_no_lease_is_ebadf(void **state)
{
	(void)state;
	assert_int_equal(upmu_lease_check(-1), -EBADF);
	assert_said("descriptor -1 is no lease");
	upmu_lease_release(-1);
}

#define LEASE_TEST(name) \
	cmocka_unit_test_setup_teardown(name, boot_pi2, nothing_is_left)

/* Asked before it is taken, as taking a RAW lease stops perf. */
static void what_would_be_granted_is_told_and_nothing_is_taken(void **state)
{
	struct upmu_info info = {
		.modes = 1u << UPMU_MODE_COUNT | 1u << UPMU_MODE_RAW,
		.reason = UPMU_REASON_NO_PMU,
		.flags = UPMU_INFO_RAW_GROUP,
	};

	(void)state;
	assert_int_equal(upmu_lease_would(&info, UPMU_MODE_RAW), 0);
	assert_said("the module upmu grants the mode RAW");
	assert_int_equal(upmu_lease_would(&info, UPMU_MODE_CYCLES),
			 -EOPNOTSUPP);
	assert_said("there is no PMU to be seen here");
	info.leases = 1;
	info.holder_pid = 42;
	info.holder_mode = UPMU_MODE_COUNT;
	assert_int_equal(upmu_lease_would(&info, UPMU_MODE_RAW), -EBUSY);
	assert_said("process 42");
	assert_int_equal(upmu_lease_would(&info, UPMU_MODE_COUNT), 0);
	info.open = UPMU_OPEN_ALL;
	assert_int_equal(upmu_lease_would(&info, UPMU_MODE_RAW), 0);
	assert_said("parameter open is 'all'");
}

/* As root of a container: 0, a line's number, or 77 where it may not. */
static int ask_without_the_capability(void)
{
	const struct upmu_info info = { .modes = 1u << UPMU_MODE_RAW };
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (geteuid())
		return 77;
	if (syscall(SYS_capset, &head, none))
		return __LINE__;
	if (upmu_lease_would(&info, UPMU_MODE_RAW) != -EPERM)
		return __LINE__;
	return strstr(upmu_explain(), "--cap-add PERFMON") ? 0 : __LINE__;
}

static void root_without_the_capability_is_not_promised_raw(void **state)
{
	pid_t child;
	int status;

	(void)state;
	fflush(NULL);
	child = fork();
	if (!child)
		_exit(ask_without_the_capability() & 0xff);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WEXITSTATUS(status) == 77) {
		puts("# only root has capabilities to lose");
		skip();
	}
	assert_int_equal(status, 0);
}

/* Which has all capabilities there. */
static void nor_is_the_root_of_a_user_namespace(void **state)
{
	const struct upmu_info info = { .modes = 1u << UPMU_MODE_RAW };

	(void)state;
	fake_write("/proc/self/uid_map", "0 100000 65536\n");
	assert_int_equal(upmu_lease_would(&info, UPMU_MODE_RAW), -EPERM);
	assert_said("--cap-add PERFMON");
	/* Of `unshare -U`, until somebody maps its users. */
	fake_write("/proc/self/uid_map", "");
	assert_int_equal(upmu_lease_would(&info, UPMU_MODE_RAW), -EPERM);
	/* As Linux writes it where there is no other namespace. */
	fake_write("/proc/self/uid_map", "         0          0 4294967295\n");
	assert_int_equal(upmu_lease_would(&info, UPMU_MODE_RAW),
			 upmu_sys_has_perfmon() ? 0 : -EPERM);
	fake_remove("/proc/self/uid_map");
	assert_int_equal(upmu_lease_would(&info, UPMU_MODE_RAW),
			 upmu_sys_has_perfmon() ? 0 : -EPERM);
}

/* ---- the whole texts: of the two that are there none has another's ------- */

#define CANNOT "the module cannot grant the mode CYCLES on this machine: "

static void reasons_have_a_hint_where_a_command_helps(void **state)
{
	static const char *const texts[] = {
		CANNOT "the module does not say why",
		CANNOT "there is no PMU to be seen here",
		CANNOT "perf has no PMU for these CPUs\nhint: sudo modprobe -r "
		       "upmu && sudo modprobe upmu adopt=auto",
		CANNOT "counting goes by kernel.perf_user_access here\nhint: "
		       "sudo sysctl kernel.perf_user_access=1",
		CANNOT "perf or KVM takes the permission back here",
		CANNOT "the module does not say why",
	};

	(void)state;
	fake.lease_error = -EOPNOTSUPP;
	for (uint32_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		fake.info.reason = i;
		assert_int_equal(upmu_lease_take(&lease, UPMU_MODE_CYCLES, 0),
				 -EOPNOTSUPP);
		assert_string_equal(upmu_explain(), texts[i]);
	}
}

static void whoever_is_in_the_way_is_named_with_what_helps(void **state)
{
	static const struct {
		int32_t pid;
		uint32_t open, mode;
		const char *text;
	} rows[] = {
		{ 0, UPMU_OPEN_NONE, UPMU_MODE_COUNT,
		  "process 0 (bench) of another PID namespace holds a COUNT "
		  "lease\nhint: cat /proc/upmu" },
		{ 7, UPMU_OPEN_NONE, UPMU_MODE_COUNT,
		  "process 7 (bench) holds a COUNT lease\n"
		  "hint: cat /proc/upmu" },
		{ 7, UPMU_OPEN_ALL, UPMU_MODE_CYCLES,
		  "process 7 (bench) holds a CYCLES lease\n"
		  "hint: cat /proc/upmu" },
		{ 7, UPMU_OPEN_NONE, UPMU_MODE_RAW + 1,
		  "process 7 (bench) holds a ? lease\nhint: cat /proc/upmu" },
		{ 0, UPMU_OPEN_CYCLES, 0,
		  "the module's parameter open is 'cycles'\nhint: echo none | "
		  "sudo tee /sys/module/upmu/parameters/open" },
		{ 0, UPMU_OPEN_ALL, 0,
		  "the module's parameter open is 'all'\nhint: echo none | "
		  "sudo tee /sys/module/upmu/parameters/open" },
		{ 0, UPMU_OPEN_NONE, 0,
		  "a perf event holds a counter\nhint: cat /proc/upmu" },
	};
	char text[256];

	(void)state;
	fake.lease_error = -EBUSY;
	strcpy(fake.info.holder_comm, "bench");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		fake.info.holder_pid = rows[i].pid;
		fake.info.open = rows[i].open;
		fake.info.holder_mode = rows[i].mode;
		assert_int_equal(upmu_lease_take(&lease, UPMU_MODE_RAW, 0),
				 -EBUSY);
		snprintf(text, sizeof(text), "the mode RAW cannot be had: %s",
			 rows[i].text);
		assert_string_equal(upmu_explain(), text);
	}
}

static void each_error_of_the_device_is_told_as_what_it_means(void **state)
{
	static const struct {
		int device, lease, told;
		const char *words;
	} rows[] = {
		{ -ENXIO, 0, -ENXIO, "hint: sudo modprobe upmu" },
		{ -ENODEV, 0, -ENXIO, "hint: sudo modprobe upmu" },
		{ -EPERM, 0, -EPERM, "not in the group upmu" },
		{ -EIO, 0, -EIO, "cannot open /dev/upmu: Input/output error" },
		{ 0, -EACCES, -EPERM, "the kernel is locked down" },
		{ 0, -ENOTTY, -EPROTO, "another ABI" },
		{ 0, -E2BIG, -EPROTO, "another ABI" },
		{ 0, -EIO, -EIO, "no CYCLES lease: Input/output error" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		fake.device_error = rows[i].device;
		fake.lease_error = rows[i].lease;
		assert_refused(UPMU_MODE_CYCLES, 0, rows[i].told,
			       rows[i].words);
		assert_int_equal(fake_open_fds(), 0);
	}
}

/* What is asked for the reason may fail as well. */
static void a_refusal_is_told_where_its_reason_cannot_be_asked(void **state)
{
	(void)state;
	fake.info.reason = UPMU_REASON_NO_PMU;
	fake.lease_error = -EOPNOTSUPP;
	/* The first asks for the ABI, the second for the lease. */
	fake.failure = (struct fake_failure){ .call = FAKE_IOCTL,
					      .at = 3,
					      .error = -EIO };
	assert_refused(UPMU_MODE_COUNT, 0, -EOPNOTSUPP, "does not say why");
	fake.failure = (struct fake_failure){ 0 };
}

static void what_a_module_does_not_fill_is_0(void **state)
{
	struct upmu_info info;
	int fd = upmu_device_open(&info);

	(void)state;
	memset(&info, 0xff, sizeof(info));
	fake.info.size = UPMU_INFO_SIZE_1;
	assert_int_equal(upmu_device_info(fd, &info), 0);
	assert_int_equal(info.size, UPMU_INFO_SIZE_1);
	assert_int_equal(info.lease_written, 0);
	assert_int_equal(info.reserved, 0);
	upmu_lease_release(fd);
}

static void a_module_whose_info_is_shorter_is_older(void **state)
{
	(void)state;
	fake.info.size = UPMU_INFO_SIZE_1 - 1;
	assert_refused(UPMU_MODE_COUNT, 0, -EPROTO, "it is older");
	fake.info.size = UPMU_INFO_SIZE_1;
	assert_int_equal(upmu_lease_take(&lease, UPMU_MODE_COUNT, 0), 0);
	upmu_lease_release(lease);
}

static void all_modes_are_asked_for_by_their_number(void **state)
{
	(void)state;
	for (uint32_t mode = UPMU_MODE_COUNT; mode <= UPMU_MODE_RAW; mode++) {
		assert_int_equal(upmu_lease_take(&lease, mode, 0), 0);
		assert_int_equal(fake.last_lease.mode, mode);
		upmu_lease_release(lease);
		assert_int_equal(fake_open_fds(), 0);
	}
}

static void without_a_lease_open_all_is_what_holds(void **state)
{
	struct upmu_info info;
	int fd;

	(void)state;
	fake.info.open = UPMU_OPEN_ALL;
	fd = upmu_device_open(&info);
	assert_true(fd >= 0);
	assert_int_equal(upmu_lease_check_any(fd, false), 0);
	assert_int_equal(upmu_lease_check_any(fd, true), -EBADF);
	fake.info.open = UPMU_OPEN_CYCLES;
	assert_int_equal(upmu_lease_check_any(fd, false), -ESTALE);
	assert_string_equal(upmu_explain(),
			    "the module's parameter open is no longer 'all'\n"
			    "hint: echo all | sudo tee "
			    "/sys/module/upmu/parameters/open");
	fake.info.open = UPMU_OPEN_ALL;
	fake.info_error = -EIO;
	assert_int_equal(upmu_lease_check_any(fd, false), -ESTALE);
	upmu_lease_release(fd);
}

static void pages_share_one_lease_that_the_last_gives_back(void **state)
{
	(void)state;
	upmu_count_lease_put(); /* nobody has it */
	for (size_t i = 0; i < 2; i++) {
		fake.lease_error = -EBUSY;
		assert_int_equal(upmu_count_lease_get(), -EBUSY);
		fake.lease_error = 0;
		assert_int_equal(upmu_count_lease_get(), 0);
		assert_int_equal(fake.last_lease.mode, UPMU_MODE_COUNT);
		assert_int_equal(upmu_count_lease_get(), 0);
		assert_int_equal(fake.leases, 1 + 2 * i);
		upmu_count_lease_put();
		assert_int_equal(fake.live_leases, 1);
		upmu_count_lease_put();
		assert_int_equal(fake.live_leases, 0);
		/* A child has none, whoever has the parent's. */
		assert_int_equal(upmu_count_lease_get(), 0);
		upmu_count_lease_forked();
		assert_int_equal(fake.live_leases, 0);
		upmu_count_lease_put();
	}
}

/* Sanitizers want more of it. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static void *take_without_permission(void *unused)
{
	(void)unused;
	upmu_lease_take(&lease, UPMU_MODE_COUNT, 0);
	_exit(!strstr(upmu_explain(), "it belongs to the group"));
}

static void a_small_stack_is_enough_to_tell_whose_the_device_is(void **state)
{
	pthread_attr_t small;
	pthread_t thread;
	int status = -1;
	pid_t child;

	(void)state;
	fake_write("/dev/upmu", "");
	fake_write("/etc/group", "upmu:x:54321:\n");
	fake.device_error = -EACCES;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 16384); /* what the least is */
	child = fork();
	if (!child) {
		pthread_create(&thread, &small, take_without_permission, NULL);
		pause();
	}
	waitpid(child, &status, 0);
	fake_remove("/dev/upmu");
	fake_remove("/etc/group");
	assert_int_equal(status, 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
		LEASE_TEST(a_small_stack_is_enough_to_tell_whose_the_device_is),
#endif
		LEASE_TEST(a_lease_is_taken_with_mode_and_flags_and_given_back),
		LEASE_TEST(no_module_is_enxio),
		LEASE_TEST(no_permission_is_eperm_and_names_the_group),
		LEASE_TEST(a_module_of_another_abi_is_eproto),
		LEASE_TEST(a_newer_module_serves),
		LEASE_TEST(a_holder_is_named),
		LEASE_TEST(who_is_not_in_the_way_of_cycles_is_not_named),
		LEASE_TEST(the_parameter_open_is_named_where_it_is_in_the_way),
		LEASE_TEST(a_perf_event_in_the_way_is_ebusy),
		LEASE_TEST(raw_for_root_names_the_parameter),
		LEASE_TEST(a_locked_down_kernel_is_eperm),
		LEASE_TEST(what_a_machine_cannot_grant_tells_why),
		LEASE_TEST(unknown_modes_and_flags_are_einval),
		LEASE_TEST(no_memory_and_no_descriptors_pass_through),
		LEASE_TEST(what_would_be_granted_is_told_and_nothing_is_taken),
		LEASE_TEST(root_without_the_capability_is_not_promised_raw),
		LEASE_TEST(nor_is_the_root_of_a_user_namespace),
		LEASE_TEST(a_broken_lease_is_estale),
		LEASE_TEST(what_is_no_lease_is_ebadf),
		LEASE_TEST(reasons_have_a_hint_where_a_command_helps),
		LEASE_TEST(whoever_is_in_the_way_is_named_with_what_helps),
		LEASE_TEST(each_error_of_the_device_is_told_as_what_it_means),
		LEASE_TEST(a_refusal_is_told_where_its_reason_cannot_be_asked),
		LEASE_TEST(what_a_module_does_not_fill_is_0),
		LEASE_TEST(a_module_whose_info_is_shorter_is_older),
		LEASE_TEST(all_modes_are_asked_for_by_their_number),
		LEASE_TEST(without_a_lease_open_all_is_what_holds),
		LEASE_TEST(pages_share_one_lease_that_the_last_gives_back),
	};

	return cmocka_run_group_tests_name("lease", tests, NULL, NULL);
}
