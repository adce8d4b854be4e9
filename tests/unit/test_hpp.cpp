// SPDX-License-Identifier: MIT
/* upmu.hpp: sets, errors, regions and measuring, with what every host counts */
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

#include <upmu.hpp>

static int number, failed;

static void ok(bool passed, const char *claim)
{
	std::printf("%sok %d - %s\n", passed ? "" : "not ", ++number, claim);
	failed += !passed;
}

static int descriptors()
{
	DIR *folder = opendir("/proc/self/fd");
	int n = 0;

	while (folder && readdir(folder))
		n++;
	if (folder)
		closedir(folder);
	return n;
}

static pmu::options by_clock()
{
	pmu::options how;

	how.source = "clock";
	return how;
}

static void sets()
{
	const pmu::options how = by_clock();
	int before = descriptors();
	{
		auto set = pmu::set::open("cycles", how);

		ok(set.has_value() && set->size() == 1,
		   "a_set_opens_and_has_its_size");
		uint64_t first = set->count(0);

		ok(set->count(0) > first, "a_set_counts_inline");
		ok(std::string(set->source()) == "clock" &&
			   std::string(set->unit(0)) == "ns",
		   "a_set_tells_source_and_unit");
		ok(set->counts().value().size() == 1 &&
			   set->read().value()[0].count > first,
		   "a_set_reads_all_of_its_counts");
		uint64_t sum = 0;

		for (uint64_t count : set->counts().value())
			sum += count;
		for (const pmu::value &value : *set->read())
			sum += value.count;
		ok(sum > first &&
			   !std::is_reference_v<
				   decltype(set->counts().value())> &&
			   !std::is_reference_v<decltype(*set->read())>,
		   "counts_are_gone_through_where_they_are_read");
		pmu::set moved = std::move(*set);

		ok(moved.count(0) > first, "a_set_that_moved_still_counts");
		ok(!moved.stop() && moved.stop().error().number == EOPNOTSUPP,
		   "what_a_source_cannot_do_is_an_error");
	}
	ok(descriptors() == before, "a_set_that_ends_closes_its_descriptors");
}

static void errors()
{
	auto set = pmu::set::open("no-such-event", by_clock());

	ok(!set && set.error().number == ENOENT &&
		   set.error().text.find("no-such-event") != std::string::npos,
	   "an_error_has_a_number_and_the_reason");
	bool thrown = false;

	try {
		set.value();
	} catch (const std::system_error &e) {
		thrown = e.code().value() == ENOENT &&
			 std::string(e.what()).find("no-such") !=
				 std::string::npos;
	}
	ok(thrown, "value_of_an_error_throws_it");
	ok(pmu::scale({ 10, 200, 100 }).value() == 20 &&
		   pmu::scale({ 1, 1, 0 }).error().number == ENODATA,
	   "a_guess_is_scaled_or_refused");
	ok(!pmu::lease::take(99) || std::getenv("UPMU_ROOT"),
	   "a_lease_that_is_none_is_refused");
}

static void regions()
{
	auto outer = pmu::region::open("outer");

	ok(outer.has_value() && !pmu::region::open(""),
	   "a_region_needs_a_name");
	for (int i = 0; i < 3; i++) {
		pmu::scope in(*outer);
		auto inner = pmu::region::open("inner");
		pmu::scope within(*inner);

		if (!in.is_counting() || !within.is_counting())
			failed++;
	}
	ok(outer->stats(0).value().calls == 3 &&
		   pmu::region::open("inner")->stats(0)->calls == 3,
	   "regions_end_with_their_blocks");
	ok(outer->stats(7).error().number == ENOENT,
	   "an_event_that_a_region_lacks_is_an_error");
}

static void measuring()
{
	const pmu::options how = by_clock();
	pmu::measure_options options;
	int calls = 0;

	options.open = &how;
	options.warmup = 2;
	options.runs = 5;
	auto result = pmu::measure([&] { calls++; }, options);

	ok(result && result->size() == 1 && calls == 7 &&
		   (*result)[0].min <= (*result)[0].max,
	   "a_closure_is_measured_as_often_as_said");
	bool thrown = false;

	try {
		pmu::measure([&] { throw std::runtime_error("mine"); },
			     options);
	} catch (const std::runtime_error &e) {
		thrown = std::string(e.what()) == "mine";
	}
	ok(thrown, "an_exception_of_the_function_comes_through");
	options.events = "a,b,c";
	ok(!pmu::measure([] {}, options), "events_that_are_none_are_an_error");
	options.events = { 'c', 'y', 'c', 'l', 'e', 's', '\0', ',', 'x' };
	ok(pmu::measure([] {}, options).error().number == EINVAL &&
		   pmu::set::open(options.events, how).error().number ==
			   EINVAL &&
		   pmu::region::open(options.events).error().number == EINVAL,
	   "a_null_character_cuts_no_list_off");
}

static bool is_destroyed;

struct of_the_thread {
	~of_the_thread()
	{
		is_destroyed = true;
	}
};

static void *end_in_a_measured_function(void *how)
{
	of_the_thread object;
	pmu::measure_options options;

	options.open = static_cast<const pmu::options *>(how);
	pmu::measure(
		[] {
			pthread_cancel(pthread_self());
			for (;;)
				pause();
		},
		options);
	return nullptr;
}

static void cancelling()
{
	pmu::options how = by_clock();
	pthread_t thread;
	void *result = nullptr;

	ok(!pthread_create(&thread, nullptr, end_in_a_measured_function,
			   &how) &&
		   !pthread_join(thread, &result) &&
		   result == PTHREAD_CANCELED && is_destroyed,
	   "a_thread_that_is_cancelled_in_the_function_ends");
}

int main()
{
	setenv("UPMU_REPORT", "none", 1);
	setenv("UPMU_SOURCE", "clock", 1);
	setenv("UPMU_EVENTS", "cycles", 1);
	sets();
	errors();
	regions();
	measuring();
	cancelling();
	std::printf("1..%d\n", number);
	return failed != 0;
}
