// SPDX-License-Identifier: GPL-2.0-only
/*
 * adopt.c - a perf PMU for a machine whose firmware forgot it
 *
 * The PMU drivers that are part of the kernel bind to a platform device with a
 * device-tree node of the right `compatible`. Where the device tree lacks it,
 * such a device and node are made here. perf PMUs are never unregistered and
 * their drivers never unbound, so both stay until reboot and hold nothing of
 * this module: memory is from the heap, and the node's kobject has the type
 * that all nodes have. (of_changeset, where the kernel has it, would attach the
 * node to the live tree and nothing more: one way for all kernels is simpler.)
 */
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/of.h>
#include <linux/overflow.h>
#include <linux/perf_event.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "cores.h"
#include "upmu.h"

static char *upmu_adopt_mode = "no";
module_param_named(adopt, upmu_adopt_mode, charp, 0444);
MODULE_PARM_DESC(adopt, "PMU for perf: no (default), auto, or its name");

#define UPMU_ADOPT_DEVICE "upmu-pmu"
/* Any other core whose ID registers tell of a PMUv3. */
static const struct upmu_known_core upmu_adopt_other_v3 = {
	.names = { "arm,armv8-pmuv3", "arm,cortex-a7-pmu" }
};

/* The platform drivers of Linux's CPU PMUs, PMUv3's first. */
static const char *const upmu_adopt_drivers[] = { "armv8-pmu", "armv7-pmu",
						  "armv6-pmu" };

/**
 * struct upmu_adopt_node - a device-tree node that outlives the module
 * @node: the node
 * @compatible: its one property
 * @name: the property's value
 *
 * As it was made, for ever.
 */
struct upmu_adopt_node {
	struct device_node node;
	struct property compatible;
	char name[];
};

/* How many of the online CPUs perf has a PMU for. */
static unsigned int upmu_adopt_count_pmus(unsigned int *cpus)
{
	struct perf_event *event;
	unsigned int with = 0;
	int cpu;

	*cpus = 0;
	for_each_online_cpu(cpu) {
		event = upmu_perf_ask(PERF_TYPE_HARDWARE, cpu);
		with += !upmu_perf_has_none(event);
		if (!IS_ERR(event))
			perf_event_release_kernel(event);
		++*cpus;
	}
	return with;
}

/* All CPUs must be of one kind: without interrupts a PMU is for all of them. */
static int upmu_adopt_survey(const struct upmu_core **first)
{
	const struct upmu_core *core;
	int cpu;

	*first = NULL;
	for_each_online_cpu(cpu) {
		core = upmu_core_of(cpu);
		/* No counters: a hypervisor that lets PMCR read as zero. */
		if (!core || !core->counters) {
			pr_err("not adopted: CPU %d has no PMU that its ID registers or kind tell of\n",
			       cpu);
			return -ENODEV;
		}
		if (!*first)
			*first = core;
		if ((core->midr ^ (*first)->midr) & UPMU_MIDR_KIND) {
			pr_err("not adopted: CPU %d is of another kind (MIDR %08x and %08x), which a PMU without interrupts cannot tell apart; its node belongs in the device tree\n",
			       cpu, (*first)->midr, core->midr);
			return -EBUSY;
		}
	}
	return 0;
}

static const struct upmu_known_core *
upmu_adopt_find_core(const struct upmu_core *core)
{
	const struct upmu_known_core *known = upmu_core_known(core->midr);

	if (known)
		return known;
	return core->version == 3 ? &upmu_adopt_other_v3 : NULL;
}

static void upmu_adopt_free_node(struct upmu_adopt_node *made)
{
	kfree(made->compatible.name);
	kfree(made->node.full_name);
	kfree(made);
}

/* A node beside those of the device tree, not in it; NULL: no memory. */
static struct upmu_adopt_node *upmu_adopt_make_node(struct device_node *root,
						    const char *name)
{
	size_t size = strlen(name) + 1;
	struct upmu_adopt_node *made;

	made = kzalloc(struct_size(made, name, size), GFP_KERNEL);
	if (!made)
		return NULL;
	memcpy(made->name, name, size);
	made->compatible.name = kstrdup("compatible", GFP_KERNEL);
	made->node.full_name = kstrdup(UPMU_ADOPT_DEVICE, GFP_KERNEL);
	if (!made->compatible.name || !made->node.full_name) {
		upmu_adopt_free_node(made);
		return NULL;
	}
	made->compatible.value = made->name;
	made->compatible.length = size;
	made->node.name = made->node.full_name;
	made->node.properties = &made->compatible;
	made->node.parent = root;
	upmu_compat_node_init(&made->node, root);
	return made;
}

/* Does a PMU driver in this kernel know @node? */
static bool upmu_adopt_is_known(const struct device_node *node)
{
	struct device_driver *driver;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(upmu_adopt_drivers); i++) {
		driver = driver_find(upmu_adopt_drivers[i], &platform_bus_type);
		if (driver && of_match_node(driver->of_match_table, node))
			return true;
	}
	return false;
}

