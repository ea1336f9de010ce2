package simd

import "math"

// tileGo computes a tile of 6 rows. It works on 3x2 values of c at a time: the sums of that many, and what goes into them, fit the registers.
func tileGo(a []float32, lda int, b, c []float32, ldc, k int) {
	for i := 0; i < 6; i += 3 {
		a0 := a[i*lda:][:k]
		a1 := a[(i+1)*lda:][:k]
		a2 := a[(i+2)*lda:][:k]
		for j := 0; j < TileCols; j += 2 {
			var s00, s01, s10, s11, s20, s21 float32
			rest := b[j:]
			for p, x := range a0 {
				v, w := rest[p*TileCols], rest[p*TileCols+1]
				y, z := a1[p], a2[p]
				s00 += x * v
				s01 += x * w
				s10 += y * v
				s11 += y * w
				s20 += z * v
				s21 += z * w
			}
			c0, c1, c2 := c[i*ldc+j:][:2], c[(i+1)*ldc+j:][:2], c[(i+2)*ldc+j:][:2]
			c0[0] += s00
			c0[1] += s01
			c1[0] += s10
			c1[1] += s11
			c2[0] += s20
			c2[1] += s21
		}
	}
}

func softmaxGo(x []float32) {
	top := x[0]
	for _, v := range x {
		top = max(top, v)
	}
	var sum float32
	for i, v := range x {
		e := exp32(v - top)
		x[i] = e
		sum += e
	}
	scale := 1 / sum
	for i := range x {
		x[i] *= scale
	}
}

func geluGo(x []float32) {
	for i, v := range x {
		x[i] = 0.5 * v * (1 + erf32(v*(1/math.Sqrt2)))
	}
}

// exp32 is e^x for x up to 0, to a relative error of about 1e-7 (the polynomial of Cephes' expf).
func exp32(x float32) float32 {
	const (
		least   = -87.33655 // e^least is the smallest normal float32
		ln2High = 0.693359375
		ln2Low  = -2.12194440e-4 // ln 2 = ln2High + ln2Low
	)
	x = max(x, least)
	n := float32(math.RoundToEven(float64(x * math.Log2E)))
	f := x - n*ln2High - n*ln2Low
	p := float32(1.9875691500e-4)
	p = p*f + 1.3981999507e-3
	p = p*f + 8.3334519073e-3
	p = p*f + 4.1665795894e-2
	p = p*f + 1.6666665459e-1
	p = p*f + 5.0000001201e-1
	p = p*f*f + f + 1
	return math.Float32frombits(math.Float32bits(p) + uint32(int32(n))<<23)
}

// erf32 is the error function to 1.5e-7 (Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26).
func erf32(x float32) float32 {
	z := max(x, -x)
	t := 1 / (1 + 0.3275911*z)
	p := float32(1.061405429)
	p = p*t - 1.453152027
	p = p*t + 1.421413741
	p = p*t - 0.284496736
	p = p*t + 0.254829592
	y := 1 - p*t*exp32(-z*z)
	if x < 0 {
		return -y
	}
	return y
}
