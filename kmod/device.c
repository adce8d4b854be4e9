// SPDX-License-Identifier: GPL-2.0-only
/*
 * device.c - /dev/upmu, its two calls, and who may take RAW
 *
 * The contract with user mode is include/upmu/uapi.h.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/perf/arm_pmu.h>
#include <linux/poll.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "lease.h"

#define UPMU_LEASE_FLAGS (UPMU_LEASE_CHILDREN | UPMU_LEASE_EXEC)

static const char *const upmu_raw_names[] = { "root", "group" };
static int upmu_raw; /* kernel_param_lock(); asked without */

static int upmu_raw_set(const char *value, const struct kernel_param *param)
{
	int choice = sysfs_match_string(upmu_raw_names, value);

	if (choice < 0)
		return -EINVAL;
	WRITE_ONCE(upmu_raw, choice);
	return 0;
}

static int upmu_raw_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%s\n", upmu_raw_names[upmu_raw]);
}

static const struct kernel_param_ops upmu_raw_ops = {
	.set = upmu_raw_set,
	.get = upmu_raw_get,
};

module_param_cb(raw, &upmu_raw_ops, NULL, 0644);
MODULE_PARM_DESC(raw, "who may take RAW leases: root (default), group");

bool upmu_raw_group(void)
{
	return READ_ONCE(upmu_raw);
}

/* Modes that can be granted here, and why the lowest missing cannot. */
static u32 upmu_modes(u32 *reason)
{
	*reason = UPMU_REASON_NO_PMU;
	if (!upmu_core_all_known())
		return 0;
	*reason = UPMU_REASON_RAW_UNSAFE;
	if (!upmu_trap_works())
		return 0;
	if (upmu_publish_active()) {
		*reason = UPMU_REASON_NONE;
		return BIT(UPMU_MODE_COUNT) | BIT(UPMU_MODE_CYCLES) |
		       BIT(UPMU_MODE_RAW);
	}
	*reason = upmu_publish_user_access() ? UPMU_REASON_USER_ACCESS
					     : UPMU_REASON_NO_PERF_PMU;
	return BIT(UPMU_MODE_CYCLES) | BIT(UPMU_MODE_RAW);
}

/* PMUv3p5 has wide ones (DDI 0487 D17.2: PMUVer); AArch32 sees half of each. */
static u32 upmu_info_counter_bits(void)
{
	return upmu_core_arch() == 8 && upmu_regs_pmu_version() >= 6 ? 64 : 32;
}

static void upmu_info_core(struct upmu_info *info)
{
	int cpu = raw_smp_processor_id();
	const struct upmu_core *core = upmu_core_of(cpu);
	const struct upmu_pmu *upmu = upmu_publish_of_cpu(cpu);

	if (!core)
		return;
	info->pmu_version = core->version;
	info->counters = core->counters;
	info->counter_bits = upmu_info_counter_bits();
	/* The 32-bit drivers leave PMCR.LC at 0: user mode reads 32 bits. */
	info->cycle_bits = upmu_regs_cycle_bits();
	if (upmu_regs_has_selector() && core->version < 3)
		info->flags |= UPMU_INFO_SELECT;
	if (core->version >= 3)
		info->flags |= UPMU_INFO_READ_ONLY;
	if (!upmu)
		return;
	info->flags |= UPMU_INFO_PERF;
	if (!(upmu->pmu->pmu.capabilities & PERF_PMU_CAP_NO_INTERRUPT))
		info->flags |= UPMU_INFO_INTERRUPT;
	strscpy(info->pmu, upmu->pmu->name, sizeof(info->pmu));
}

static void upmu_info_fill(struct upmu_info *info, const struct upmu_hold *hold)
{
	info->abi = UPMU_ABI;
	info->arch = upmu_core_arch();
	migrate_disable();
	upmu_info_core(info);
	migrate_enable();
	info->modes = upmu_modes(&info->reason);
	if (upmu_publish_active())
		info->flags |= UPMU_INFO_PUBLISHED;
	if (upmu_adopt_active())
		info->flags |= UPMU_INFO_ADOPTED;
	if (upmu_fold_active())
		info->flags |= UPMU_INFO_FOLDED;
	if (upmu_raw_group())
		info->flags |= UPMU_INFO_RAW_GROUP;
	info->open = upmu_open_choice();
	upmu_lease_check();
	upmu_lease_info(info);
	info->lease_state = smp_load_acquire(&hold->state); /* then its mode */
	if (info->lease_state != UPMU_STATE_NONE)
		info->lease_mode = hold->mode;
	info->lease_written = upmu_lease_written(hold);
}

