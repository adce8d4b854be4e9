// SPDX-License-Identifier: MIT
/*
 * What PAPI and LIKWID call events. A name of theirs, '=', then the events
 * that they add up ('+') and take off ('-') for it.
 */
#include <stddef.h>
#include <string.h>

#include "lib/events/text.h"
#include "list.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct calls {
	const char *cores; /* a blank between two */
	const char *names;
};

/* PAPI's of Neoverse N1, N2 and V1: alike but for vectors. */
#define NEOVERSE_PRESETS                                              \
	"br_ins=br_pred br_msp=br_mis_pred br_prc=br_pred-"           \
	"br_mis_pred fp_ins=vfp_spec hw_int=exc_irq+exc_fiq "         \
	"l1_dca=l1d_cache l1_dcm=l1d_cache_refill "                   \
	"l1_dcr=l1d_cache_rd l1_dcw=l1d_cache_wr l1_ica=l1i_cache "   \
	"l1_ich=l1i_cache-l1i_cache_refill l1_icm=l1i_cache_refill "  \
	"l2_dca=l2d_cache_rd+l2d_cache_wr l2_dcm=l2d_cache_refill "   \
	"l2_dcr=l2d_cache_rd l2_dcw=l2d_cache_wr "                    \
	"l2_ldm=l2d_cache_refill_rd l2_tca=l2d_cache ld_ins=ld_spec " \
	"lst_ins=ld_spec+st_spec res_stl=stall_backend "              \
	"sr_ins=st_spec stl_icy=stall_frontend+stall_backend "        \
	"syc_ins=isb_spec+dsb_spec+dmb_spec tlb_dm=l2d_tlb_refill "   \
	"tot_cyc=cpu_cycles tot_ins=inst_retired"

/*
 * PAPI_... in lower case, from its papi_events.csv (48842c6). Left out: what
 * it multiplies by the length of a vector, and what it asks of other
 * components.
 */
