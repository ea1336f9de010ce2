//go:build !purego

#include "textflag.h"

// Rows of a: 0 to 2 at AX, 3 to 5 at R8, 6 to 8 at R10, 9 to 11 at R11; R9 is their stride in bytes.
#define ROWS \
	LEAQ (R9)(R9*2), R12; \
	LEAQ (AX)(R12*1), R8; \
	LEAQ (AX)(R12*2), R10; \
	LEAQ (R8)(R12*2), R11

#define NEXT(n) \
	ADDQ $n, AX; \
	ADDQ $n, R8; \
	ADDQ $n, R10; \
	ADDQ $n, R11

#define ZERO(z) VPXORD z, z, z

// STEP32 adds the products of one k to the 12x32 tile in Z0 to Z23. BX and DX point at 16 values of b each.
#define STEP32(aoff, boff) \
	VMOVUPS boff(BX), Z24; \
	VMOVUPS boff(DX), Z25; \
	VBROADCASTSS aoff(AX), Z26; \
	VBROADCASTSS aoff(AX)(R9*1), Z27; \
	VBROADCASTSS aoff(AX)(R9*2), Z28; \
	VFMADD231PS Z24, Z26, Z0; \
	VFMADD231PS Z25, Z26, Z1; \
	VFMADD231PS Z24, Z27, Z2; \
	VFMADD231PS Z25, Z27, Z3; \
	VFMADD231PS Z24, Z28, Z4; \
	VFMADD231PS Z25, Z28, Z5; \
	VBROADCASTSS aoff(R8), Z29; \
	VBROADCASTSS aoff(R8)(R9*1), Z30; \
	VBROADCASTSS aoff(R8)(R9*2), Z31; \
	VFMADD231PS Z24, Z29, Z6; \
	VFMADD231PS Z25, Z29, Z7; \
	VFMADD231PS Z24, Z30, Z8; \
	VFMADD231PS Z25, Z30, Z9; \
	VFMADD231PS Z24, Z31, Z10; \
	VFMADD231PS Z25, Z31, Z11; \
	VBROADCASTSS aoff(R10), Z26; \
	VBROADCASTSS aoff(R10)(R9*1), Z27; \
	VBROADCASTSS aoff(R10)(R9*2), Z28; \
	VFMADD231PS Z24, Z26, Z12; \
	VFMADD231PS Z25, Z26, Z13; \
	VFMADD231PS Z24, Z27, Z14; \
	VFMADD231PS Z25, Z27, Z15; \
	VFMADD231PS Z24, Z28, Z16; \
	VFMADD231PS Z25, Z28, Z17; \
	VBROADCASTSS aoff(R11), Z29; \
	VBROADCASTSS aoff(R11)(R9*1), Z30; \
	VBROADCASTSS aoff(R11)(R9*2), Z31; \
	VFMADD231PS Z24, Z29, Z18; \
	VFMADD231PS Z25, Z29, Z19; \
	VFMADD231PS Z24, Z30, Z20; \
	VFMADD231PS Z25, Z30, Z21; \
	VFMADD231PS Z24, Z31, Z22; \
	VFMADD231PS Z25, Z31, Z23

// ADDROW32 adds a row of the tile to the row of c at DI and goes to the next.
#define ADDROW32(lo, hi) \
	VADDPS (DI), lo, lo; \
	VADDPS 64(DI), hi, hi; \
	VMOVUPS lo, (DI); \
	VMOVUPS hi, 64(DI); \
	ADDQ SI, DI

#define ZERO24 \
	ZERO(Z0); ZERO(Z1); ZERO(Z2); ZERO(Z3); ZERO(Z4); ZERO(Z5); \
	ZERO(Z6); ZERO(Z7); ZERO(Z8); ZERO(Z9); ZERO(Z10); ZERO(Z11); \
	ZERO(Z12); ZERO(Z13); ZERO(Z14); ZERO(Z15); ZERO(Z16); ZERO(Z17); \
	ZERO(Z18); ZERO(Z19); ZERO(Z20); ZERO(Z21); ZERO(Z22); ZERO(Z23)

// func tile32AVX512(a *float32, lda int, b0, b1, c *float32, ldc, k int)
TEXT ·tile32AVX512(SB), NOSPLIT, $0-56
	MOVQ a+0(FP), AX
	MOVQ lda+8(FP), R9
	MOVQ b0+16(FP), BX
	MOVQ b1+24(FP), DX
	MOVQ c+32(FP), DI
	MOVQ ldc+40(FP), SI
	MOVQ k+48(FP), CX
	SHLQ $2, R9
	SHLQ $2, SI
	ROWS
	ZERO24
	SUBQ $2, CX
	JLT rest

