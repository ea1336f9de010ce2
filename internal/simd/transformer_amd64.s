//go:build !purego

#include "textflag.h"

// STEP adds the products of one k to the 6x16 tile in Y0 to Y11. AX and R8 point at rows 0 and 3 of a, R9 is the
// row stride in bytes, BX points at 16 values of b.
#define STEP(aoff, boff) \
	VMOVUPS boff(BX), Y12; \
	VMOVUPS (boff+32)(BX), Y13; \
	VBROADCASTSS aoff(AX), Y14; \
	VBROADCASTSS aoff(AX)(R9*1), Y15; \
	VFMADD231PS Y12, Y14, Y0; \
	VFMADD231PS Y13, Y14, Y1; \
	VFMADD231PS Y12, Y15, Y2; \
	VFMADD231PS Y13, Y15, Y3; \
	VBROADCASTSS aoff(AX)(R9*2), Y14; \
	VBROADCASTSS aoff(R8), Y15; \
	VFMADD231PS Y12, Y14, Y4; \
	VFMADD231PS Y13, Y14, Y5; \
	VFMADD231PS Y12, Y15, Y6; \
	VFMADD231PS Y13, Y15, Y7; \
	VBROADCASTSS aoff(R8)(R9*1), Y14; \
	VBROADCASTSS aoff(R8)(R9*2), Y15; \
	VFMADD231PS Y12, Y14, Y8; \
	VFMADD231PS Y13, Y14, Y9; \
	VFMADD231PS Y12, Y15, Y10; \
	VFMADD231PS Y13, Y15, Y11

// ADDROW adds a row of the tile to the row of c at DI and goes to the next.
#define ADDROW(lo, hi) \
	VADDPS (DI), lo, lo; \
	VADDPS 32(DI), hi, hi; \
	VMOVUPS lo, (DI); \
	VMOVUPS hi, 32(DI); \
	ADDQ SI, DI

// func tileAVX2(a *float32, lda int, b, c *float32, ldc, k int)
TEXT ·tileAVX2(SB), NOSPLIT, $0-48
	MOVQ a+0(FP), AX
	MOVQ lda+8(FP), R9
	MOVQ b+16(FP), BX
	MOVQ c+24(FP), DI
	MOVQ ldc+32(FP), SI
	MOVQ k+40(FP), CX
	SHLQ $2, R9
	SHLQ $2, SI
	LEAQ (R9)(R9*2), R8
	ADDQ AX, R8
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11
	SUBQ $4, CX
	JLT rest

four:
	STEP(0, 0)
	STEP(4, 64)
	STEP(8, 128)
	STEP(12, 192)
	ADDQ $16, AX
	ADDQ $16, R8
	ADDQ $256, BX
	SUBQ $4, CX
	JGE four

rest:
	ADDQ $4, CX
	JZ done

one:
	STEP(0, 0)
	ADDQ $4, AX
	ADDQ $4, R8
	ADDQ $64, BX
	DECQ CX
	JNZ one

done:
	ADDROW(Y0, Y1)
	ADDROW(Y2, Y3)
	ADDROW(Y4, Y5)
	ADDROW(Y6, Y7)
	ADDROW(Y8, Y9)
	ADDROW(Y10, Y11)
	VZEROUPPER
	RET

// Constants, the same as in transformer.go: exp by Cephes, erf by Abramowitz and Stegun 7.1.26.
DATA consts<>+0(SB)/4, $0xc2aeac50  // -87.33655
DATA consts<>+4(SB)/4, $0x3fb8aa3b  // log2 e
DATA consts<>+8(SB)/4, $0x3f318000  // ln 2, first bits
DATA consts<>+12(SB)/4, $0xb95e8083 // ln 2, the rest
DATA consts<>+16(SB)/4, $0x39506967 // 1.9875691500e-4
DATA consts<>+20(SB)/4, $0x3ab743ce // 1.3981999507e-3
DATA consts<>+24(SB)/4, $0x3c088908 // 8.3334519073e-3
DATA consts<>+28(SB)/4, $0x3d2aa9c1 // 4.1665795894e-2
DATA consts<>+32(SB)/4, $0x3e2aaaaa // 1.6666665459e-1
DATA consts<>+36(SB)/4, $0x3f000000 // 0.5
DATA consts<>+40(SB)/4, $0x3f800000 // 1
DATA consts<>+44(SB)/4, $0x7fffffff // all but the sign
DATA consts<>+48(SB)/4, $0x3f3504f3 // 1/sqrt 2
DATA consts<>+52(SB)/4, $0x3ea7ba05 // 0.3275911
DATA consts<>+56(SB)/4, $0x3f87dc22 // 1.061405429
DATA consts<>+60(SB)/4, $0xbfba00e3 // -1.453152027
DATA consts<>+64(SB)/4, $0x3fb5f0e3 // 1.421413741
DATA consts<>+68(SB)/4, $0xbe91a98e // -0.284496736
DATA consts<>+72(SB)/4, $0x3e827906 // 0.254829592
GLOBL consts<>(SB), RODATA|NOPTR, $76

