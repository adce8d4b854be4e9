// SPDX-License-Identifier: MIT
/*
 * unlike_work PAIRS MOVES - PAIRS loads and as many stores of one word, in
 * equal parts on CPU 0 and CPU 1 in turn, with MOVES moves between them
 */
#include "unlike.h"

int main(int argc, char **argv)
{
	if (argc != 3) {
		fputs("usage: unlike_work PAIRS MOVES\n", stderr);
		return 2;
	}
	access_and_move((uint32_t)atol(argv[1]), (uint32_t)atol(argv[2]));
	return 0;
}