two:
	STEP32(0, 0)
	STEP32(4, 64)
	NEXT(8)
	ADDQ $128, BX
	ADDQ $128, DX
	SUBQ $2, CX
	JGE two

rest:
	ADDQ $2, CX
	JZ done
	STEP32(0, 0)

done:
	ADDROW32(Z0, Z1)
	ADDROW32(Z2, Z3)
	ADDROW32(Z4, Z5)
	ADDROW32(Z6, Z7)
	ADDROW32(Z8, Z9)
	ADDROW32(Z10, Z11)
	ADDROW32(Z12, Z13)
	ADDROW32(Z14, Z15)
	ADDROW32(Z16, Z17)
	ADDROW32(Z18, Z19)
	ADDROW32(Z20, Z21)
	ADDROW32(Z22, Z23)
	VZEROUPPER
	RET

// STEP16 adds the products of one k to the 12x16 tile in Z0 to Z11. BX points at 16 values of b.
#define STEP16(aoff, boff) \
	VMOVUPS boff(BX), Z24; \
	VFMADD231PS.BCST aoff(AX), Z24, Z0; \
	VFMADD231PS.BCST aoff(AX)(R9*1), Z24, Z1; \
	VFMADD231PS.BCST aoff(AX)(R9*2), Z24, Z2; \
	VFMADD231PS.BCST aoff(R8), Z24, Z3; \
	VFMADD231PS.BCST aoff(R8)(R9*1), Z24, Z4; \
	VFMADD231PS.BCST aoff(R8)(R9*2), Z24, Z5; \
	VFMADD231PS.BCST aoff(R10), Z24, Z6; \
	VFMADD231PS.BCST aoff(R10)(R9*1), Z24, Z7; \
	VFMADD231PS.BCST aoff(R10)(R9*2), Z24, Z8; \
	VFMADD231PS.BCST aoff(R11), Z24, Z9; \
	VFMADD231PS.BCST aoff(R11)(R9*1), Z24, Z10; \
	VFMADD231PS.BCST aoff(R11)(R9*2), Z24, Z11

#define ADDROW16(z) \
	VADDPS (DI), z, z; \
	VMOVUPS z, (DI); \
	ADDQ SI, DI

// func tile16AVX512(a *float32, lda int, b, c *float32, ldc, k int)
TEXT ·tile16AVX512(SB), NOSPLIT, $0-48
	MOVQ a+0(FP), AX
	MOVQ lda+8(FP), R9
	MOVQ b+16(FP), BX
	MOVQ c+24(FP), DI
	MOVQ ldc+32(FP), SI
	MOVQ k+40(FP), CX
	SHLQ $2, R9
	SHLQ $2, SI
	ROWS
	ZERO(Z0); ZERO(Z1); ZERO(Z2); ZERO(Z3); ZERO(Z4); ZERO(Z5)
	ZERO(Z6); ZERO(Z7); ZERO(Z8); ZERO(Z9); ZERO(Z10); ZERO(Z11)

one:
	STEP16(0, 0)
	NEXT(4)
	ADDQ $64, BX
	DECQ CX
	JNZ one
	ADDROW16(Z0)
	ADDROW16(Z1)
	ADDROW16(Z2)
	ADDROW16(Z3)
	ADDROW16(Z4)
	ADDROW16(Z5)
	ADDROW16(Z6)
	ADDROW16(Z7)
	ADDROW16(Z8)
	ADDROW16(Z9)
	ADDROW16(Z10)
	ADDROW16(Z11)
	VZEROUPPER
	RET

// DOTROW adds the products of two inputs to a row of the tile; the weights are in Z24 and Z25.
#define DOTROW(a, lo, hi) \
	VPBROADCASTD a, Z26; \
	VPDPWSSD Z26, Z24, lo; \
	VPDPWSSD Z26, Z25, hi

// SCALEROW adds the scaled sums of a row to the row of c at DI and goes to the next. Z24 and Z25 hold the scales of
// the outputs, R14 points at those of the rows.
#define SCALEROW(off, lo, hi) \
	VCVTDQ2PS lo, lo; \
	VCVTDQ2PS hi, hi; \
	VBROADCASTSS off(R13), Z26; \
	VMULPS Z24, lo, lo; \
	VMULPS Z25, hi, hi; \
	VFMADD213PS (DI), Z26, lo; \
	VFMADD213PS 64(DI), Z26, hi; \
	VMOVUPS lo, (DI); \
	VMOVUPS hi, 64(DI); \
	ADDQ SI, DI

