// SPDX-License-Identifier: MIT
#include <errno.h>
#include <math.h>

#include "estimate.h"

int estimate_total(const struct estimate_slice *slice, size_t n,
		   struct estimate *out)
{
	double count = 0, time = 0, all = 0;
	size_t slices = 0;

	for (size_t i = 0; i < n; i++) {
		all += slice[i].time;
		if (isnan(slice[i].count))
			continue;
		count += slice[i].count;
		time += slice[i].time;
		slices++;
	}
	if (!slices || time <= 0)
		return -ENODATA;
	*out = (struct estimate){
		.total = count * all / time,
		.low = count,
		.high = INFINITY,
		.slices = slices,
	};
	return 0;
}
