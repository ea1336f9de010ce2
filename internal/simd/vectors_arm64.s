//go:build !purego

#include "textflag.h"

// The products of a query and rows, one after the other. Both functions have the form
//
//	func(q *V, n int, rows **V, count int, out *S)
//
// with n above 0 and a multiple of 64 bytes. R0 points at the query, R1 counts down the steps, R2 points at the list of
// rows, R3 counts the rows, R4 points at the results.

#define ARGS \
	MOVD n+8(FP), R5; \
	MOVD rows+16(FP), R2; \
	MOVD count+24(FP), R3; \
	MOVD out+32(FP), R4

// func dotRowsNEON(q *float32, n int, rows **float32, count int, out *float32)
TEXT ·dotRowsNEON(SB), NOSPLIT, $0-40
	ARGS
	LSR $4, R5
	FMOVS $1.0, F31
	VDUP V31.S[0], V31.S4
row:
	MOVD q+0(FP), R0
	MOVD.P 8(R2), R6
	MOVD R5, R1
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
step:
	VLD1.P 64(R0), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R6), [V8.S4, V9.S4, V10.S4, V11.S4]
	VFMLA V4.S4, V8.S4, V0.S4
	VFMLA V5.S4, V9.S4, V1.S4
	VFMLA V6.S4, V10.S4, V2.S4
	VFMLA V7.S4, V11.S4, V3.S4
	SUBS $1, R1
	BNE step

	// There is no sum of vectors in this assembler, but a sum of products; V31 holds ones.
	VFMLA V31.S4, V1.S4, V0.S4
	VFMLA V31.S4, V3.S4, V2.S4
	VFMLA V31.S4, V2.S4, V0.S4
	VMOV V0.S[1], V1.S[0]
	VMOV V0.S[2], V2.S[0]
	VMOV V0.S[3], V3.S[0]
	FADDS F1, F0, F0
	FADDS F3, F2, F2
	FADDS F2, F0, F0
	FMOVS.P F0, 4(R4)
	SUBS $1, R3
	BNE row
	RET

// The assembler lacks these: products of the lower and of the upper eight bytes, and adding pairs of words to longs.
#define SMULL(m, n, d) WORD $(0x0E20C000 | (m)<<16 | (n)<<5 | (d))
#define SMULL2(m, n, d) WORD $(0x4E20C000 | (m)<<16 | (n)<<5 | (d))
#define SADALP(n, d) WORD $(0x4E606800 | (n)<<5 | (d))

// PRODUCTS adds the products of 16 bytes to V0 and V1.
#define PRODUCTS(a, b) \
	SMULL(a, b, 12); \
	SMULL2(a, b, 13); \
	SADALP(12, 0); \
	SADALP(13, 1)

// func dotInt8RowsNEON(q *int8, n int, rows **int8, count int, out *int32)
TEXT ·dotInt8RowsNEON(SB), NOSPLIT, $0-40
	ARGS
	LSR $6, R5
row:
	MOVD q+0(FP), R0
	MOVD.P 8(R2), R6
	MOVD R5, R1
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
step:
	VLD1.P 64(R0), [V4.B16, V5.B16, V6.B16, V7.B16]
	VLD1.P 64(R6), [V8.B16, V9.B16, V10.B16, V11.B16]
	PRODUCTS(4, 8)
	PRODUCTS(5, 9)
	PRODUCTS(6, 10)
	PRODUCTS(7, 11)
	SUBS $1, R1
	BNE step
	VADD V1.S4, V0.S4, V0.S4
	VADDV V0.S4, V0
	FMOVS.P F0, 4(R4)
	SUBS $1, R3
	BNE row
	RET