static const struct calls papi[] = {
	{ "arm1176", "br_ins=br_exec br_msp=br_mispredict "
		     "l1_dca=dcache_access_all l1_dch=dcache_access_cacheable "
		     "l1_dcm=dcache_miss l1_icm=icache_miss stl_icy=ibuf_stall "
		     "tlb_dm=dtlb_miss tlb_im=itlb_miss tot_cyc=cpu_cycles "
		     "tot_ins=instr_exec" },
	{ "cortex-a7",
	  "br_ins=pc_write_retired br_msp=br_mis_pred hw_int=exc_taken "
	  "l1_dca=mem_access l1_dcm=l1d_cache_refill l1_ica=l1i_cache "
	  "l1_icm=l1i_cache_refill l2_dca=l2d_cache "
	  "l2_dcm=l2d_cache_refill l2_tcm=ext_mem_req "
	  "ld_ins=ld_retired sr_ins=st_retired tlb_dm=l1d_tlb_refill "
	  "tlb_im=l1i_tlb_refill tot_cyc=cpu_cycles "
	  "tot_ins=inst_retired" },
	{ "cortex-a8",
	  "br_ins=pc_write_retired br_msp=br_mis_pred "
	  "br_tkn=br_exec_taken l1_dca=l1d_cache "
	  "l1_dcm=l1d_cache_refill l1_ica=l1_icache_access "
	  "l1_icm=l1i_cache_refill l2_tca=l2_cache_access "
	  "l2_tcm=l2_cache_refill ld_ins=ld_retired sr_ins=st_retired "
	  "stl_icy=stall_iside tlb_dm=l1d_tlb_refill "
	  "tlb_im=l1i_tlb_refill tot_cyc=cpu_cycles "
	  "tot_ins=inst_retired" },
	{ "cortex-a9",
	  "br_ins=pc_write_retired br_msp=br_mis_pred "
	  "fp_ins=fp_instr_rename hw_int=ext_irq l1_dca=l1d_cache "
	  "l1_dcm=l1d_cache_refill l1_icm=l1i_cache_refill "
	  "ld_ins=ld_retired sr_ins=st_retired tlb_dm=l1d_tlb_refill "
	  "tlb_im=l1i_tlb_refill tot_cyc=cpu_cycles "
	  "tot_iis=main_unit_instr tot_ins=instr_core_rename "
	  "vec_ins=neon_instr_rename" },
	{ "cortex-a15 cortex-a57 cortex-a72",
	  "br_ins=pc_write_spec br_msp=br_mis_pred fp_ins=vfp_spec "
	  "l1_dca=l1d_cache_rd+l1d_cache_wr l1_dcm=l1d_cache_refill_rd+"
	  "l1d_cache_refill_wr l1_dcr=l1d_cache_rd l1_dcw=l1d_cache_wr "
	  "l1_ica=l1i_cache l1_icm=l1i_cache_refill l2_dch=l2d_cache "
	  "l2_dcm=l2d_cache_refill l2_dcr=l2d_cache_rd "
	  "l2_dcw=l2d_cache_wr l2_ldm=l2d_cache_refill_rd "
	  "l2_stm=l2d_cache_refill_wr ld_ins=mem_access_rd "
	  "sr_ins=mem_access_wr tot_cyc=cpu_cycles tot_iis=inst_spec "
	  "tot_ins=inst_retired vec_ins=ase_spec" },
	{ "cortex-a53",
	  "br_ins=br_pred br_msp=br_mis_pred hw_int=exc_taken "
	  "l1_dca=l1d_cache l1_dcm=l1d_cache_refill "
	  "l1_icm=l1i_cache_refill l2_dca=l2d_cache "
	  "l2_dcm=l2d_cache_refill ld_ins=ld_retired sr_ins=st_retired "
	  "tlb_dm=l1d_tlb_refill tlb_im=l1i_tlb_refill "
	  "tot_cyc=cpu_cycles tot_ins=inst_retired" },
	{ "cortex-a76",
	  "br_ins=br_retired br_msp=br_mis_pred br_prc=br_pred-"
	  "br_mis_pred fp_ins=vfp_spec int_ins=dp_spec "
	  "l1_dca=l1d_cache l1_dch=l1d_cache-l1d_cache_refill "
	  "l1_dcm=l1d_cache_refill l1_dcr=l1d_cache_rd "
	  "l1_dcw=l1d_cache_wr l1_ica=l1i_cache l1_ich=l1i_cache-"
	  "l1i_cache_refill l1_icm=l1i_cache_refill "
	  "l1_ldm=l1d_cache_refill_rd l1_stm=l1d_cache_refill_wr "
	  "l1_tca=l1i_cache+l1d_cache l1_tch=l1d_cache+l1i_cache-"
	  "l1i_cache_refill-l1d_cache_refill l1_tcm=l1i_cache_refill+"
	  "l1d_cache_refill l2_dca=l2d_cache-l2d_cache_rd "
	  "l2_dch=l2d_cache-l2d_cache_refill l2_dcm=l2d_cache_refill "
	  "l2_dcr=l2d_cache_rd l2_dcw=l2d_cache_wr "
	  "l2_ldm=l2d_cache_refill_rd l2_stm=l2d_cache_refill_wr "
	  "l2_tca=l2d_cache l2_tch=l2d_cache-l2d_cache_refill "
	  "l2_tcm=l2d_cache_refill l2_tcr=l2d_cache_rd "
	  "l2_tcw=l2d_cache_wr l3_dca=l3d_cache l3_dch=l3d_cache-"
	  "l3d_cache_refill l3_dcm=l3d_cache_refill "
	  "l3_dcr=l3d_cache_rd l3_ldm=ll_cache_miss_rd "
	  "l3_stm=l3d_cache_refill-ll_cache_miss_rd "
	  "l3_tca=l2d_cache_refill l3_tch=ll_cache_rd-ll_cache_miss_rd "
	  "l3_tcm=l3d_cache_refill l3_tcr=l3d_cache_rd "
	  "l3_tcw=l3d_cache-l3d_cache_rd ld_ins=ld_spec sr_ins=st_spec "
	  "stl_icy=stall_frontend+stall_backend tlb_dm=l1d_tlb_refill+"
	  "l2d_tlb_refill tlb_im=l1i_tlb_refill tlb_tl=l1i_tlb_refill+"
	  "l1d_tlb_refill+l2d_tlb_refill tot_cyc=cpu_cycles "
	  "tot_ins=inst_retired vec_ins=ase_spec" },
	/* PAPI's krait and X-Gene. */
	{ "krait", "br_ins=pc_write_retired br_msp=br_mis_pred "
		   "l1_dca=l1d_cache l1_dcm=l1d_cache_refill "
		   "tot_cyc=cpu_cycles tot_iis=inst_retired "
		   "tot_ins=inst_retired" },
	{ "emag", "br_ins=pc_write_spec br_msp=br_mis_pred fp_ins=vfp_spec "
		  "l1_dca=l1d_cache_rd+l1d_cache_wr l1_dcm=l1d_cache_refill "
		  "l1_dcr=l1d_cache_rd l1_dcw=l1d_cache_wr l1_ica=l1i_cache "
		  "l1_icm=l1i_cache_refill l2_dch=l2d_cache "
		  "l2_dcm=l2d_cache_refill l2_dcr=l2d_cache_rd "
		  "l2_dcw=l2d_cache_wr l2_ldm=l2d_cache_refill_rd "
		  "l2_stm=l2d_cache_refill_wr ld_ins=mem_access_rd "
		  "sr_ins=mem_access_wr tot_cyc=cpu_cycles "
		  "tot_ins=inst_retired vec_ins=ase_spec" },
	{ "thunderx2",
	  "br_ins=br_retired fp_ins=vfp_spec l1_dca=l1d_cache_rd+"
	  "l1d_cache_wr l1_dcm=l1d_cache_refill l1_dcr=l1d_cache_rd "
	  "l1_dcw=l1d_cache_wr l1_ica=l1i_cache "
	  "l1_icm=l1i_cache_refill l2_dch=l2d_cache "
	  "l2_dcm=l2d_cache_refill l2_dcr=l2d_cache_rd "
	  "l2_dcw=l2d_cache_wr l2_ldm=l2d_cache_refill_rd "
	  "ld_ins=ld_retired sr_ins=st_retired tot_cyc=cpu_cycles "
	  "tot_ins=inst_retired vec_ins=ase_spec" },
	{ "a64fx", "br_ins=br_pred br_msp=br_mis_pred br_prc=br_pred-"
		   "br_mis_pred bru_idl=br_comp_wait fma_ins=fp_fma_spec "
		   "fp_ins=fp_spec fpu_idl=fl_comp_wait ful_ccy=cpu_cycles-"
		   "inst_commit_0-inst_commit_1-inst_commit_2-inst_commit_3 "
		   "fxu_idl=eu_comp_wait-fl_comp_wait hw_int=exc_irq+exc_fiq "
		   "l1_dcm=l1d_cache_refill l1_ica=l1i_cache l1_ich=l1i_cache-"
		   "l1i_cache_refill l1_icm=l1i_cache_refill "
		   "l1_tcm=l1d_cache_refill+l1i_cache_refill l2_dca=l2d_cache "
		   "l2_dch=l2d_cache-l2d_cache_refill+l2d_swap_dm+"
		   "l2d_cache_mibmch_prf l2_dcm=l2d_cache_refill-l2d_swap_dm-"
		   "l2d_cache_mibmch_prf l2_tca=l2d_cache l2_tch=l2d_cache-"
		   "l2d_cache_refill+l2d_swap_dm+l2d_cache_mibmch_prf "
		   "l2_tcm=l2d_cache_refill-l2d_swap_dm-l2d_cache_mibmch_prf "
		   "ld_ins=ld_spec lst_ins=ldst_spec lsu_idl=ld_comp_wait "
		   "mem_scy=ld_comp_wait_l2_miss prf_dm=l2d_cache_refill_prf-"
		   "l2d_cache_mibmch_prf res_stl=stall_backend sr_ins=st_spec "
		   "stl_ccy=inst_commit_0 stl_icy=stall_frontend+stall_backend "
		   "syc_ins=isb_spec+dsb_spec+dmb_spec tlb_dm=l2d_tlb_refill "
		   "tlb_im=l2i_tlb_refill tlb_tl=l2d_tlb_refill+l2i_tlb_refill "
		   "tot_cyc=cpu_cycles tot_ins=inst_retired "
		   "vec_ins=simd_inst_retired" },
	{ "neoverse-n1", NEOVERSE_PRESETS " vec_ins=ase_spec" },
	{ "neoverse-n2 neoverse-v1",
	  NEOVERSE_PRESETS " vec_ins=sve_inst_spec+ase_inst_spec" },
	{ "neoverse-v2",
	  "br_ins=br_retired br_msp=br_mis_pred_retired "
	  "br_prc=br_retired-br_mis_pred_retired fp_ins=fp_hp_spec+"
	  "fp_sp_spec+fp_dp_spec fp_ops=fp_scale_ops_spec+"
	  "fp_fixed_ops_spec hw_int=exc_irq+exc_fiq int_ins=dp_spec "
	  "l1_dca=l1d_cache l1_dch=l1d_cache-l1d_cache_refill "
	  "l1_dcm=l1d_cache_refill l1_dcr=l1d_cache_rd "
	  "l1_dcw=l1d_cache_wr l1_ica=l1i_cache l1_ich=l1i_cache-"
	  "l1i_cache_refill l1_icm=l1i_cache_refill l1_tca=l1d_cache+"
	  "l1i_cache l1_tch=l1d_cache-l1d_cache_refill+l1i_cache-"
	  "l1i_cache_refill l1_tcm=l1d_cache_refill+l1i_cache_refill "
	  "l2_dca=l2d_cache l2_dch=l2d_cache-l2d_cache_refill "
	  "l2_dcm=l2d_cache_refill l2_dcr=l2d_cache_rd "
	  "l2_dcw=l2d_cache_wr l2_ldm=l2d_cache_refill_rd "
	  "l2_stm=l2d_cache_refill_wr l2_tca=l2d_cache "
	  "l2_tch=l2d_cache-l2d_cache_refill l2_tcm=l2d_cache_refill "
	  "l2_tcr=l2d_cache_rd l2_tcw=l2d_cache_wr l3_dca=l3d_cache "
	  "l3_dcm=l3d_cache_refill l3_tca=l3d_cache ld_ins=ld_spec "
	  "lst_ins=ld_spec+st_spec ref_cyc=cnt_cycles "
	  "res_stl=stall_backend sr_ins=st_spec stl_ccy=stall "
	  "stl_icy=stall syc_ins=isb_spec+dsb_spec+dmb_spec "
	  "tlb_dm=l2d_tlb_refill tlb_im=l1i_tlb_refill "
	  "tlb_tl=l1d_tlb_refill+l2d_tlb_refill tot_cyc=cpu_cycles "
	  "tot_ins=inst_retired vec_ins=sve_inst_spec+ase_inst_spec" },
	{ "monaka",
	  "br_ins=br_pred br_msp=br_mis_pred br_prc=br_pred-"
	  "br_mis_pred bru_idl=br_comp_wait fdv_ins=fp_div_spec "
	  "fma_ins=fp_fma_spec fml_ins=fp_mul_spec fp_ins=fp_spec "
	  "fpu_idl=fl_comp_wait fsq_ins=fp_sqrt_spec "
	  "ful_ccy=cpu_cycles-inst_commit_0-inst_commit_1-"
	  "inst_commit_2-inst_commit_3-inst_commit_4 "
	  "fxu_idl=eu_comp_wait-fl_comp_wait hw_int=exc_irq+exc_fiq "
	  "int_ins=int_spec l1_dca=l1d_cache l1_dch=l1d_cache-"
	  "l1d_cache_refill l1_dcm=l1d_cache_refill "
	  "l1_dcr=l1d_cache_rd l1_dcw=l1d_cache_wr l1_ica=l1i_cache "
	  "l1_ich=l1i_cache-l1i_cache_refill l1_icm=l1i_cache_refill "
	  "l1_ldm=l1d_cache_refill_dm_rd+l1i_cache_refill_dm_rd "
	  "l1_stm=l1d_cache_refill_dm_wr l1_tca=l1d_cache+l1i_cache "
	  "l1_tch=l1d_cache-l1d_cache_refill+l1i_cache-"
	  "l1i_cache_refill l1_tcm=l1d_cache_refill+l1i_cache_refill "
	  "l2_dca=l2d_cache l2_dch=l2d_cache-l2d_cache_refill "
	  "l2_dcm=l2d_cache_refill l2_dcr=l2d_cache_rd "
	  "l2_dcw=l2d_cache_wr l2_ldm=l2d_cache_refill_dm_rd "
	  "l2_stm=l2d_cache_refill_dm_wr l2_tca=l2d_cache "
	  "l2_tch=l2d_cache-l2d_cache_refill l2_tcm=l2d_cache_refill "
	  "l2_tcr=l2d_cache_rd l2_tcw=l2d_cache_wr "
	  "l3_dca=l2d_cache_refill_l3d_cache l3_dcr=l3d_cache_rd "
	  "l3_dcw=l2d_cache_refill_l3d_cache-l3d_cache_rd "
	  "l3_ldm=l2d_cache_refill_l3d_miss_dm_rd "
	  "l3_stm=l2d_cache_refill_l3d_miss_dm_wr "
	  "l3_tca=l2d_cache_refill_l3d_cache l3_tcr=l3d_cache_rd "
	  "l3_tcw=l2d_cache_refill_l3d_cache-l3d_cache_rd "
	  "ld_ins=ld_spec lst_ins=ldst_spec lsu_idl=ld_comp_wait "
	  "mem_scy=stall_frontend_membound+stall_backend_membound "
	  "ref_cyc=cnt_cycles res_stl=stall_backend sr_ins=st_spec "
	  "stl_ccy=inst_commit_0 stl_icy=stall_frontend+stall_backend "
	  "syc_ins=isb_spec+dsb_spec+dmb_spec+csdb_spec "
	  "tlb_dm=l2d_tlb_refill tlb_im=l2i_tlb_refill "
	  "tlb_tl=l2d_tlb_refill+l2i_tlb_refill tot_cyc=cpu_cycles "
	  "tot_ins=inst_retired vec_dp=ase_sve_fp_dp_spec "
	  "vec_ins=simd_inst_retired vec_sp=ase_sve_fp_sp_spec" },
};

