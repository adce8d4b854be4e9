// SPDX-License-Identifier: MIT
#include "lib/module/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>

#include "lib/explain.h"
#include "lib/sys.h"

static const char *mode_name(uint32_t mode)
{
	static const char *const names[] = {
		[UPMU_MODE_COUNT] = "COUNT",
		[UPMU_MODE_CYCLES] = "CYCLES",
		[UPMU_MODE_RAW] = "RAW",
	};

	if (mode >= sizeof(names) / sizeof(*names) || !names[mode])
		return "?";
	return names[mode];
}

static int explain_no_device(int error)
{
	switch (error) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		upmu_explain_set(-ENXIO, "no " UPMU_DEVICE
					 ": the module upmu is not loaded");
		upmu_explain_hint("sudo modprobe upmu");
		return -ENXIO;
	case -EACCES:
	case -EPERM:
		return upmu_explain_device_access();
	default:
		return upmu_explain_set(error,
					"cannot open " UPMU_DEVICE ": %s",
					strerror(-error));
	}
}

static int explain_abi(const char *what)
{
	upmu_explain_set(-EPROTO,
			 "the module upmu speaks another ABI than this "
			 "library (%d): %s",
			 UPMU_ABI, what);
	upmu_explain_hint("install module and library of the same release, "
			  "then: sudo modprobe -r upmu && sudo modprobe upmu");
	return -EPROTO;
}

int upmu_device_info(int fd, struct upmu_info *info)
{
	int ret;

	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	ret = upmu_sys_ioctl(fd, UPMU_IOC_INFO, info);
	if (ret)
		return explain_abi(strerror(-ret));
	/* It may have grown; what we know of it never changes. */
	if (info->abi < UPMU_ABI || info->size < UPMU_INFO_SIZE_1)
		return explain_abi("it is older");
	return 0;
}

int upmu_device_open(struct upmu_info *info)
{
	int fd = upmu_sys_open(UPMU_DEVICE, O_RDWR);
	int ret;

	if (fd < 0)
		return explain_no_device(fd);
	ret = upmu_device_info(fd, info);
	if (ret) {
		upmu_sys_close(fd);
		return ret;
	}
	return fd;
}

static int explain_unsupported(uint32_t mode, const struct upmu_info *info)
{
	static const char *const reasons[] = {
		[UPMU_REASON_NONE] = "the module does not say why",
		[UPMU_REASON_NO_PMU] = "there is no PMU to be seen here",
		[UPMU_REASON_NO_PERF_PMU] = "perf has no PMU for these CPUs",
		[UPMU_REASON_USER_ACCESS] =
			"counting goes by kernel.perf_user_access here",
		[UPMU_REASON_RAW_UNSAFE] =
			"perf or KVM takes the permission back here",
	};
	uint32_t reason = info->reason;

	if (reason >= sizeof(reasons) / sizeof(*reasons))
		reason = UPMU_REASON_NONE;
	upmu_explain_set(-EOPNOTSUPP,
			 "the module cannot grant the mode %s on this "
			 "machine: %s",
			 mode_name(mode), reasons[reason]);
	if (reason == UPMU_REASON_NO_PERF_PMU)
		upmu_explain_hint("sudo modprobe -r upmu && sudo modprobe "
				  "upmu adopt=auto");
	if (reason == UPMU_REASON_USER_ACCESS)
		upmu_explain_hint("sudo sysctl kernel.perf_user_access=1");
	return -EOPNOTSUPP;
}

static const char *holder_from(const struct upmu_info *info)
{
	return info->holder_pid ? "" : " of another PID namespace";
}

