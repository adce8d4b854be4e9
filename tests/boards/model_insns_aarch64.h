/* SPDX-License-Identifier: MIT */
/* What one round of these instructions counts; model_insns.c reads it twice. */
/* clang-format off */
ROW(nop, "", "nop")
ROW(ldr_x, "load 1, access 1", "ldr x2, [x1]")
ROW(ldrb, "load 1, access 1", "ldrb w2, [x1, #1]")
ROW(ldr_post, "load 1, access 1", "mov x3, x1; ldr x2, [x3], #8")
ROW(ldr_literal, "load 1, access 1, pc_write 1, immediate 1, branch 1",
	"ldr x2, 1f; b 2f; .balign 8; 1: .quad 1; 2:")
ROW(ldp_x, "load 1, access ?", "ldp x2, x3, [x1]")
ROW(stp_x, "store 1, access ?", "stp x2, x3, [x1]")
ROW(ldp_q, "load 1, access ?", "ldp q2, q3, [x1]")
ROW(ldr_q, "load 1, access ?", "ldr q2, [x1]")
ROW(str_q, "store 1, access ?", "str q2, [x1]")
ROW(ldr_d, "load 1, access 1", "ldr d2, [x1]")
ROW(ld1_4, "load 1, access ?", "ld1 {v0.16b-v3.16b}, [x1]")
ROW(ld4, "load 1, access ?", "ld4 {v0.8b-v3.8b}, [x1]")
ROW(ld1r, "load 1, access 1", "ld1r {v0.4s}, [x1]")
ROW(ld1_lane, "load 1, access 1", "ld1 {v0.s}[1], [x1]")
ROW(st1_2, "store 1, access ?", "st1 {v0.4s-v1.4s}, [x1]")
ROW(ldr_odd, "load 1, access 1, unaligned 1", "ldur x2, [x1, #1]")
ROW(ldp_odd, "load 1, access ?, unaligned 1",
	"add x4, x1, #1; ldp x2, x3, [x4]")
ROW(ldr_q_odd, "load 1, access ?, unaligned 1", "ldur q2, [x1, #1]")
ROW(ldr_q_at8, "load 1, access ?, unaligned 1", "ldur q2, [x1, #8]")
ROW(ldp_at8, "load 1, access ?", "ldp x2, x3, [x1, #8]")
ROW(ldr_over_line, "load 1, access 1, unaligned 1", "ldur x2, [x1, #60]")
ROW(ldr_over_page, "load 1, access 1, unaligned 1",
	"add x4, x1, #4096; ldur x2, [x4, #-4]")
ROW(ldp_two_lines, "load 1, access ?", "ldp x2, x3, [x1, #56]")
ROW(ldxr_stxr, "load 1, store 1, access 2", "ldxr x2, [x1]; stxr w3, x2, [x1]")
ROW(ldaxr_stlxr, "load 1, store 1, access 2",
	"ldaxr x2, [x1]; stlxr w3, x2, [x1]")
ROW(ldxp_stxp, "load 1, store 1, access ?",
	"ldxp x2, x4, [x1]; stxp w3, x2, x4, [x1]")
ROW(ldar_stlr, "load 1, store 1, access 2", "ldar x2, [x1]; stlr x2, [x1]")
ROW(b_far, "pc_write 1, immediate 1, branch 1", "b 1f; nop; 1:")
ROW(b_next, "pc_write 1, immediate 1, branch 1", "b 1f; 1:")
ROW(bl_next, "pc_write 1, immediate 1, branch 1", "bl 1f; 1:")
ROW(bcond_not_taken, "immediate 1, branch 1", "cmp x1, #0; b.eq 1f; nop; 1:")
ROW(cbz_not, "immediate 1, branch 1", "cbz x1, 1f; nop; 1:")
ROW(cbnz_taken, "pc_write 1, immediate 1, branch 1", "cbnz x1, 1f; nop; 1:")
ROW(tbz_taken, "pc_write 1, immediate 1, branch 1", "tbz x1, #0, 1f; nop; 1:")
ROW(bl_ret, "pc_write 3, immediate 2, return 1, branch 3",
	"bl 1f; b 2f; 1: ret; 2:")
ROW(blr_ret, "pc_write 3, immediate 1, return 1, branch 3",
	"adr x3, 1f; blr x3; b 2f; 1: ret; 2:")
ROW(ret_x3, "pc_write 1, return 1, branch 1", "adr x3, 1f; ret x3; nop; 1:")
ROW(br, "pc_write 1, branch 1", "adr x3, 1f; br x3; nop; 1:")
ROW(add_is_classed, "data 1", "add x2, x2, x3")
ROW(fadd_is_classed, "float 1, data 0", "fadd s0, s1, s2")
ROW(vadd_is_classed, "simd 1, data 0", "add v0.4s, v1.4s, v2.4s")
ROW(fmla_is_classed, "simd 1", "fmla v0.4s, v1.4s, v2.4s")
ROW(crc32_is_classed, "data 1", ".arch armv8-a+crc; crc32b w2, w2, w3")
ROW(ldaxr_is_classed, "load 1, access 1, exclusive 1, acquire 1",
	"ldaxr x2, [x1]")
ROW(ldxr_is_classed, "load 1, access 1, exclusive 1, acquire 0",
	"ldxr x2, [x1]")
ROW(ldar_is_classed, "load 1, access 1, acquire 1, exclusive 0",
	"ldar x2, [x1]")
ROW(stlr_is_classed, "store 1, access 1, release 1", "stlr x2, [x1]")
LSE(ldaddal_is_classed, "load 1, store 1, access 2, acquire 1, release 1",
	"ldaddal x2, x3, [x1]")
LSE(casl_is_classed, "load 1, store 1, access 2, acquire 0, release 1",
	"casl x2, x2, [x1]")
LSE(casa_is_classed,
	"load 1, store 1, access 2, acquire 1, "
	"release 0, exclusive 0",
	"casa x2, x2, [x1]")
LSE(ldadd, "load 1, store 1, access 2", "ldadd x2, x3, [x1]")
LSE(ldaddal, "load 1, store 1, access 2", "ldaddal x2, x3, [x1]")
LSE(stadd, "load ?, store 1, access ?", "stadd x2, [x1]")
LSE(swp, "load 1, store 1, access 2", "swp x2, x3, [x1]")
LSE(cas, "load 1, store 1, access 2", "mov x2, #0; cas x2, x2, [x1]")
LSE(casp, "load 1, store 1, access ?",
	"mov x2, #0; mov x3, #0; casp x2, x3, x2, x3, [x1]")
/* clang-format on */