/*
 * For the cores that PAPI has no list of: as most of its lists have them. '|'
 * parts events of which the first is meant that the core has.
 */
static const char papi_usual[] =
	"br_ins=br_retired|br_exec|pc_write_spec|br_pred "
	"br_msp=br_mis_pred|br_mispredict|branch_mispred_nonspec "
	"bru_idl=br_comp_wait fdv_ins=fp_div_spec fma_ins=fp_fma_spec "
	"fml_ins=fp_mul_spec fp_ins=fp_spec|vfp_spec "
	"fpu_idl=fl_comp_wait fsq_ins=fp_sqrt_spec int_ins=int_spec|"
	"dp_spec l1_dca=l1d_cache|dcache_access "
	"l1_dcm=l1d_cache_refill|dcache_miss l1_dcr=l1d_cache_rd "
	"l1_dcw=l1d_cache_wr l1_ica=l1i_cache l1_icm=l1i_cache_refill|"
	"icache_miss l1_ldm=l1d_cache_refill_rd "
	"l1_stm=l1d_cache_refill_wr l2_dcm=l2d_cache_refill "
	"l2_dcr=l2d_cache_rd l2_dcw=l2d_cache_wr "
	"l2_ldm=l2d_cache_refill_rd l2_stm=l2d_cache_refill_wr "
	"l2_tca=l2d_cache l2_tcm=l2d_cache_refill l3_dca=l3d_cache "
	"l3_dcm=l3d_cache_refill l3_dcr=l3d_cache_rd "
	"l3_ldm=ll_cache_miss_rd ld_ins=ld_spec|ld_retired "
	"lst_ins=ldst_spec lsu_idl=ld_comp_wait ref_cyc=cnt_cycles "
	"res_stl=stall_backend sr_ins=st_spec|st_retired stl_icy=stall|"
	"ibuf_stall tlb_dm=l2d_tlb_refill|l1d_tlb_refill|dtlb_miss "
	"tlb_im=l1i_tlb_refill|itlb_miss tot_cyc=cpu_cycles "
	"tot_ins=inst_retired|instr_exec|inst_all "
	"vec_ins=simd_inst_retired|ase_spec";

