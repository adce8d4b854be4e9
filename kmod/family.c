// SPDX-License-Identifier: GPL-2.0-only
/* family.c - what holders give to the processes that they fork */
#include <linux/lockdep.h>
#include <linux/slab.h>

#include "family.h"

static atomic_t upmu_families; /* not freed yet */

void upmu_leases_change(struct upmu_leases *leases, u32 mode, int by)
{
	u32 bits = 0;

	lockdep_assert_held(&upmu_lock);
	leases->of[mode] += by;
	for (mode = UPMU_MODE_COUNT; mode < UPMU_MODES; mode++)
		if (leases->of[mode])
			bits |= upmu_access_bits(mode);
	WRITE_ONCE(leases->bits, bits);
}

unsigned int upmu_leases_sum(const struct upmu_leases *leases)
{
	return leases->of[UPMU_MODE_COUNT] + leases->of[UPMU_MODE_CYCLES] +
	       leases->of[UPMU_MODE_RAW];
}

struct upmu_family *upmu_family_live(struct upmu_family *family, bool *executed)
{
	while (family && !upmu_family_leases(family, *executed)->bits)
		family = upmu_family_next(family, executed);
	return family;
}

static void upmu_family_reap(struct rcu_head *rcu)
{
	struct upmu_family *family = container_of(rcu, struct upmu_family, rcu);

	upmu_family_put(family->outer);
	kfree(family);
	atomic_dec(&upmu_families);
}

static void upmu_family_release(struct kref *ref)
{
	struct upmu_family *family = container_of(ref, struct upmu_family, ref);

	call_rcu(&family->rcu, upmu_family_reap);
}

void upmu_family_put(struct upmu_family *family)
{
	if (family)
		kref_put(&family->ref, upmu_family_release);
}

struct upmu_family *upmu_family_get(struct upmu_family *family)
{
	if (family)
		kref_get(&family->ref);
	return family;
}

struct upmu_family *upmu_family_new(void)
{
	struct upmu_family *family = kzalloc(sizeof(*family), GFP_KERNEL);

	if (!family)
		return NULL;
	kref_init(&family->ref);
	atomic_inc(&upmu_families);
	return family;
}

/*
 * None of those that are passed has another lease ever, for somebody was forked
 * into each. Whoever is reading sees the one or the other, and the flag no
 * later than the family that it is for.
 */
void upmu_family_trim(struct upmu_family *family)
{
	struct upmu_family *dead = family->outer;

	while (dead &&
	       !upmu_family_leases(dead, family->outer_executed)->bits) {
		WRITE_ONCE(family->outer_executed,
			   family->outer_executed | dead->outer_executed);
		/* The flag above is seen no later than the family. */
		smp_store_release(&family->outer, upmu_family_get(dead->outer));
		upmu_family_put(dead);
		dead = family->outer;
	}
}

void upmu_family_exit(void)
{
	while (atomic_read(&upmu_families)) /* one may put the next */
		rcu_barrier();
}
