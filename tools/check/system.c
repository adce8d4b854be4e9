// SPDX-License-Identifier: MIT
/*
 * The kernel, the module for it, and whether the module could be built.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "tools/kernel.h"
#include "lib/sys.h"
#include "tools/version.h"

static void check_kernel(struct check_report *report,
			 const struct kernel *kernel)
{
	check_add(report, "kernel", CHECK_OK, "%s on %s", kernel->release,
		  kernel->machine);
	if (!kernel->is_arm)
		check_add(report, "processor", CHECK_NOTE,
			  "no ARM: the module and register reads are not for "
			  "this machine; perf and clocks are");
	if (kernel->is_64_bit && sizeof(void *) == 4)
		check_add(report, "bits", CHECK_NOTE,
			  "this is a 32-bit program on a 64-bit kernel: the "
			  "module has to be built with the 64-bit compiler "
			  "(gcc-aarch64-linux-gnu)");
}

/* The flavours of Debian and Raspberry Pi OS name their headers package. */
static void headers_package(const char *release, char *package, size_t size)
{
	static const char *const flavours[] = {
		"rpi-2712", "rpi-v8",	  "rpi-v7l", "rpi-v7",
		"rpi-v6",   "armmp-lpae", "armmp",   "arm64-16k",
		"arm64",    "rpi",	  "amd64",
	};

	for (size_t i = 0; i < sizeof(flavours) / sizeof(flavours[0]); i++) {
		size_t length = strlen(release), tail = strlen(flavours[i]);

		if (length > tail + 1 && release[length - tail - 1] == '-' &&
		    !strcmp(release + length - tail, flavours[i])) {
			snprintf(package, size, "linux-headers-%s",
				 flavours[i]);
			return;
		}
	}
	snprintf(package, size, "linux-headers-%s", release);
}

/* Another kernel's modules are there and the running one's are not. */
static bool modules_are_of_another_kernel(const char *release)
{
	char path[UPMU_PATH_SIZE];
	struct dirent *entry;
	bool other = false;
	DIR *folder;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", release);
	if (upmu_sys_exists(path) || upmu_sys_path(path, "/lib/modules"))
		return false;
	folder = opendir(path);
	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, release))
			other = true;
	if (folder)
		closedir(folder);
	return other;
}

/* e_machine of an ELF file, or -1. */
static int elf_machine(const char *path)
{
	unsigned char head[20];
	int fd = upmu_sys_open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : upmu_sys_read(fd, head, sizeof(head));

	if (fd >= 0)
		upmu_sys_close(fd);
	if (n < (ssize_t)sizeof(head) || memcmp(head, ELFMAG, SELFMAG) != 0)
		return -1;
	/* Little-endian here as there; at the same place for 32 and 64 bits. */
	return head[18] | head[19] << 8;
}

/*
 * A kernel's build tree brings programs of its own; built on another machine
 * they cannot run here ("Syntax error: "(" unexpected").
 */
static bool tools_are_foreign(const char *build)
{
	char path[UPMU_PATH_SIZE + 32];
	int machine, self = elf_machine("/proc/self/exe");

	snprintf(path, sizeof(path), "%s/scripts/basic/fixdep", build);
	machine = elf_machine(path);
	/* A 64-bit kernel's headers run beside a 32-bit system. */
	if (self == EM_ARM && machine == EM_AARCH64)
		return false;
	return machine >= 0 && self >= 0 && machine != self;
}

static void check_headers(struct check_report *report,
			  const struct kernel *kernel)
{
	char build[UPMU_PATH_SIZE], package[160];

	snprintf(build, sizeof(build), "/lib/modules/%s/build",
		 kernel->release);
	headers_package(kernel->release, package, sizeof(package));
	if (!upmu_sys_exists(build)) {
		check_add(report, "headers", CHECK_BAD,
			  "none for the running kernel: %s is missing or leads "
			  "nowhere, so the module cannot be built",
			  build);
		check_hint(report, "sudo apt install %s", package);
	} else if (tools_are_foreign(build)) {
		check_add(report, "headers", CHECK_BAD,
			  "the programs in %s are of another architecture",
			  build);
		check_hint(report, "sudo apt install --reinstall %s", package);
	} else {
		check_add(report, "headers", CHECK_OK, "%s", build);
	}
}

static bool module_is_installed(const char *release)
{
	static const char *const places[] = { "updates", "updates/dkms",
					      "extra", "kernel/extra" };
	static const char *const endings[] = { "", ".xz", ".zst", ".gz" };
	char path[UPMU_PATH_SIZE];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		for (size_t j = 0; j < sizeof(endings) / sizeof(endings[0]);
		     j++) {
			snprintf(path, sizeof(path),
				 "/lib/modules/%s/%s/upmu.ko%s", release,
				 places[i], endings[j]);
			if (upmu_sys_exists(path))
				return true;
		}
	return false;
}

static void tell_how_to_install(struct check_report *report)
{
	static const char source[] = "/usr/src/upmu-" UPMU_VERSION_TEXT;
	bool has_source = upmu_sys_exists(source);

	check_add(report, "module", CHECK_BAD,
		  "not installed for the running kernel%s",
		  has_source ? ""
			     : " (the hint is for upmu's own folder; "
			       "or install upmu-dkms)");
	if (!has_source)
		check_hint(report, "sudo packaging/dkms-source %s", source);
	else if (!upmu_sys_exists("/usr/sbin/dkms"))
		check_hint(report, "sudo apt install dkms");
	else
		check_hint(report, "sudo dkms install upmu/" UPMU_VERSION_TEXT);
}

static void check_module(struct check_report *report,
			 const struct kernel *kernel)
{
	if (upmu_sys_exists("/sys/module/upmu")) {
		check_add(report, "module", CHECK_OK, "loaded");
		return;
	}
	if (kernel->opens) {
		check_add(report, "module", CHECK_OK,
			  "not loaded, and not needed: this kernel opens the "
			  "registers by itself");
		return;
	}
	if (modules_are_of_another_kernel(kernel->release)) {
		check_add(report, "module", CHECK_BAD,
			  "the kernel was upgraded: /lib/modules has another "
			  "one's modules, none for the running %s",
			  kernel->release);
		check_hint(report, "sudo reboot");
		return;
	}
	if (module_is_installed(kernel->release)) {
		check_add(report, "module", CHECK_BAD,
			  "installed for this kernel, not loaded");
		check_hint(report, "sudo modprobe upmu");
		return;
	}
	check_headers(report, kernel);
	tell_how_to_install(report);
}

/* Without them the rest of the report is guesses: first to be mended. */
static void check_mounts(struct check_report *report)
{
	static const struct {
		const char *path, *type;
	} mounts[] = { { "/proc/sys", "proc" }, { "/sys/bus", "sysfs" } };

	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		const char *top = i ? "/sys" : "/proc";

		if (upmu_sys_exists(mounts[i].path))
			continue;
		check_add(report, "mounts", CHECK_BAD,
			  "no %s here: %s is not "
			  "mounted",
			  mounts[i].path, top);
		check_hint(report, "sudo mount -t %s %s %s", mounts[i].type,
			   mounts[i].type, top);
	}
}

void check_system(struct check_report *report)
{
	struct kernel kernel;

	kernel_read(&kernel);
	check_mounts(report);
	check_kernel(report, &kernel);
	if (kernel.is_arm)
		check_module(report, &kernel);
}