// EXPCONSTS loads what EXP needs into Y6 to Y15.
#define EXPCONSTS \
	VBROADCASTSS consts<>+0(SB), Y6; \
	VBROADCASTSS consts<>+4(SB), Y7; \
	VBROADCASTSS consts<>+8(SB), Y8; \
	VBROADCASTSS consts<>+12(SB), Y9; \
	VBROADCASTSS consts<>+16(SB), Y10; \
	VBROADCASTSS consts<>+20(SB), Y11; \
	VBROADCASTSS consts<>+24(SB), Y12; \
	VBROADCASTSS consts<>+28(SB), Y13; \
	VBROADCASTSS consts<>+32(SB), Y14; \
	VBROADCASTSS consts<>+36(SB), Y15

// EXP sets Y2 to e^Y0 for Y0 up to 0. It changes Y0 and Y1.
#define EXP \
	VMAXPS Y6, Y0, Y0; \
	VMULPS Y7, Y0, Y1; \
	VROUNDPS $0, Y1, Y1; \
	VFNMADD231PS Y8, Y1, Y0; \
	VFNMADD231PS Y9, Y1, Y0; \
	VMOVAPS Y10, Y2; \
	VFMADD213PS Y11, Y0, Y2; \
	VFMADD213PS Y12, Y0, Y2; \
	VFMADD213PS Y13, Y0, Y2; \
	VFMADD213PS Y14, Y0, Y2; \
	VFMADD213PS Y15, Y0, Y2; \
	VCVTPS2DQ Y1, Y1; \
	VPSLLD $23, Y1, Y1; \
	VMULPS Y0, Y2, Y2; \
	VFMADD213PS Y0, Y0, Y2; \
	VBROADCASTSS consts<>+40(SB), Y0; \
	VADDPS Y0, Y2, Y2; \
	VPADDD Y1, Y2, Y2

// func softmaxAVX2(x *float32, n int)
TEXT ·softmaxAVX2(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), AX
	MOVQ n+8(FP), CX
	SHRQ $3, CX
	EXPCONSTS

	// Y4: the maximum, in all places.
	MOVQ AX, BX
	MOVQ CX, DX
	VMOVUPS (BX), Y4
max:
	VMAXPS (BX), Y4, Y4
	ADDQ $32, BX
	DECQ DX
	JNZ max
	VPERM2F128 $1, Y4, Y4, Y0
	VMAXPS Y0, Y4, Y4
	VSHUFPS $0x4e, Y4, Y4, Y0
	VMAXPS Y0, Y4, Y4
	VSHUFPS $0xb1, Y4, Y4, Y0
	VMAXPS Y0, Y4, Y4

	// Y5: the sum, in all places.
	MOVQ AX, BX
	MOVQ CX, DX
	VXORPS Y5, Y5, Y5
exp:
	VMOVUPS (BX), Y0
	VSUBPS Y4, Y0, Y0
	EXP
	VMOVUPS Y2, (BX)
	VADDPS Y2, Y5, Y5
	ADDQ $32, BX
	DECQ DX
	JNZ exp
	VPERM2F128 $1, Y5, Y5, Y0
	VADDPS Y0, Y5, Y5
	VSHUFPS $0x4e, Y5, Y5, Y0
	VADDPS Y0, Y5, Y5
	VSHUFPS $0xb1, Y5, Y5, Y0
	VADDPS Y0, Y5, Y5

	VBROADCASTSS consts<>+40(SB), Y0
	VDIVPS Y5, Y0, Y5
scale:
	VMULPS (AX), Y5, Y0
	VMOVUPS Y0, (AX)
	ADDQ $32, AX
	DECQ CX
	JNZ scale
	VZEROUPPER
	RET

// func geluAVX2(x *float32, n int)
TEXT ·geluAVX2(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), AX
	MOVQ n+8(FP), CX
	SHRQ $3, CX
	EXPCONSTS
gelu:
	// Y3: z = |x|/sqrt 2; Y2: e^(-z*z).
	VMOVUPS (AX), Y4
	VBROADCASTSS consts<>+44(SB), Y0
	VBROADCASTSS consts<>+48(SB), Y1
	VANDPS Y0, Y4, Y3
	VMULPS Y1, Y3, Y3
	VXORPS Y0, Y0, Y0
	VFNMADD231PS Y3, Y3, Y0
	EXP

	// Y3: t = 1/(1 + p*z); Y5: the polynomial in t.
	VBROADCASTSS consts<>+40(SB), Y0
	VBROADCASTSS consts<>+52(SB), Y1
	VFMADD213PS Y0, Y1, Y3
	VDIVPS Y3, Y0, Y3
	VBROADCASTSS consts<>+56(SB), Y5
	VBROADCASTSS consts<>+60(SB), Y1
	VFMADD213PS Y1, Y3, Y5
	VBROADCASTSS consts<>+64(SB), Y1
	VFMADD213PS Y1, Y3, Y5
	VBROADCASTSS consts<>+68(SB), Y1
	VFMADD213PS Y1, Y3, Y5
	VBROADCASTSS consts<>+72(SB), Y1
	VFMADD213PS Y1, Y3, Y5
	VMULPS Y3, Y5, Y5

	// erf z = 1 - Y5*Y2, with the sign of x; x becomes x/2 * (1 + erf).
	VFNMADD213PS Y0, Y2, Y5
	VBROADCASTSS consts<>+44(SB), Y1
	VANDNPS Y4, Y1, Y1
	VXORPS Y1, Y5, Y5
	VADDPS Y0, Y5, Y5
	VMULPS Y15, Y4, Y4
	VMULPS Y5, Y4, Y4
	VMOVUPS Y4, (AX)
	ADDQ $32, AX
	DECQ CX
	JNZ gelu
	VZEROUPPER
	RET
