/* SPDX-License-Identifier: MIT */
/* What one round of these instructions counts; model_insns.c reads it twice. */
/* clang-format off */
BOTH(nop, "", "nop")
BOTH(ldr, "load 1, access 1", "ldr r2, [r1]")
BOTH(ldrb, "load 1, access 1", "ldrb r2, [r1, #1]")
BOTH(ldrh, "load 1, access 1", "ldrh r2, [r1, #2]")
BOTH(ldr_reg, "load 1, access 1", "mov r3, #4; ldr r2, [r1, r3, lsl #2]")
BOTH(ldr_post, "load 1, access 1", "mov r3, r1; ldr r2, [r3], #4")
BOTH(ldr_literal, "load 1, access 1", "ldr r2, =0x12345678")
BOTH(ldrd, "load 1, access ?", "ldrd r2, r3, [r1]")
BOTH(strd, "store 1, access ?", "strd r2, r3, [r1]")
BOTH(ldm8, "load 1, access ?", "ldm r1, {r2-r9}")
BOTH(stm8, "store 1, access ?", "stm r1, {r2-r9}")
BOTH(push_pop, "load 1, store 1, access ?", "push {r2-r5}; pop {r2-r5}")
BOTH(str, "store 1, access 1", "str r2, [r1]")
BOTH(strb, "store 1, access 1", "strb r2, [r1, #3]")
BOTH(strh, "store 1, access 1", "strh r2, [r1, #2]")
BOTH(vldr_d, "load 1, access ?", "vldr d0, [r1]")
BOTH(vldr_d_word, "load 1, access ?", "vldr d0, [r1, #4]")
BOTH(vstr_d_word, "store 1, access ?", "vstr d0, [r1, #4]")
BOTH(vldr_s, "load 1, access 1", "vldr s0, [r1]")
BOTH(vldm8, "load 1, access ?", "mov r3, r1; vldm r3, {d0-d7}")
BOTH(vstm8, "store 1, access ?", "mov r3, r1; vstm r3, {d0-d7}")
BOTH(vpush_vpop, "load 1, store 1, access ?", "vpush {d8-d9}; vpop {d8-d9}")
BOTH(vld1_8_d4, "load 1, access ?", "vld1.8 {d0-d3}, [r1]")
BOTH(vld1_64_d2, "load 1, access ?", "vld1.64 {d0-d1}, [r1]")
BOTH(vld1_lane, "load 1, access 1", "vld1.32 {d0[1]}, [r1]")
BOTH(vld1_dup, "load 1, access 1", "vld1.32 {d0[]}, [r1]")
BOTH(vld4_8, "load 1, access ?", "vld4.8 {d0, d1, d2, d3}, [r1]")
BOTH(vst3_16, "store 1, access ?", "vst3.16 {d0, d1, d2}, [r1]")
BOTH(vld1_8_odd, "load 1, access ?", "add r3, r1, #1; vld1.8 {d0}, [r3]")
BOTH(vld1_32_odd, "load 1, access ?, unaligned 1",
	"add r3, r1, #1; vld1.32 {d0}, [r3]")
BOTH(ldr_odd, "load 1, access 1, unaligned 1", "ldr r2, [r1, #1]")
BOTH(ldrh_odd, "load 1, access 1, unaligned 1", "ldrh r2, [r1, #1]")
BOTH(str_odd, "store 1, access 1, unaligned 1", "str r2, [r1, #3]")
BOTH(ldr_over_line, "load 1, access 1, unaligned 1", "ldr r2, [r1, #62]")
BOTH(ldr_over_page, "load 1, access 1, unaligned 1",
	"add r3, r1, #4096; ldr r2, [r3, #-2]")
BOTH(ldrex_strex, "load 1, store 1, access 2",
	"ldrex r2, [r1]; strex r3, r2, [r1]")
BOTH(ldrexd_strexd, "load 1, store 1, access ?",
	"ldrexd r4, r5, [r1]; strexd r3, r4, r5, [r1]")
BOTH(ldrexb_strexb, "load 1, store 1, access 2",
	"ldrexb r4, [r1]; strexb r3, r4, [r1]")
BOTH(ldr_cond_fails, "", "cmp r1, #0; it eq; ldreq r2, [r1]")
BOTH(str_cond_fails, "", "cmp r1, #0; ite eq; streq r2, [r1]; movne r2, r1")
BOTH(ldm_cond_fails, "", "cmp r1, #0; it eq; ldmeq r1, {r2-r5}")
BOTH(ldr_cond_passes, "load 1, access 1", "cmp r1, #0; it ne; ldrne r2, [r1]")
BOTH(it_four, "load 1, store 1, access 2",
	"cmp r1, #0; itete ne; ldrne r2, [r1]; ldreq r3, [r1]; "
	"strne r2, [r1]; streq r3, [r1]")