// func dotVNNI(a *int16, rowScales *float32, b0, b1 *int16, scales, c *float32, ldc, k int)
TEXT ·dotVNNI(SB), NOSPLIT, $0-64
	MOVQ a+0(FP), AX
	MOVQ rowScales+8(FP), R13
	MOVQ b0+16(FP), BX
	MOVQ b1+24(FP), DX
	MOVQ c+40(FP), DI
	MOVQ ldc+48(FP), SI
	MOVQ k+56(FP), CX
	MOVQ CX, R9
	SHLQ $1, R9
	SHLQ $2, SI
	SHRQ $1, CX
	ROWS
	ZERO24

two:
	VMOVDQU32 (BX), Z24
	VMOVDQU32 (DX), Z25
	DOTROW((AX), Z0, Z1)
	DOTROW((AX)(R9*1), Z2, Z3)
	DOTROW((AX)(R9*2), Z4, Z5)
	DOTROW((R8), Z6, Z7)
	DOTROW((R8)(R9*1), Z8, Z9)
	DOTROW((R8)(R9*2), Z10, Z11)
	DOTROW((R10), Z12, Z13)
	DOTROW((R10)(R9*1), Z14, Z15)
	DOTROW((R10)(R9*2), Z16, Z17)
	DOTROW((R11), Z18, Z19)
	DOTROW((R11)(R9*1), Z20, Z21)
	DOTROW((R11)(R9*2), Z22, Z23)
	NEXT(4)
	ADDQ $64, BX
	ADDQ $64, DX
	DECQ CX
	JNZ two

	MOVQ scales+32(FP), CX
	VMOVUPS (CX), Z24
	VMOVUPS 64(CX), Z25
	SCALEROW(0, Z0, Z1)
	SCALEROW(4, Z2, Z3)
	SCALEROW(8, Z4, Z5)
	SCALEROW(12, Z6, Z7)
	SCALEROW(16, Z8, Z9)
	SCALEROW(20, Z10, Z11)
	SCALEROW(24, Z12, Z13)
	SCALEROW(28, Z14, Z15)
	SCALEROW(32, Z16, Z17)
	SCALEROW(36, Z18, Z19)
	SCALEROW(40, Z20, Z21)
	SCALEROW(44, Z22, Z23)
	VZEROUPPER
	RET

DATA shorts<>+0(SB)/4, $0x0da24260 // 1e-30: instead of a row's maximum of 0, to be divided by
DATA shorts<>+4(SB)/4, $0x7fffffff // all but the sign
GLOBL shorts<>(SB), RODATA|NOPTR, $8

// func shortsAVX512(x *float32, to *int16, n int, top float32) float32
TEXT ·shortsAVX512(SB), NOSPLIT, $0-36
	MOVQ x+0(FP), AX
	MOVQ to+8(FP), DI
	MOVQ n+16(FP), CX
	SHRQ $4, CX
	VBROADCASTSS shorts<>+0(SB), Z0
	VPBROADCASTD shorts<>+4(SB), Z1
	MOVQ AX, BX
	MOVQ CX, DX

	// Z0: the maximum of the absolute values, in all places.
max:
	VPANDD (BX), Z1, Z2
	VMAXPS Z2, Z0, Z0
	ADDQ $64, BX
	DECQ DX
	JNZ max
	VSHUFF32X4 $0x4e, Z0, Z0, Z2
	VMAXPS Z2, Z0, Z0
	VSHUFF32X4 $0xb1, Z0, Z0, Z2
	VMAXPS Z2, Z0, Z0
	VSHUFPS $0x4e, Z0, Z0, Z2
	VMAXPS Z2, Z0, Z0
	VSHUFPS $0xb1, Z0, Z0, Z2
	VMAXPS Z2, Z0, Z0

	VBROADCASTSS top+24(FP), Z3
	VDIVPS Z3, Z0, Z4
	VMOVSS X4, ret+32(FP)
	VDIVPS Z0, Z3, Z3
round:
	VMULPS (AX), Z3, Z2
	VCVTPS2DQ Z2, Z2
	VPMOVSDW Z2, (DI)
	ADDQ $64, AX
	ADDQ $32, DI
	DECQ CX
	JNZ round
	VZEROUPPER
	RET
