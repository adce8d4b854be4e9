// SPDX-License-Identifier: MIT
#include "lib/set/options.h"

#include <errno.h>
#include <string.h>

#include "lib/explain.h"

#define KNOWN_FLAGS                                                      \
	(UPMU_OPEN_USER_ONLY | UPMU_OPEN_STOPPED | UPMU_OPEN_ANY_CLOCK | \
	 UPMU_OPEN_BOUND)

int upmu_options_fit(void *out, size_t size, const void *options, size_t least)
{
	const unsigned char *bytes = options;
	size_t given;

	memset(out, 0, size);
	if (!options)
		return 0;
	memcpy(&given, options, sizeof(given));
	if (given < least)
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

int upmu_options_copy(struct upmu_options *out,
		      const struct upmu_options *options)
{
	int ret = upmu_options_fit(out, sizeof(*out), options, sizeof(*out));

	if (ret)
		return ret;
	if (out->flags & ~(uint32_t)KNOWN_FLAGS)
		return upmu_explain_set(-EINVAL, "unknown flags 0x%x",
					out->flags & ~(uint32_t)KNOWN_FLAGS);
	if (out->reserved)
		return upmu_explain_set(-EINVAL,
					"options.reserved is not zero");
	return 0;
}
