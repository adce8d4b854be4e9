// SPDX-License-Identifier: MIT
/* Leases: each refusal of upmu.ko with its own errno and words. */
#include "fake_kernel.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/module/lease.h"
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
		{ UPMU_REASON_RAW_UNSAFE, "takes the permission back" },
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
	assert_int_equal(upmu_lease_would(&info, UPMU_MODE_RAW), -EBUSY);
	assert_said("process 42");
	assert_int_equal(upmu_lease_would(&info, UPMU_MODE_COUNT), 0);
	info.open = UPMU_OPEN_ALL;
	assert_int_equal(upmu_lease_would(&info, UPMU_MODE_RAW), 0);
	assert_said("parameter open is 'all'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LEASE_TEST(a_lease_is_taken_with_mode_and_flags_and_given_back),
		LEASE_TEST(no_module_is_enxio),
		LEASE_TEST(no_permission_is_eperm_and_names_the_group),
		LEASE_TEST(a_module_of_another_abi_is_eproto),
		LEASE_TEST(a_newer_module_serves),
		LEASE_TEST(a_holder_is_named),
		LEASE_TEST(the_parameter_open_is_named_where_it_is_in_the_way),
		LEASE_TEST(a_perf_event_in_the_way_is_ebusy),
		LEASE_TEST(raw_for_root_names_the_parameter),
		LEASE_TEST(a_locked_down_kernel_is_eperm),
		LEASE_TEST(what_a_machine_cannot_grant_tells_why),
		LEASE_TEST(unknown_modes_and_flags_are_einval),
		LEASE_TEST(no_memory_and_no_descriptors_pass_through),
		LEASE_TEST(what_would_be_granted_is_told_and_nothing_is_taken),
		LEASE_TEST(a_broken_lease_is_estale),
		LEASE_TEST(what_is_no_lease_is_ebadf),
	};

	return cmocka_run_group_tests_name("lease", tests, NULL, NULL);
}
