//go:build !purego

#include "textflag.h"

// ROW adds the products of one k to a row of the tile. V24 to V27 hold 16 values of b, p points at the value of a.
#define ROW(p, c0, c1, c2, c3) \
	VLD1R.P 4(p), [V28.S4]; \
	VFMLA V24.S4, V28.S4, c0; \
	VFMLA V25.S4, V28.S4, c1; \
	VFMLA V26.S4, V28.S4, c2; \
	VFMLA V27.S4, V28.S4, c3

// ZERO clears a row of the tile.
#define ZERO(c0, c1, c2, c3) \
	VEOR c0, c0, c0; \
	VEOR c1, c1, c1; \
	VEOR c2, c2, c2; \
	VEOR c3, c3, c3

// ADDROW adds a row of the tile to the row of c at R3 and goes to the next. V31 holds ones: there is no sum of
// vectors in this assembler, but a sum of products.
#define ADDROW(c0, c1, c2, c3) \
	VLD1 (R3), [V24.S4, V25.S4, V26.S4, V27.S4]; \
	VFMLA V31.S4, c0, V24.S4; \
	VFMLA V31.S4, c1, V25.S4; \
	VFMLA V31.S4, c2, V26.S4; \
	VFMLA V31.S4, c3, V27.S4; \
	VST1 [V24.S4, V25.S4, V26.S4, V27.S4], (R3); \
	ADD R4, R3

// func tileNEON(a *float32, lda int, b, c *float32, ldc, k int)
TEXT ·tileNEON(SB), NOSPLIT, $0-48
	MOVD a+0(FP), R0
	MOVD lda+8(FP), R1
	MOVD b+16(FP), R2
	MOVD c+24(FP), R3
	MOVD ldc+32(FP), R4
	MOVD k+40(FP), R5
	LSL $2, R1
	LSL $2, R4
	ADD R1, R0, R6
	ADD R1, R6, R7
	ADD R1, R7, R8
	ADD R1, R8, R9
	ADD R1, R9, R10
	ZERO(V0.B16, V1.B16, V2.B16, V3.B16)
	ZERO(V4.B16, V5.B16, V6.B16, V7.B16)
	ZERO(V8.B16, V9.B16, V10.B16, V11.B16)
	ZERO(V12.B16, V13.B16, V14.B16, V15.B16)
	ZERO(V16.B16, V17.B16, V18.B16, V19.B16)
	ZERO(V20.B16, V21.B16, V22.B16, V23.B16)

one:
	VLD1.P 64(R2), [V24.S4, V25.S4, V26.S4, V27.S4]
	ROW(R0, V0.S4, V1.S4, V2.S4, V3.S4)
	ROW(R6, V4.S4, V5.S4, V6.S4, V7.S4)
	ROW(R7, V8.S4, V9.S4, V10.S4, V11.S4)
	ROW(R8, V12.S4, V13.S4, V14.S4, V15.S4)
	ROW(R9, V16.S4, V17.S4, V18.S4, V19.S4)
	ROW(R10, V20.S4, V21.S4, V22.S4, V23.S4)
	SUBS $1, R5
	BNE one

	FMOVS $1.0, F31
	VDUP V31.S[0], V31.S4
	ADDROW(V0.S4, V1.S4, V2.S4, V3.S4)
	ADDROW(V4.S4, V5.S4, V6.S4, V7.S4)
	ADDROW(V8.S4, V9.S4, V10.S4, V11.S4)
	ADDROW(V12.S4, V13.S4, V14.S4, V15.S4)
	ADDROW(V16.S4, V17.S4, V18.S4, V19.S4)
	ADDROW(V20.S4, V21.S4, V22.S4, V23.S4)
	RET
