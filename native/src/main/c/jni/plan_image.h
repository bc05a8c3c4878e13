/*
 * The plan of one cadence as Java lays it out (PlanImage.java): 64-bit words in native byte order. Two sides of one form; a change
 * here raises PLAN_ABI, and Java refuses a library with another number.
 */
#ifndef GPUWARDEN_PLAN_IMAGE_H
#define GPUWARDEN_PLAN_IMAGE_H

#include <stdint.h>

enum { PLAN_ABI = 1 };

/* Header words. Offsets are in words from the image's start unless noted as bytes. */
enum {
    H_ABI,
    H_STEPS,         /* offset of the steps */
    H_SLOTS,         /* offset of the pairs (slot, opening absence) */
    H_SLOT_COUNT,
    H_CADENCE,       /* 0 fast, 1 slow, 2 memory */
    H_SCRATCH,       /* byte address of scratch memory */
    H_FRAME_HEADER,  /* bytes before the first slot of a frame */
    H_FRAME_SLOT,    /* bytes per slot */
    H_FRAME_SLOTS,   /* slots in all */
    H_PENDING,       /* ordinals of Absence */
    H_PRESENT,
    H_NOT_SUPPORTED,
    H_NO_SYMBOL,
    H_IMPLAUSIBLE,
    H_OTHER_CAUSE,   /* cause of a code beyond H_CAUSES */
    H_CAUSES,        /* ordinals by nvmlReturn 0..31 */
    H_CAUSE_COUNT = 32,
    H_WORDS = H_CAUSES + H_CAUSE_COUNT
};

/* Frame header, bytes (GpuFrame.java). */
enum { FRAME_SAMPLED_AT = 0, FRAME_DURATION = 24, FRAME_CALLS = 48 };

/* Every step begins with its kind and the offset of the next step. */
enum { STEP_END, STEP_CALL, STEP_FIELDS, STEP_LINK_COUNT, STEP_LINK_FIELDS, STEP_LINK_CALL };
enum { S_KIND, S_NEXT, S_FUNCTION };

/* STEP_CALL; then takes of four words: offset, width, slot, sum. */
enum { C_SHAPE = 3, C_A, C_B, C_C, C_VERSION, C_TAKE_COUNT, C_TAKES };
enum { T_OFFSET, T_WIDTH, T_SLOT, T_SUM, T_WORDS };

/* STEP_FIELDS; then fields of three words: id, scope, slot. */
enum { F_COUNT = 3, F_ENTRIES /* byte address */, F_FIELDS };
enum { V_ID, V_SCOPE, V_SLOT, V_WORDS };

/* STEP_LINK_COUNT. */
enum { N_SOURCE = 3, N_FIRST_SLOT, N_PER_LINK, N_MAX_LINKS };

/* STEP_LINK_FIELDS: where the counts by number of links begin, then like STEP_FIELDS. */
enum { L_UP_TO = 3, L_ENTRIES, L_FIELDS };

/* STEP_LINK_CALL. */
enum { K_SHAPE = 3, K_ARGUMENT, K_WIDTH, K_FIRST_SLOT, K_PER_LINK };

/* Shape.java, Take.Width, by ordinal. */
enum { SHAPE_OUT, SHAPE_ARG_OUT, SHAPE_ARG2_OUT, SHAPE_ARG3_OUT, SHAPE_PAIR, SHAPE_QUAD, SHAPE_COUNT, SHAPE_FIELDS };
enum { WIDTH_U32, WIDTH_S32, WIDTH_U64, WIDTH_U8 };

enum { SCRATCH_ZEROED = 640 };

/* Returns 0 where the library reported that it is not initialised. */
int plan_run(const int64_t *image, void *device, char *frame);

#endif
