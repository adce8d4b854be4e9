// SPDX-License-Identifier: MIT
#include "upmu.h"

#include <assert.h>
#include <errno.h>

#include "lib/explain.h"

struct wide {
	uint64_t high, low;
};

/* 64 x 64 bits; 32-bit ARM has no __int128. */
static struct wide multiply(uint64_t a, uint64_t b)
{
	uint64_t a0 = (uint32_t)a, a1 = a >> 32;
	uint64_t b0 = (uint32_t)b, b1 = b >> 32;
	uint64_t low = a0 * b0;
	uint64_t middle = a1 * b0 + (low >> 32);
	uint64_t carry = a0 * b1 + (uint32_t)middle;

	return (struct wide){
		.high = a1 * b1 + (middle >> 32) + (carry >> 32),
		.low = carry << 32 | (uint32_t)low,
	};
}

static struct wide add_wide(struct wide a, uint64_t b)
{
	a.low += b;
	a.high += a.low < b;
	return a;
}

/* Bit by bit; the caller saw to it that the quotient has 64 bits. */
static uint64_t divide(struct wide n, uint64_t by)
{
	uint64_t rest = n.high, quotient = 0;

	for (int bit = 63; bit >= 0; bit--) {
		uint64_t top = rest >> 63;

		rest = rest << 1 | (n.low >> bit & 1);
		quotient <<= 1;
		if (top || rest >= by) {
			rest -= by;
			quotient |= 1;
		}
	}
	return quotient;
}

int upmu_scale(const struct upmu_value *value, uint64_t *estimate)
{
	struct wide product;

	assert(value && estimate);
	if (value->running_ns > value->enabled_ns)
		return upmu_explain_set(-EINVAL,
					"running_ns is more than enabled_ns");
	if (!value->running_ns)
		return upmu_explain_set(-ENODATA,
					"the event was never on the hardware");
	product = multiply(value->count, value->enabled_ns);
	product = add_wide(product, value->running_ns / 2);
	if (product.high >= value->running_ns)
		return upmu_explain_set(-EOVERFLOW,
					"the estimate has more than 64 bits");
	*estimate = divide(product, value->running_ns);
	return 0;
}
