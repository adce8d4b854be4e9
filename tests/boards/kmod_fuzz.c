// SPDX-License-Identifier: MIT
/*
 * kmod_fuzz CALLS [SEED] - random calls on the device
 *
 * A model of the contract judges each answer that it can know; what it cannot
 * (timing, memory) must be one of the documented errors.
 */
#include "tests/boards/kmod.h"

#define FILES 16

static uint64_t state;

static uint32_t draw(uint32_t limit)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33) % limit;
}

static const int documented[] = { EFAULT, EINVAL, E2BIG,    ENOTTY,
				  EPERM,  EBUSY,  EALREADY, EOPNOTSUPP };

static bool is_documented(int err)
{
	for (size_t n = 0; n < sizeof(documented) / sizeof(*documented); n++)
		if (documented[n] == err)
			return true;
	return false;
}

static bool well_formed(const struct upmu_lease *lease)
{
	return lease->size == sizeof(*lease) && lease->mode >= 1 &&
	       lease->mode <= 3 && lease->flags <= 3 &&
	       lease->flags != UPMU_LEASE_EXEC && !lease->reserved;
}

static uint32_t odd_number(void)
{
	static const uint32_t odd[] = { 0,	    1,		 2,
					3,	    4,		 15,
					16,	    17,		 112,
					0x7fffffff, 0x80000000u, 0xffffffffu };

	return draw(3) ? odd[draw(sizeof(odd) / sizeof(*odd))]
		       : draw(0x7fffffff);
}

static uint64_t granted, refused, wrong;

static void judge(int result, bool may_succeed, const char *what)
{
	if (result == 0 && may_succeed)
		granted++;
	else if (result < 0 && is_documented(errno))
		refused++;
	else {
		wrong++;
		printf("# %s: result %d, errno %d\n", what, result, errno);
	}
}

static void fuzz_lease(int fd)
{
	static uint32_t words[64];
	struct upmu_lease lease = { .size = sizeof(lease),
				    .mode = 1 + draw(2) };

	memset(words, 0, sizeof(words));
	if (draw(2)) {
		lease.mode = draw(5);
		lease.flags = draw(6);
	}
	if (draw(4) == 0)
		lease.size = odd_number();
	if (draw(8) == 0)
		lease.reserved = odd_number();
	if (draw(8) == 0)
		lease.flags = odd_number();
	memcpy(words, &lease, sizeof(lease));
	if (draw(2) && lease.size <= sizeof(words))
		words[draw(64)] |= draw(4) == 0;
	memcpy(&lease, words, sizeof(lease));
	judge(ioctl(fd, UPMU_IOC_LEASE, words),
	      well_formed(&lease) || lease.size > sizeof(lease), "lease");
}

static void fuzz_info(int fd)
{
	struct {
		struct upmu_info info;
		uint32_t guard;
	} own;
	uint32_t asked = draw(2) ? sizeof(own.info) : odd_number(), filled;
	const unsigned char *bytes = (const unsigned char *)&own;
	int result;

	memset(&own, 0xa5, sizeof(own));
	own.info.size = asked;
	result = ioctl(fd, UPMU_IOC_INFO, &own);
	judge(result, true, "info");
	/* never beyond what was asked for, or what it has */
	filled = asked < sizeof(own.info) ? asked : sizeof(own.info);
	if (result == 0 &&
	    (own.info.size != filled || own.info.abi != UPMU_ABI ||
	     bytes[filled] != 0xa5 || own.guard != 0xa5a5a5a5u))
		wrong++;
}

static void fuzz_any(int fd)
{
	unsigned long arguments[] = { 0,	   1,
				      8,	   0xffffffffu,
				      0xc0000000u, (unsigned long)&state };
	/* other types are answered before the device is asked */
	unsigned long number =
		_IO(0xE7, draw(8)) | (draw(2) ? odd_number() << 16 : 0);
	unsigned long argument = arguments[draw(6)];

	/* those two have their own */
	if ((number == UPMU_IOC_INFO || number == UPMU_IOC_LEASE) &&
	    argument == arguments[5])
		return;
	judge(ioctl(fd, number, argument), false, "any");
}

static void one_call(int *files)
{
	int *fd = &files[draw(FILES)];

	if (*fd < 0 || draw(24) == 0) {
		if (*fd >= 0)
			close(*fd);
		*fd = open(UPMU_DEVICE, O_RDWR | O_CLOEXEC);
		return;
	}
	switch (draw(4)) {
	case 0:
		fuzz_info(*fd);
		break;
	case 1:
		fuzz_any(*fd);
		break;
	default:
		fuzz_lease(*fd);
	}
}

int main(int argc, char **argv)
{
	unsigned long calls = argc > 1 ? strtoul(argv[1], NULL, 0) : 10000;
	int files[FILES];

	state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	for (int n = 0; n < FILES; n++)
		files[n] = -1;
	for (unsigned long n = 0; n < calls && wrong < 10; n++)
		one_call(files);
	tap(wrong == 0, "every_call_is_granted_or_refused_as_documented",
	    "%lu calls, %llu granted, %llu refused", calls,
	    (unsigned long long)granted, (unsigned long long)refused);
	tap(granted > calls / 50 && refused > calls / 50, "both_happened_often",
	    NULL);
	for (int n = 0; n < FILES; n++)
		if (files[n] >= 0)
			close(files[n]);
	tap(no_leases_soon(), "nobody_holds_anything_afterwards", NULL);
	tap(!try_cycles(NULL), "and_the_registers_are_closed", NULL);
	return tap_done();
}
