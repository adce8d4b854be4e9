// SPDX-License-Identifier: MIT
#include "lib/registers/processor.h"

#include <stdlib.h>
#include <sys/auxv.h>

/* AT_PLATFORM is "v6l" to "v8l" for 32-bit programs ("b" for big-endian),
 * whatever the kernel is (Linux, arch/arm/mm/proc-*.S, arch/arm64 compat). */
unsigned int upmu_processor_registers(void)
{
#if defined(__aarch64__)
	return 8;
#elif defined(__arm__)
	const char *platform = (const char *)getauxval(AT_PLATFORM);
	int version = platform && platform[0] == 'v' ? atoi(platform + 1) : 0;

	if (version >= 7)
		return 7;
	return version == 6 ? 6 : 0;
#else
	return 0;
#endif
}
