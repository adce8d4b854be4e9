// SPDX-License-Identifier: MIT
/* Rank r touches 1000 * (r + 1) pages that nobody touched before. */
#include <mpi.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), pages;
	volatile char *memory;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	pages = 1000 * ((size_t)rank + 1);
	memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		MPI_Abort(MPI_COMM_WORLD, 1);
	madvise((void *)memory, pages * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		memory[i * page] = 1;
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Finalize();
}
