// SPDX-License-Identifier: MIT
/*
 * The command over fake_kernel.h, for tests/cli/counted.bats: a machine of
 * tests/fixtures that counts, on any host.
 *
 *	UPMU_FAKE="pi2 counters=4 /proc/sys/kernel/perf_user_access=1"
 *	fake_upmu stat -- true
 */
#include "fake_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sys.h"

/* The root of the made-up machine is this one's: it is no fixture to look at. */
int __real_upmu_sys_path(char *out, const char *path);
int __wrap_upmu_sys_path(char *out, const char *path);
int __wrap_upmu_sys_path(char *out, const char *path)
{
	if (strcmp(path, "/"))
		return __real_upmu_sys_path(out, path);
	strcpy(out, path);
	return 0;
}

static void set(const char *name, long value)
{
	const struct {
		const char *name;
		void *field;
		size_t size;
	} known[] = {
#define FIELD(name) { #name, &fake.name, sizeof(fake.name) }
		FIELD(perf_error),	 FIELD(perf_error_from),
		FIELD(counters),	 FIELD(ordinary),
		FIELD(has_no_filter),	 FIELD(only_user),
		FIELD(stands_still),	 FIELD(still_config),
		FIELD(never_runs),	 FIELD(device_error),
		FIELD(by_code),
		FIELD(lease_error),	 FIELD(info.open),
		FIELD(info.lease_state), FIELD(info.lease_written),
#undef FIELD
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].name, name)) {
			memcpy(known[i].field, &value, known[i].size);
			return;
		}
	fprintf(stderr, "UPMU_FAKE: there is no '%s'\n", name);
	exit(99);
}

__attribute__((constructor)) static void boot(void)
{
	const char *told = getenv("UPMU_FAKE");
	char *words = strdup(told ? told : "pi2"), *at = words;

	fake_boot(strsep(&at, " "));
	for (char *word; (word = strsep(&at, " "));) {
		char *value = strchr(word, '=');

		if (!value)
			continue;
		*value++ = '\0';
		if (*word == '/')
			fake_write(word, value);
		else
			set(word, strtol(value, NULL, 0));
	}
	free(words);
}