BOTH(b_far, "pc_write 1, immediate 1, branch 1", "b 1f; nop; 1:")
BOTH(b_next, "pc_write 1, immediate 1, branch 1", "b 1f; 1:")
BOTH(bl_next, "pc_write 1, immediate 1, branch 1", "bl 1f; 1:")
BOTH(bcond_not_taken, "immediate 1, branch 1", "cmp r1, #0; beq 1f; nop; 1:")
BOTH(bcond_taken, "pc_write 1, immediate 1, branch 1",
	"cmp r1, #0; bne 1f; nop; 1:")
BOTH(bcond_far_taken, "pc_write 1, immediate 1, branch 1",
	"cmp r1, #0; bne 1f; .space 1024; 1:")
BOTH(bl_bxlr, "pc_write 3, immediate 2, return 1, branch 3",
	"bl 1f; b 2f; 1: bx lr; 2:")
BOTH(bl_movpclr, "pc_write 3, immediate 2, return 1, branch 3",
	"bl 1f; b 2f; 1: mov pc, lr; 2:")
BOTH(bl_poppc,
	"load 1, store 1, access 4, "
	"pc_write 3, immediate 2, return 1, branch 3",
	"bl 1f; b 2f; 1: push {r4, lr}; pop {r4, pc}; 2:")
BOTH(bl_pop1pc,
	"load 1, store 1, access 2, "
	"pc_write 3, immediate 2, return 1, branch 3",
	"bl 1f; b 2f; 1: push {lr}; pop {pc}; 2:")
BOTH(bl_ldrpc,
	"load 1, store 1, access 2, "
	"pc_write 3, immediate 2, return 1, branch 3",
	"bl 1f; b 2f; 1: push {lr}; ldr pc, [sp], #4; 2:")
ARM(blx_reg, "pc_write 3, immediate 1, return 1, branch 3",
	"adr r3, 1f; blx r3; b 2f; 1: bx lr; 2:")
ARM(bx_reg, "pc_write 1, branch 1", "adr r3, 1f; bx r3; nop; 1:")
ARM(blx_imm, "pc_write 3, immediate 2, return 1, branch 3",
	"blx 1f; b 2f; .thumb; 1: bx lr; nop; .arm; 2:")
ARM(addpc, "pc_write 1, branch 1", "add pc, pc, #0; nop; 1:")
ARM(ldrpc_table, "load 1, access 1, pc_write 1, branch 1",
	"ldr pc, [pc, #-4]; .word 1f; 1:")
THUMB(tbb, "load 1, access 1, pc_write 1, branch 1",
	"mov r3, #0; tbb [pc, r3]; 1: .byte (2f-1b)/2, (2f-1b)/2; "
	".balign 2; 2:")
THUMB(tbh, "load 1, access 1, pc_write 1, branch 1",
	"mov r3, #0; tbh [pc, r3, lsl #1]; "
	"1: .hword (2f-1b)/2, (2f-1b)/2; 2:")
THUMB(cbz_taken, "pc_write 1, immediate 1, branch 1",
	"mov r3, #0; cbz r3, 1f; nop; 1:")
THUMB(cbz_not, "immediate 1, branch 1", "cbz r1, 1f; nop; 1:")
THUMB(cbnz_taken, "pc_write 1, immediate 1, branch 1", "cbnz r1, 1f; nop; 1:")
BOTH(add_is_classed, "data 1", "adds r2, r2, r3")
BOTH(mul_is_classed, "data 1", "mul r2, r2, r3")
BOTH(mov_is_classed, "data 1", "mov r2, r3")
BOTH(vadd_f32_is_classed, "float 1, data 0", "vadd.f32 s0, s1, s2")
BOTH(vadd_f64_is_classed, "float 1", "vadd.f64 d0, d1, d2")
BOTH(vcvt_is_classed, "float 1", "vcvt.s32.f32 s0, s1")
BOTH(vadd_i32_is_classed, "simd 1, data 0", "vadd.i32 q0, q1, q2")
BOTH(vadd_f32_neon_is_classed, "simd 1", "vadd.f32 q0, q1, q2")
BOTH(ldrexd_is_classed, "load 1, access ?, exclusive 1", "ldrexd r4, r5, [r1]")
BOTH(ldrexb_is_classed, "load 1, access 1, exclusive 1", "ldrexb r4, [r1]")
BOTH(ldrex_is_classed, "load 1, access 1, exclusive 1", "ldrex r4, [r1]")
/* clang-format on */