static int explain_busy(uint32_t mode, const struct upmu_info *info)
{
	/* COUNT and CYCLES are in the way of RAW alone. */
	uint32_t least =
		mode == UPMU_MODE_RAW ? UPMU_MODE_COUNT : UPMU_MODE_RAW;
	bool is_held = info->holder_mode >= least;

	if (is_held)
		upmu_explain_set(-EBUSY,
				 "the mode %s cannot be had: process %d (%s)%s "
				 "holds a %s lease",
				 mode_name(mode), info->holder_pid,
				 info->holder_comm, holder_from(info),
				 mode_name(info->holder_mode));
	else if (info->open)
		upmu_explain_set(-EBUSY,
				 "the mode %s cannot be had: the module's "
				 "parameter open is '%s'",
				 mode_name(mode),
				 info->open == UPMU_OPEN_ALL ? "all"
							     : "cycles");
	else
		upmu_explain_set(-EBUSY,
				 "the mode %s cannot be had: a perf event "
				 "holds a counter",
				 mode_name(mode));
	if (!is_held && info->open)
		upmu_explain_hint("echo none | sudo tee "
				  "/sys/module/upmu/parameters/open");
	else
		upmu_explain_hint("cat " UPMU_STATE);
	return -EBUSY;
}

/* A signal's handler may ask: why the device cannot be opened, which takes
 * memory to tell, is left alone. */
static bool is_raw_held(struct upmu_info *info)
{
	int fd = upmu_sys_open(UPMU_DEVICE, O_RDWR);
	bool is_known = fd >= 0 && !upmu_device_info(fd, info);

	if (fd >= 0)
		upmu_sys_close(fd);
	return is_known && info->holder_mode == UPMU_MODE_RAW;
}

int upmu_explain_no_counter(void)
{
	struct upmu_info info;

	if (is_raw_held(&info)) {
		upmu_explain_set(-EBUSY,
				 "the events had no counter until now: process "
				 "%d (%s)%s holds a RAW lease",
				 info.holder_pid, info.holder_comm,
				 holder_from(&info));
		upmu_explain_hint("cat " UPMU_STATE);
		return -EBUSY;
	}
	upmu_explain_set(-EBUSY, "the events had no counter until now: others "
				 "count, or the thread ran on no kind of core "
				 "that has them");
	upmu_explain_hint("upmu check");
	return -EBUSY;
}

static int explain_forbidden(uint32_t mode, const struct upmu_info *info)
{
	if (mode == UPMU_MODE_RAW && !(info->flags & UPMU_INFO_RAW_GROUP)) {
		upmu_explain_set(-EPERM, "the mode RAW is for root: the "
					 "module's parameter raw is 'root'");
		upmu_explain_hint(
			"run it as root, in a container with "
			"--cap-add PERFMON, or: echo group | sudo tee "
			"/sys/module/upmu/parameters/raw");
		return -EPERM;
	}
	return upmu_explain_set(-EPERM,
				"the mode %s is refused: the kernel is locked "
				"down",
				mode_name(mode));
}

/* The module's own limits: upmu(4). */
static int explain_too_many(uint32_t mode)
{
	upmu_explain_set(-EMFILE,
			 "no %s lease: this process is covered by as many as "
			 "may be (%d), or this user has %d",
			 mode_name(mode), UPMU_LEASES_MAX,
			 UPMU_LEASES_PER_USER);
	upmu_explain_hint("cat " UPMU_STATE);
	return -EMFILE;
}

static int explain_refusal(int error, uint32_t mode, int fd)
{
	struct upmu_info info;

	if (upmu_device_info(fd, &info))
		memset(&info, 0, sizeof(info));
	switch (error) {
	case -EOPNOTSUPP:
		return explain_unsupported(mode, &info);
	case -EBUSY:
		return explain_busy(mode, &info);
	case -EPERM:
	case -EACCES:
		return explain_forbidden(mode, &info);
	case -EMFILE:
		return explain_too_many(mode);
	case -ENOTTY:
	case -E2BIG:
		return explain_abi(strerror(-error));
	case -EINVAL:
		return upmu_explain_set(error,
					"the module does not know mode %u or "
					"a flag asked for",
					mode);
	default:
		return upmu_explain_set(error, "no %s lease: %s",
					mode_name(mode), strerror(-error));
	}
}