/* LIKWID's where they are not the core's own (d9c523b). */
static const struct calls likwid[] = {
	{ "a64fx", "0inst_commit=inst_commit_0 1inst_commit=inst_commit_1 "
		   "2inst_commit=inst_commit_2 3inst_commit=inst_commit_3 "
		   "4inst_commit=inst_commit_4 l1d_miss_wait=l1_miss_wait "
		   "ld_comp_wait_pfp=ld_comp_wait_pfp_busy "
		   "ld_comp_wait_pfp_ex=ld_comp_wait_pfp_busy_ex "
		   "ld_comp_wait_pfp_swpf=ld_comp_wait_pfp_busy_swpf" },
	{ "apple-firestorm apple-icestorm",
	  "branches_retired_misp=branch_mispred_nonspec "
	  "data_cache_load_miss=l1d_cache_miss_ld_nonspec "
	  "data_cache_store_miss=l1d_cache_miss_st_nonspec "
	  "dtlb_miss=l1d_tlb_miss_nonspec inst_retired=inst_all "
	  "itlb_miss=l1i_tlb_miss_demand "
	  "st_hit_yngr_ld=st_memory_order_violation_nonspec" },
	{ "thunderx2", "br_return_mis_predretired=br_return_mis_pred_retired "
		       "op_retired=uops_retired" },
	{ "neoverse-v1",
	  "bus_access_req=bus_access_rd bus_access_retry=bus_access_wr "
	  "cache_access_rd=l2d_cache_rd cache_access_wr=l2d_cache_wr "
	  "cache_rd_refill=l2d_cache_refill_rd "
	  "cache_wr_refill=l2d_cache_refill_wr "
	  "cache_writeback_clean_coh=l2d_cache_wb_clean "
	  "cache_writeback_victim=l2d_cache_wb_victim "
	  "counter_overflow=chain l2cache_inv=l2d_cache_inval "
	  "l2tlb_rd_refill=l2d_tlb_refill_rd l2tlb_rd_req=l2d_tlb_rd "
	  "l2tlb_wr_refill=l2d_tlb_refill_wr l2tlb_wr_req=l2d_tlb_wr "
	  "l3_cache_rd=l3d_cache_rd" },
	{ "neoverse-n1", "l3_cache_rd=l3d_cache_rd" },
};