static long upmu_ioctl_info(const struct upmu_hold *hold, void __user *argument)
{
	struct upmu_info info = {};
	u32 size;

	BUILD_BUG_ON(sizeof(info) < UPMU_INFO_SIZE_1);
	if (get_user(size, (u32 __user *)argument))
		return -EFAULT;
	if (size < UPMU_INFO_SIZE_1)
		return -EINVAL;
	upmu_info_fill(&info, hold);
	info.size = min_t(u32, size, sizeof(info));
	if (copy_to_user(argument, &info, info.size))
		return -EFAULT;
	return 0;
}

int upmu_mode_possible(u32 mode)
{
	u32 reason;

	if (!(upmu_modes(&reason) & BIT(mode)))
		return -EOPNOTSUPP;
	if (security_locked_down(LOCKDOWN_PERF))
		return -EPERM;
	/* Writing another's registers: of lockdown's reasons the nearest. */
	if (mode == UPMU_MODE_RAW && security_locked_down(LOCKDOWN_MSR))
		return -EPERM;
	return 0;
}

static int upmu_lease_read(struct upmu_lease *lease, void __user *argument)
{
	u32 size;
	int err;

	BUILD_BUG_ON(sizeof(*lease) != UPMU_LEASE_SIZE_1);
	if (get_user(size, (u32 __user *)argument))
		return -EFAULT;
	if (size < UPMU_LEASE_SIZE_1)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct_from_user(lease, sizeof(*lease), argument, size);
	if (err)
		return err;
	if (lease->mode < UPMU_MODE_COUNT || lease->mode > UPMU_MODE_RAW)
		return -EINVAL;
	if (lease->flags & ~UPMU_LEASE_FLAGS || lease->reserved)
		return -EINVAL;
	if (lease->flags & UPMU_LEASE_EXEC &&
	    !(lease->flags & UPMU_LEASE_CHILDREN))
		return -EINVAL;
	return 0;
}

static long upmu_ioctl_lease(struct upmu_hold *hold, void __user *argument)
{
	struct upmu_lease lease;
	int err;

	err = upmu_lease_read(&lease, argument);
	if (!err)
		err = upmu_mode_possible(lease.mode);
	if (err)
		return err;
	if (lease.mode == UPMU_MODE_RAW && !upmu_raw_group() &&
	    !perfmon_capable())
		return -EPERM;
	return upmu_lease_take(hold, lease.mode, lease.flags);
}

static long upmu_ioctl(struct file *file, unsigned int number,
		       unsigned long argument)
{
	switch (number) {
	case UPMU_IOC_INFO:
		return upmu_ioctl_info(file->private_data,
				       (void __user *)argument);
	case UPMU_IOC_LEASE:
		return upmu_ioctl_lease(file->private_data,
					(void __user *)argument);
	default:
		return -ENOTTY;
	}
}

static int upmu_open_file(struct inode *inode, struct file *file)
{
	file->private_data = upmu_hold_new();
	return file->private_data ? 0 : -ENOMEM;
}

/* What its holder wrote on any CPU is seen while it is still a holder. */
static void upmu_end_file(struct upmu_hold *hold)
{
	if (READ_ONCE(hold->state) != UPMU_STATE_ENDED)
		upmu_access_refresh();
	upmu_lease_end(hold);
	upmu_lease_settle();
}

/* Each close of a descriptor, also of those that exit and exec close. */
static int upmu_flush_file(struct file *file, fl_owner_t id)
{
	struct upmu_hold *hold = file->private_data;

	if (READ_ONCE(hold->pid) != task_tgid(current))
		return 0;
	upmu_end_file(hold);
	return 0;
}

static int upmu_release_file(struct inode *inode, struct file *file)
{
	struct upmu_hold *hold = file->private_data;

	if (READ_ONCE(hold->state) != UPMU_STATE_NONE)
		upmu_end_file(hold);
	upmu_hold_put(hold);
	return 0;
}

static __poll_t upmu_poll_file(struct file *file, poll_table *table)
{
	struct upmu_hold *hold = file->private_data;

	__poll_t told;

	poll_wait(file, &hold->wait, table);
	told = upmu_lease_written(hold) ? EPOLLPRI : 0;
	switch (READ_ONCE(hold->state)) {
	case UPMU_STATE_BROKEN:
		return told | EPOLLERR;
	case UPMU_STATE_ENDED:
		return told | EPOLLHUP;
	default:
		return told;
	}
}

static const struct file_operations upmu_file_ops = {
	.owner = THIS_MODULE,
	.open = upmu_open_file,
	.flush = upmu_flush_file,
	.release = upmu_release_file,
	.poll = upmu_poll_file,
	.unlocked_ioctl = upmu_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/* The group is given by packaging's udev rule; until then root's alone. */
static struct miscdevice upmu_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "upmu",
	.fops = &upmu_file_ops,
	.mode = 0660,
};

int upmu_device_init(void)
{
	return misc_register(&upmu_device);
}

void upmu_device_exit(void)
{
	misc_deregister(&upmu_device);
}
