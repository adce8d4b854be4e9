// SPDX-License-Identifier: MIT
/*
 * upmu's counts beside Google Benchmark's times (Debian: libbenchmark-dev):
 *
 *	g++ -O2 -std=c++17 google_benchmark.cpp -lupmu -lbenchmark -lpthread
 *	UPMU_EVENTS=cycles,instructions ./a.out --benchmark_format=json
 *
 * One line in a benchmark, before its loop, is all that is needed. The counts
 * are per iteration; Google Benchmark takes them for a rate of work, as it does
 * any user counter, so that its tools/compare.py shows them too.
 */
#include <cstdlib>
#include <vector>

#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <upmu.hpp>

namespace
{

/** Counts from here to the end of the benchmark's function. */
class counted
{
	benchmark::State &state;
	pmu::expected<pmu::set> set;
	std::vector<uint64_t> before;

	static const char *events()
	{
		const char *list = std::getenv("UPMU_EVENTS");

		return list ? list : "cycles,instructions";
	}

      public:
	explicit counted(benchmark::State &of)
	    : state(of), set(pmu::set::open(events()))
	{
		if (set)
			before = set->counts().value();
		else
			state.SkipWithError(set.error().text.c_str());
	}
	~counted()
	{
		if (!set)
			return;
		auto after = set->counts();

		for (size_t i = 0; after && i < set->size(); i++)
			state.counters[set->name(i)] = benchmark::Counter(
				static_cast<double>((*after)[i] - before[i]),
				benchmark::Counter::kAvgIterations);
	}
	counted(const counted &) = delete;
	counted &operator=(const counted &) = delete;
};

/* Each iteration touches as many new pages as its argument says. */
void touch_pages(benchmark::State &state)
{
	const size_t size = 4096 * static_cast<size_t>(state.range(0));
	counted here(state);

	for (auto _ : state) {
		/* not by malloc, which keeps what is given back */
		void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED) {
			state.SkipWithError("out of memory");
			break;
		}
		for (size_t at = 0; at < size; at += 4096)
			static_cast<volatile char *>(memory)[at] = 1;
		munmap(memory, size);
	}
}

void add_numbers(benchmark::State &state)
{
	std::vector<int> numbers(static_cast<size_t>(state.range(0)), 1);
	counted here(state);

	for (auto _ : state) {
		int sum = 0;

		for (int number : numbers)
			sum += number;
		benchmark::DoNotOptimize(sum);
	}
}

} // namespace

BENCHMARK(touch_pages)->Arg(16)->Arg(64);
BENCHMARK(add_numbers)->Arg(1000);
BENCHMARK_MAIN();