int upmu_lease_would(const struct upmu_info *info, uint32_t mode)
{
	if (info->open == UPMU_OPEN_ALL)
		return upmu_explain_set(0, "the module's parameter open is "
					   "'all'");
	if (!(info->modes & (1u << mode)))
		return explain_unsupported(mode, info);
	if (mode == UPMU_MODE_RAW && info->leases)
		return explain_busy(mode, info);
	if (mode == UPMU_MODE_RAW && !upmu_sys_has_perfmon() &&
	    !(info->flags & UPMU_INFO_RAW_GROUP))
		return explain_forbidden(mode, info);
	return upmu_explain_set(0, "the module upmu grants the mode %s",
				mode_name(mode));
}

int upmu_lease_take(int *lease, uint32_t mode, uint32_t flags)
{
	struct upmu_lease wanted = {
		.size = sizeof(wanted),
		.mode = mode,
		.flags = flags,
	};
	struct upmu_info info;
	int fd, ret;

	if (mode < UPMU_MODE_COUNT || mode > UPMU_MODE_RAW)
		return upmu_explain_set(-EINVAL, "no lease mode has number %u",
					mode);
	fd = upmu_device_open(&info);
	if (fd < 0)
		return upmu_explain_done(fd);
	ret = upmu_sys_ioctl(fd, UPMU_IOC_LEASE, &wanted);
	if (ret) {
		ret = explain_refusal(ret, mode, fd);
		upmu_sys_close(fd);
		return upmu_explain_done(ret);
	}
	*lease = fd;
	return 0;
}

int upmu_lease_check(int lease)
{
	struct upmu_info info;
	int ret;

	memset(&info, 0, sizeof(info));
	info.size = sizeof(info);
	ret = upmu_sys_ioctl(lease, UPMU_IOC_INFO, &info);
	if (ret || info.lease_state == UPMU_STATE_NONE)
		return upmu_explain_set(-EBADF, "descriptor %d is no lease",
					lease);
	if (info.lease_state == UPMU_STATE_LIVE)
		return 0;
	upmu_explain_set(-ESTALE,
			 info.lease_state == UPMU_STATE_BROKEN
				 ? "the lease was broken: something took the "
				   "registers away, counts since then are wrong"
				 : "the lease has ended");
	upmu_explain_hint("dmesg | grep upmu");
	return -ESTALE;
}

int upmu_lease_check_any(int fd, bool is_leased)
{
	struct upmu_info info;

	if (is_leased)
		return upmu_lease_check(fd);
	if (!upmu_device_info(fd, &info) && info.open == UPMU_OPEN_ALL)
		return 0;
	upmu_explain_set(-ESTALE, "the module's parameter open is no longer "
				  "'all'");
	upmu_explain_hint("echo all | sudo tee "
			  "/sys/module/upmu/parameters/open");
	return -ESTALE;
}

void upmu_lease_release(int lease)
{
	if (lease >= 0)
		upmu_sys_close(lease);
}

static pthread_mutex_t count_lease_lock = PTHREAD_MUTEX_INITIALIZER;
static int count_lease = -1;
static unsigned int count_lease_users;

int upmu_count_lease_get(void)
{
	int ret = 0;

	pthread_mutex_lock(&count_lease_lock);
	if (!count_lease_users)
		ret = upmu_lease_take(&count_lease, UPMU_MODE_COUNT, 0);
	if (!ret)
		count_lease_users++;
	pthread_mutex_unlock(&count_lease_lock);
	return ret;
}

void upmu_count_lease_put(void)
{
	pthread_mutex_lock(&count_lease_lock);
	if (count_lease_users && !--count_lease_users) {
		upmu_lease_release(count_lease);
		count_lease = -1;
	}
	pthread_mutex_unlock(&count_lease_lock);
}

void upmu_count_lease_forked(void)
{
	pthread_mutex_init(&count_lease_lock, NULL);
	upmu_lease_release(count_lease);
	count_lease = -1;
	count_lease_users = 0;
}
