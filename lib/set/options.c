// SPDX-License-Identifier: MIT
#include "lib/set/options.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "lib/explain.h"

#define KNOWN_FLAGS                                                      \
	(UPMU_OPEN_USER_ONLY | UPMU_OPEN_STOPPED | UPMU_OPEN_ANY_CLOCK | \
	 UPMU_OPEN_BOUND | UPMU_OPEN_INHERIT | UPMU_OPEN_ON_EXEC |       \
	 UPMU_OPEN_CPU)

/* No struct will be larger: that is a size that nobody has set. */
#define SIZE_MOST 4096

bool upmu_is_no_size(size_t size, size_t least)
{
	return size < least || size > SIZE_MOST;
}

int upmu_options_fit(void *out, size_t size, const void *options, size_t least)
{
	const unsigned char *bytes = options;
	size_t given;

	memset(out, 0, size);
	if (!options)
		return 0;
	memcpy(&given, options, sizeof(given));
	if (upmu_is_no_size(given, least))
		return upmu_explain_set(-EINVAL,
					"options.size is %zu; set it to sizeof "
					"of the struct (%zu)",
					given, size);
	for (size_t i = size; i < given; i++)
		if (bytes[i])
			return upmu_explain_set(
				-EINVAL,
				"an option at byte %zu is unknown to this "
				"library (%s)",
				i, upmu_version());
	memcpy(out, options, given < size ? given : size);
	return 0;
}

int upmu_result_give(void *result, const void *full, size_t size, size_t least)
{
	unsigned char *bytes = result;
	size_t room;

	memcpy(&room, result, sizeof(room));
	if (upmu_is_no_size(room, least))
		return upmu_explain_set(-EINVAL,
					"the result's size is %zu; set it to "
					"sizeof of the struct (%zu)",
					room, size);
	memcpy(result, full, room < size ? room : size);
	if (room > size)
		memset(bytes + size, 0, room - size);
	memcpy(result, &room, sizeof(room));
	return 0;
}

static int check_target(const struct upmu_options *options)
{
	bool has_cpu = options->flags & UPMU_OPEN_CPU;

	if (options->pid < 0)
		return upmu_explain_set(-EINVAL, "options.pid is %d",
					(int)options->pid);
	if (options->cpu && !has_cpu)
		return upmu_explain_set(-EINVAL,
					"options.cpu is %u, without "
					"UPMU_OPEN_CPU",
					(unsigned int)options->cpu);
	if (options->cpu >= CPU_SETSIZE)
		return upmu_explain_set(-EINVAL, "options.cpu is %u",
					(unsigned int)options->cpu);
	if (has_cpu && (options->pid || (options->flags & (UPMU_OPEN_INHERIT |
							   UPMU_OPEN_ON_EXEC))))
		return upmu_explain_set(-EINVAL,
					"UPMU_OPEN_CPU counts all that runs on "
					"a CPU: no pid, UPMU_OPEN_INHERIT or "
					"_ON_EXEC");
	return 0;
}

int upmu_options_copy(struct upmu_options *out,
		      const struct upmu_options *options)
{
	int ret = upmu_options_fit(out, sizeof(*out), options,
				   UPMU_OPTIONS_SIZE_1);

	if (ret)
		return ret;
	if (out->flags & ~(uint32_t)KNOWN_FLAGS)
		return upmu_explain_set(-EINVAL, "unknown flags 0x%x",
					out->flags & ~(uint32_t)KNOWN_FLAGS);
	if (out->reserved)
		return upmu_explain_set(-EINVAL,
					"options.reserved is not zero");
	return check_target(out);
}

bool upmu_options_name_others(const struct upmu_options *options)
{
	return options->pid ||
	       (options->flags &
		(UPMU_OPEN_INHERIT | UPMU_OPEN_ON_EXEC | UPMU_OPEN_CPU));
}

int upmu_options_check_own(const struct upmu_options *options, const char *what)
{
	if (options->flags & UPMU_OPEN_STOPPED)
		return upmu_explain_set(-EINVAL,
					"nobody could start what %s count: no "
					"UPMU_OPEN_STOPPED",
					what);
	if (!upmu_options_name_others(options))
		return 0;
	return upmu_explain_set(-EINVAL,
				"%s count the calling thread: no pid, "
				"UPMU_OPEN_INHERIT, _ON_EXEC or _CPU",
				what);
}
