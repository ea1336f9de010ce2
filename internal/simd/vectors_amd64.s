//go:build !purego

#include "textflag.h"

// The products of a query and rows, four at a time. All functions have the form
//
//	func(q *V, n int, rows **V, count int, out *S)
//
// with n above 0 and a multiple of 64 bytes, and use registers alike: SI points at the query, R8 to R11 at the rows, and
// R12, R13, R14, BX at the four after them, which are fetched into the cache meanwhile. CX is the offset of what is
// multiplied next, DX where it ends; DI points at the list of rows, AX at the results. Where the list is short of four,
// a row is taken more than once: each row's product is the same, to the bit, wherever in a list it stands.

#define ARGS \
	MOVQ q+0(FP), SI; \
	MOVQ n+8(FP), DX; \
	MOVQ rows+16(FP), DI; \
	MOVQ out+32(FP), AX

// ROWS loads the rows and the next ones.
#define ROWS \
	MOVQ count+24(FP), CX; \
	MOVQ (DI), R8; \
	MOVQ R8, R9; \
	MOVQ R8, R10; \
	MOVQ R8, R11; \
	CMPQ CX, $2; \
	JLT loaded; \
	MOVQ 8(DI), R9; \
	JEQ loaded; \
	MOVQ 16(DI), R10; \
	CMPQ CX, $4; \
	JLT loaded; \
	MOVQ 24(DI), R11; \
loaded: \
	MOVQ R8, R12; \
	MOVQ R9, R13; \
	MOVQ R10, R14; \
	MOVQ R11, BX; \
	CMPQ CX, $5; \
	JLT next; \
	MOVQ 32(DI), R12; \
	JEQ next; \
	MOVQ 40(DI), R13; \
	CMPQ CX, $7; \
	JLT next; \
	MOVQ 48(DI), R14; \
	JEQ next; \
	MOVQ 56(DI), BX; \
next: \
	XORQ CX, CX

// FETCH asks for a cache line of each of the next rows.
#define FETCH \
	PREFETCHT0 (R12)(CX*1); \
	PREFETCHT0 (R13)(CX*1); \
	PREFETCHT0 (R14)(CX*1); \
	PREFETCHT0 (BX)(CX*1)

// STORE writes the results in X0 and jumps to four, or behind itself after the last.
#define STORE \
	CMPQ count+24(FP), $4; \
	JLT some; \
	VMOVUPS X0, (AX); \
	ADDQ $16, AX; \
	ADDQ $32, DI; \
	SUBQ $4, count+24(FP); \
	JNZ four; \
	JMP done; \
some: \
	VMOVSS X0, (AX); \
	VPSRLDQ $4, X0, X0; \
	ADDQ $4, AX; \
	DECQ count+24(FP); \
	JNZ some; \
done: \
	VZEROUPPER

// SUM adds up the values of each of X0, X1, X2 and X3 into X0.
#define SUM \
	VUNPCKLPS X1, X0, X4; \
	VUNPCKHPS X1, X0, X5; \
	VADDPS X5, X4, X4; \
	VUNPCKLPS X3, X2, X6; \
	VUNPCKHPS X3, X2, X7; \
	VADDPS X7, X6, X6; \
	VMOVLHPS X6, X4, X0; \
	VMOVHLPS X4, X6, X1; \
	VADDPS X1, X0, X0

#define SUMINT \
	VPHADDD X1, X0, X0; \
	VPHADDD X3, X2, X2; \
	VPHADDD X2, X0, X0

// QUARTER adds the upper half of y to its lower one, x.
#define QUARTER(y, x, tmp) \
	VEXTRACTF128 $1, y, tmp; \
	VADDPS tmp, x, x

#define QUARTERINT(y, x, tmp) \
	VEXTRACTI128 $1, y, tmp; \
	VPADDD tmp, x, x

// HALF adds the upper half of z to its lower one, y.
#define HALF(z, y, tmp) \
	VEXTRACTF64X4 $1, z, tmp; \
	VADDPS tmp, y, y

#define HALFINT(z, y, tmp) \
	VEXTRACTI64X4 $1, z, tmp; \
	VPADDD tmp, y, y

// PRODUCTS adds the products of 16 values of a row to two sums; the query's are in Y8 and Y9.
#define PRODUCTS(row, lo, hi) \
	VFMADD231PS (row)(CX*1), Y8, lo; \
	VFMADD231PS 32(row)(CX*1), Y9, hi

// func dotRowsAVX2(q *float32, n int, rows **float32, count int, out *float32)
TEXT ·dotRowsAVX2(SB), NOSPLIT, $0-40
	ARGS
	SHLQ $2, DX