static const char *of_core(const struct calls *calls, size_t n,
			   const char *core)
{
	size_t length = strlen(core);

	for (size_t i = 0; i < n; i++) {
		const char *at = calls[i].cores;

		while (*at) {
			size_t word = strcspn(at, " ");

			if (word == length && !memcmp(at, core, word))
				return calls[i].names;
			at += word + (at[word] == ' ');
		}
	}
	return NULL;
}

const char *others_of_papi(const char *core)
{
	const char *names = of_core(papi, COUNT_OF(papi), core);

	return names ? names : papi_usual;
}

const char *others_of_likwid(const char *core)
{
	const char *names = of_core(likwid, COUNT_OF(likwid), core);

	return names ? names : "";
}

bool others_next(const char **names, struct others_name *out)
{
	const char *at = *names;

	if (!*at)
		return false;
	out->name = at;
	out->name_length = strcspn(at, "=");
	out->events = at + out->name_length + 1;
	out->events_length = strcspn(out->events, " ");
	at = out->events + out->events_length;
	*names = at + (*at == ' ');
	return true;
}

bool others_find(const char *names, const char *name, size_t length,
		 struct others_name *out)
{
	while (others_next(&names, out))
		if (upmu_text_is(out->name, out->name_length, name, length))
			return true;
	return false;
}
