/* SPDX-License-Identifier: MIT */
/**
 * upmu.hpp - upmu.h for C++17: sets, regions and leases that close themselves
 *
 *	auto set = pmu::set::open("cycles,instructions");
 *	if (!set)
 *		std::cerr << set.error().text << '\n';	// reason and hints
 *	uint64_t before = set->count(0);		// inline
 *	work();
 *	uint64_t cycles = set->count(0) - before;
 *
 * Nothing here throws by itself: what can fail returns an expected<T>, which
 * holds a T or a failure. value() throws the error (std::system_error) for
 * those who prefer that. The namespace is pmu, because upmu is a struct of
 * upmu.h. Header only; link with -lupmu. What each call does, its errors,
 * threads and cost are those of the C function that it is called after: upmu.h.
 */
#ifndef UPMU_HPP
#define UPMU_HPP

#if __cplusplus < 201703L
#error "upmu.hpp: C++17 or later: -std=c++17"
#else

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <upmu.h>

namespace pmu
{

/** Why a call failed. */
struct failure {
	int number;	  /* an errno, positive */
	std::string text; /* of upmu_explain(): the reason, then hint lines */
};

/** In C++23 this would be std::expected<T, failure>. */
template <class T> class expected
{
	std::variant<T, failure> held;

	[[noreturn]] void fail() const
	{
#if defined(__cpp_exceptions)
		const failure &why = std::get<1>(held);

		throw std::system_error(why.number, std::generic_category(),
					why.text);
#else
		std::abort();
#endif
	}

      public:
	expected(T value) : held(std::in_place_index<0>, std::move(value))
	{
	}
	expected(failure why) : held(std::in_place_index<1>, std::move(why))
	{
	}

	bool has_value() const noexcept
	{
		return held.index() == 0;
	}
	explicit operator bool() const noexcept
	{
		return has_value();
	}
	/** The value; std::system_error where there is none. */
	T &value() &
	{
		if (!has_value())
			fail();
		return **this;
	}
	const T &value() const &
	{
		if (!has_value())
			fail();
		return **this;
	}
	/* No reference: `for (auto count : set.counts().value())` outlives the
	 * expected. */
	T value() &&
	{
		return std::move(value());
	}
	/** Only where there is a value. */
	T &operator*() &
	{
		return *std::get_if<0>(&held);
	}
	const T &operator*() const &
	{
		return *std::get_if<0>(&held);
	}
	T operator*() &&
	{
		return std::move(*std::get_if<0>(&held));
	}
	T *operator->()
	{
		return std::get_if<0>(&held);
	}
	const T *operator->() const
	{
		return std::get_if<0>(&held);
	}
	/** Only where there is none. */
	const failure &error() const
	{
		return *std::get_if<1>(&held);
	}
};

/** Of calls that give nothing back. */
using status = expected<std::monostate>;

namespace detail
{

inline failure why(int ret)
{
	return { -ret, upmu_explain() };
}

inline status status_of(int ret)
{
	if (ret < 0)
		return why(ret);
	return std::monostate{};
}

/* C would end it there. */
inline bool is_cut_off(const std::string &text)
{
	return text.find('\0') != std::string::npos;
}

inline failure null_in(const char *what)
{
	return { EINVAL, std::string("a null character in ") + what };
}

/* The commas of pmu/event=1,long=1/ part no events. */
inline size_t count_events(const std::string &list)
{
	bool in_terms = false;
	size_t n = 1;

	for (char c : list) {
		in_terms ^= c == '/';
		n += c == ',' && !in_terms;
	}
	return n;
}

} // namespace detail

/** struct upmu_options, its size filled in. */
struct options : upmu_options {
	// The base is zero throughout.
	// cppcheck-suppress uninitDerivedMemberVar
	options() : upmu_options()
	{
		size = sizeof(upmu_options);
	}
};

using value = upmu_value;

/** value::count extended to all of enabled_ns: a guess. */
inline expected<uint64_t> scale(const value &of)
{
	uint64_t estimate;
	int ret = upmu_scale(&of, &estimate);

	if (ret < 0)
		return detail::why(ret);
	return estimate;
}

/** Events counted at the same time on the thread that opens them. */
class set
{
	struct closer {
		void operator()(struct ::upmu *opened) const
		{
			upmu_close(opened);
		}
	};
	std::unique_ptr<struct ::upmu, closer> handle;

	explicit set(struct ::upmu *opened) : handle(opened)
	{
	}

      public:
	static expected<set> open(const std::string &events,
				  const upmu_options *how = nullptr)
	{
		struct ::upmu *opened;

		if (detail::is_cut_off(events))
			return detail::null_in("the list of events");
		int ret = upmu_open(&opened, events.c_str(), how);

		if (ret < 0)
			return detail::why(ret);
		return set(opened);
	}
	static expected<set> open(const std::string &events,
				  const upmu_options &how)
	{
		return open(events, &how);
	}