/*
 * The node is given to the device after it was added: the core would try to
 * link to the node's folder in sysfs, which it does not have, and complain.
 */
static int upmu_adopt_register(struct upmu_adopt_node *made)
{
	struct platform_device *device;
	int err;

	device = platform_device_alloc(UPMU_ADOPT_DEVICE, PLATFORM_DEVID_NONE);
	if (!device)
		return -ENOMEM;
	err = platform_device_add(device);
	if (err) {
		platform_device_put(device);
		return err;
	}
	device_lock(&device->dev);
	device->dev.of_node = &made->node;
	device_unlock(&device->dev);
	err = device_attach(&device->dev);
	if (err > 0)
		return 0;
	/* Drops a reference to the node; ours keeps its kobject from ending. */
	of_node_get(&made->node);
	platform_device_unregister(device);
	return err ? err : -ENXIO;
}

/* -ENODEV: no driver knows @name. On success the node keeps @root. */
static int upmu_adopt_as(struct device_node *root, const char *name)
{
	struct upmu_adopt_node *made;
	int err = -ENODEV;

	made = upmu_adopt_make_node(root, name);
	if (!made)
		return -ENOMEM;
	if (!upmu_adopt_is_known(&made->node))
		goto err_free;
	pr_notice("no CPU has a PMU in perf: adopting it as '%s', without interrupts; this stays until reboot, unloading does not undo it\n",
		  name);
	err = upmu_adopt_register(made);
	if (!err)
		return 0;
	pr_err("not adopted: the kernel's PMU driver refused '%s' (error %d)\n",
	       name, err);

err_free:
	upmu_adopt_free_node(made);
	return err;
}

static int upmu_adopt_first_known(const char *const *names)
{
	struct device_node *root = of_find_node_by_path("/");
	int i, err = -ENODEV;

	if (!root) {
		pr_err("not adopted: this machine was booted without a device tree\n");
		return -ENODEV;
	}
	for (i = 0; i < UPMU_CORE_NAMES && names[i] && err == -ENODEV; i++)
		err = upmu_adopt_as(root, names[i]);
	if (!err)
		return 0;
	if (err == -ENODEV)
		pr_err("not adopted: no PMU driver in this kernel knows '%s'\n",
		       names[0]);
	of_node_put(root);
	return err;
}

static struct device *upmu_adopt_find_device(void)
{
	return bus_find_device_by_name(&platform_bus_type, NULL,
				       UPMU_ADOPT_DEVICE);
}

bool upmu_adopt_active(void)
{
	struct device *device = upmu_adopt_find_device();

	put_device(device);
	return device;
}

/* 0: what was adopted since boot serves @mode too. */
static int upmu_adopt_again(const char *mode)
{
	struct device *device = upmu_adopt_find_device();
	int err = 0;

	if (!device)
		return 0;
	if (!strcmp(mode, "auto") ||
	    of_device_is_compatible(device->of_node, mode)) {
		pr_info("found the PMU that was adopted since boot\n");
	} else {
		pr_err("the PMU was adopted under another name than '%s' already; it keeps that until reboot\n",
		       mode);
		err = -EBUSY;
	}
	put_device(device);
	return err;
}

static int upmu_adopt_missing(const char *mode)
{
	const char *const given[UPMU_CORE_NAMES] = { mode };
	const struct upmu_known_core *known;
	const struct upmu_core *core;
	int err;

	err = upmu_adopt_survey(&core);
	if (err)
		return err;
	if (strcmp(mode, "auto"))
		return upmu_adopt_first_known(given);
	known = upmu_adopt_find_core(core);
	if (!known) {
		pr_err("not adopted: no PMU driver is known for this core (MIDR %08x)\n",
		       core->midr);
		pr_err("hint: modprobe upmu adopt=arm,cortex-aNN-pmu, with the core it is most like\n");
		return -ENODEV;
	}
	return upmu_adopt_first_known(known->names);
}

/* 0: each online CPU has a PMU of perf's now, or nothing was asked for. */
int upmu_adopt_init(void)
{
	const char *mode = upmu_adopt_mode;
	unsigned int cpus, with;

	if (!strcmp(mode, "no"))
		return 0;
	if (strcmp(mode, "auto") && !strchr(mode, ',')) {
		pr_err("adopt='%s' is neither no, auto nor a device-tree name such as arm,cortex-a7-pmu\n",
		       mode);
		return -EINVAL;
	}
	with = upmu_adopt_count_pmus(&cpus);
	if (with == cpus) {
		if (!upmu_adopt_active())
			pr_info("perf has its CPU PMU: nothing to adopt\n");
		return upmu_adopt_again(mode);
	}
	if (with) {
		pr_err("not adopted: perf has a PMU for %u of %u CPUs; the node of the others belongs in the device tree\n",
		       with, cpus);
		return -EBUSY;
	}
	return upmu_adopt_missing(mode);
}