four:
	ROWS
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
step:
	FETCH
	VMOVUPS (SI)(CX*1), Y8
	VMOVUPS 32(SI)(CX*1), Y9
	PRODUCTS(R8, Y0, Y4)
	PRODUCTS(R9, Y1, Y5)
	PRODUCTS(R10, Y2, Y6)
	PRODUCTS(R11, Y3, Y7)
	ADDQ $64, CX
	CMPQ CX, DX
	JLT step
	VADDPS Y4, Y0, Y0
	VADDPS Y5, Y1, Y1
	VADDPS Y6, Y2, Y2
	VADDPS Y7, Y3, Y3
	QUARTER(Y0, X0, X4)
	QUARTER(Y1, X1, X5)
	QUARTER(Y2, X2, X6)
	QUARTER(Y3, X3, X7)
	SUM
	STORE
	RET

// PRODUCTSINT adds the products of 16 bytes of a row to a sum; the query's are in Y8 as words.
#define PRODUCTSINT(off, row, sum, tmp) \
	VPMOVSXBW off(row)(CX*1), tmp; \
	VPMADDWD Y8, tmp, tmp; \
	VPADDD tmp, sum, sum

#define STEPINT(off) \
	VPMOVSXBW off(SI)(CX*1), Y8; \
	PRODUCTSINT(off, R8, Y0, Y4); \
	PRODUCTSINT(off, R9, Y1, Y5); \
	PRODUCTSINT(off, R10, Y2, Y6); \
	PRODUCTSINT(off, R11, Y3, Y7)

// func dotInt8RowsAVX2(q *int8, n int, rows **int8, count int, out *int32)
TEXT ·dotInt8RowsAVX2(SB), NOSPLIT, $0-40
	ARGS
four:
	ROWS
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
step:
	FETCH
	STEPINT(0)
	STEPINT(16)
	STEPINT(32)
	STEPINT(48)
	ADDQ $64, CX
	CMPQ CX, DX
	JLT step
	QUARTERINT(Y0, X0, X4)
	QUARTERINT(Y1, X1, X5)
	QUARTERINT(Y2, X2, X6)
	QUARTERINT(Y3, X3, X7)
	SUMINT
	STORE
	RET

// func dotRowsAVX512(q *float32, n int, rows **float32, count int, out *float32)
TEXT ·dotRowsAVX512(SB), NOSPLIT, $0-40
	ARGS
	SHLQ $2, DX
four:
	ROWS
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
step:
	FETCH
	VMOVUPS (SI)(CX*1), Z8
	VFMADD231PS (R8)(CX*1), Z8, Z0
	VFMADD231PS (R9)(CX*1), Z8, Z1
	VFMADD231PS (R10)(CX*1), Z8, Z2
	VFMADD231PS (R11)(CX*1), Z8, Z3
	ADDQ $64, CX
	CMPQ CX, DX
	JLT step
	HALF(Z0, Y0, Y4)
	HALF(Z1, Y1, Y5)
	HALF(Z2, Y2, Y6)
	HALF(Z3, Y3, Y7)
	QUARTER(Y0, X0, X4)
	QUARTER(Y1, X1, X5)
	QUARTER(Y2, X2, X6)
	QUARTER(Y3, X3, X7)
	SUM
	STORE
	RET

// func dotInt8RowsVNNI(q *int8, n int, rows **int8, count int, out *int32)
//
// The instruction multiplies bytes without a sign by bytes with one: a row gets 128 added to each value, by turning the
// top bit, and X9 is what to take off again, 128 times the sum of the query.
TEXT ·dotInt8RowsVNNI(SB), NOSPLIT, $0-40
	ARGS
	MOVL $0x80808080, CX
	VPBROADCASTD CX, Z10
	VPXORD Z9, Z9, Z9
	XORQ CX, CX
query:
	VPDPBUSD (SI)(CX*1), Z10, Z9
	ADDQ $64, CX
	CMPQ CX, DX
	JLT query
	HALFINT(Z9, Y9, Y8)
	QUARTERINT(Y9, X9, X8)
	VPHADDD X9, X9, X9
	VPHADDD X9, X9, X9
four:
	ROWS
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
step:
	FETCH
	VMOVDQU32 (SI)(CX*1), Z8
	VPXORD (R8)(CX*1), Z10, Z4
	VPXORD (R9)(CX*1), Z10, Z5
	VPXORD (R10)(CX*1), Z10, Z6
	VPXORD (R11)(CX*1), Z10, Z7
	VPDPBUSD Z8, Z4, Z0
	VPDPBUSD Z8, Z5, Z1
	VPDPBUSD Z8, Z6, Z2
	VPDPBUSD Z8, Z7, Z3
	ADDQ $64, CX
	CMPQ CX, DX
	JLT step
	HALFINT(Z0, Y0, Y4)
	HALFINT(Z1, Y1, Y5)
	HALFINT(Z2, Y2, Y6)
	HALFINT(Z3, Y3, Y7)
	QUARTERINT(Y0, X0, X4)
	QUARTERINT(Y1, X1, X5)
	QUARTERINT(Y2, X2, X6)
	QUARTERINT(Y3, X3, X7)
	SUMINT
	VPSUBD X9, X0, X0
	STORE
	RET
