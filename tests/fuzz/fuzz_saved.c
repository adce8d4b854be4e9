// SPDX-License-Identifier: MIT
/* Saved runs: any file is read by upmu compare, or refused with a reason. */
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "tools/compare/compare.h"

const char fuzz_claim[] = "any_file_of_saved_runs_is_read_or_refused";
const char fuzz_joint[] = ",";
const unsigned long fuzz_default_runs = 20000;

#define EVENT(name)                                                            \
	"\"events\":[{\"event\":\"" name "\",\"unit\":\"events\",\"value\":7," \
	"\"values\":[7,8,9],\"deviation\":1,\"commands\":[{\"mean\":8,"        \
	"\"values\":[7,8,9]},{\"mean\":9,\"values\":[9,9,null]}]}]"

const char *const fuzz_words[] = {
	"\"upmu_stat\":1",
	"\"upmu_stat\":1",
	"\"upmu_compare\":1",
	"\"upmu_compare\":1",
	"\"runs\":3",
	"\"runs\":99999999999",
	"\"runs\":-1",
	"\"elapsed_s\":0.5",
	"\"elapsed_s\":1e308",
	"\"elapsed_deviation_s\":0.1",
	"\"command\":[\"true\",7]",
	"\"command\":\"true\"",
	"\"commands\":[{\"name\":\"a\",\"runs\":3},{\"name\":\"b\",\"runs\":3}]",
	"\"commands\":[{\"name\":7,\"runs\":\"x\"}]",
	"\"commands\":[{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}]",
	EVENT("cycles"),
	EVENT(""),
	"\"events\":[{\"event\":\"a\",\"unit\":\"s\",\"value\":1,\"values\":[1],"
	"\"commands\":[{\"mean\":1,\"values\":[1,2,3]}]},"
	"{\"event\":\"a\",\"unit\":\"s\",\"value\":1,\"values\":[1],"
	"\"commands\":[{\"mean\":1,\"values\":[1,2,3]}]}]",
	"\"events\":{}",
	"\"events\":[7]",
	"\"events\":[{\"event\":7}]",
	"\"emulated\":true",
	"\"estimated\":true",
	"\"paired\":true",
	"\"user_only\":true",
	"\"interval_s\":1",
	"{",
	"}",
	"[",
	"]",
	"null",
	"\\u0000",
};
const size_t fuzz_words_count = sizeof(fuzz_words) / sizeof(fuzz_words[0]);

static char path[32];
static FILE *file;

static void leave(void)
{
	unlink(path);
}

static void begin(void)
{
	int fd;

	fuzz_temporary(path, sizeof(path));
	fd = mkstemp(path);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	/*
	 * What is refused is told: thousands of lines. The descriptor 2 stays
	 * as it is, for sanitizers.
	 */
	stderr = fopen("/dev/null", "w");
	if (!file || !stderr)
		abort();
	atexit(leave);
}

void fuzz_input(const uint8_t *data, size_t size)
{
	static const struct compare_options options;
	struct compare compare = { .options = &options };
	char *paths[] = { path, path, NULL };
	int status;

	if (!file)
		begin();
	rewind(file);
	if (ftruncate(fileno(file), 0))
		abort();
	/* Words of a dictionary are members of an object. */
	fprintf(file, "{%.*s}", (int)size, (const char *)data);
	fflush(file);
	if (size % 2)
		paths[1] = NULL;
	status = compare_load(&compare, paths);
	FUZZ_ASSERT(compare.commands <= COMPARE_COMMANDS_MAX, data, size);
	if (!status) {
		FUZZ_ASSERT(!compare_judge(&compare), data, size);
		for (size_t i = 0; i < compare.events; i++)
			FUZZ_ASSERT(compare.event[i].name, data, size);
	}
	compare_free(&compare);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_input(data, size);
	return 0;
}