	size_t size() const
	{
		return upmu_size(handle.get());
	}
	/** Positions are those of the list, from 0; beyond it is a bug. */
	const char *name(size_t position) const
	{
		return upmu_event_name(handle.get(), position);
	}
	const char *unit(size_t position) const
	{
		return upmu_unit(handle.get(), position);
	}
	const char *source() const
	{
		return upmu_source(handle.get());
	}
	/** For the tightest loops: read it by upmu_count(). */
	const upmu_counter *counter(size_t position) const
	{
		return upmu_counter_at(handle.get(), position);
	}
	/** Inline, but for finding the counter; UPMU_NO_COUNT: read() tells. */
	uint64_t count(size_t position) const
	{
		return upmu_count(counter(position));
	}
	expected<std::vector<uint64_t>> counts() const
	{
		std::vector<uint64_t> all(size());
		int ret = upmu_count_all(handle.get(), all.data(), all.size());

		if (ret < 0)
			return detail::why(ret);
		return all;
	}
	expected<std::vector<value>> read() const
	{
		std::vector<value> all(size());
		int ret = upmu_read(handle.get(), all.data(), all.size());

		if (ret < 0)
			return detail::why(ret);
		return all;
	}
	status start()
	{
		return detail::status_of(upmu_start(handle.get()));
	}
	status stop()
	{
		return detail::status_of(upmu_stop(handle.get()));
	}
	struct ::upmu *native() const
	{
		return handle.get();
	}
};

/** A named part of a program; lives until exit, as its C object does. */
class region
{
	upmu_region *handle;

	explicit region(upmu_region *opened) : handle(opened)
	{
	}

      public:
	static expected<region> open(const std::string &name)
	{
		upmu_region *opened;

		if (detail::is_cut_off(name))
			return detail::null_in("the name of a region");
		int ret = upmu_region_open(&opened, name.c_str());

		if (ret < 0)
			return detail::why(ret);
		return region(opened);
	}
	expected<upmu_region_stats> stats(size_t event) const
	{
		upmu_region_stats found = {};
		int ret;

		found.size = sizeof(found);
		ret = upmu_region_read(handle, event, &found);
		if (ret < 0)
			return detail::why(ret);
		return found;
	}
	upmu_region *native() const
	{
		return handle;
	}
};

/**
 * Inside a region from here to the end of the block. What begin said is kept
 * meanwhile: the region counts that too, some two instructions.
 */
class scope
{
	upmu_region *handle;
	int ret;

      public:
	explicit scope(const region &of)
	    : handle(of.native()), ret(upmu_region_begin(handle))
	{
	}
	~scope()
	{
		if (ret == 0)
			upmu_region_end(handle);
	}
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;
	/** False: what follows is not counted in the region. */
	bool is_counting() const noexcept
	{
		return ret == 0;
	}
};

/** The right to execute the PMU's instructions (upmu/raw.h). */
class lease
{
	int handle;

	explicit lease(int taken) : handle(taken)
	{
	}

      public:
	static expected<lease> take(uint32_t mode, uint32_t flags = 0)
	{
		int taken, ret = upmu_lease_take(&taken, mode, flags);

		if (ret < 0)
			return detail::why(ret);
		return lease(taken);
	}
	lease(lease &&other) noexcept : handle(std::exchange(other.handle, -1))
	{
	}
	/** The one held before is given back at once. */
	lease &operator=(lease &&other) noexcept
	{
		lease taken(std::move(other));

		std::swap(handle, taken.handle);
		return *this;
	}
	~lease()
	{
		upmu_lease_release(handle);
	}
	/** Is it still good? */
	status check() const
	{
		return detail::status_of(upmu_lease_check(handle));
	}
	int descriptor() const
	{
		return handle;
	}
};

struct measure_options {
	std::string events = "cycles"; /* 1 to 8 */
	uint32_t warmup = 0;	       /* 0: 10 */
	uint32_t runs = 0;	       /* 0: 101 */
	const upmu_options *open = nullptr;
};

/**
 * What does one call of @fn cost beyond that of an empty one? One result for
 * each event. An exception of @fn ends no run: it is thrown again afterwards.
 */
template <class F>
expected<std::vector<upmu_measurement>> measure(F &&fn,
						const measure_options &how = {})
{
	struct call {
		std::remove_reference_t<F> *fn;
		std::exception_ptr thrown;

		static void run(void *arg)
		{
			call *self = static_cast<call *>(arg);

#if defined(__cpp_exceptions)
			if (self->thrown)
				return;
			try {
				(*self->fn)();
			} catch (...) {
				self->thrown = std::current_exception();
				/* None: the thread ends, or is cancelled. */
				if (!self->thrown)
					throw;
			}
#else
			(*self->fn)();
#endif
		}
	} called = { std::addressof(fn), nullptr };
	upmu_measure_options options = {};
	std::vector<upmu_measurement> results(detail::count_events(how.events));

	if (detail::is_cut_off(how.events))
		return detail::null_in("the list of events");
	results[0].size = sizeof(results[0]);
	options.size = sizeof(options);
	options.events = how.events.c_str();
	options.warmup = how.warmup;
	options.runs = how.runs;
	options.open = how.open;
	int ret = upmu_measure(call::run, &called, &options, results.data(),
			       results.size());

#if defined(__cpp_exceptions)
	if (called.thrown)
		std::rethrow_exception(called.thrown);
#endif
	if (ret < 0)
		return detail::why(ret);
	return results;
}

} // namespace pmu

#endif
#endif
