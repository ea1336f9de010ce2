package encoder

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/simd"
)

// reference computes a vector by the textbook, in double precision and without any of the code under test.
type reference map[string]Tensor

func (w reference) linear(x [][]float64, name string) [][]float64 {
	m, bias := w[name+".weight"], w[name+".bias"].Values
	out := make([][]float64, len(x))
	for i, row := range x {
		for o := range m.Rows {
			s := float64(bias[o])
			for j, v := range row {
				s += v * float64(m.Values[o*m.Cols+j])
			}
			out[i] = append(out[i], s)
		}
	}
	return out
}

func (w reference) norm(x, add [][]float64, name string) [][]float64 {
	gain, bias := w[name+".weight"].Values, w[name+".bias"].Values
	for i, row := range x {
		var mean, variance float64
		for j := range row {
			if add != nil {
				row[j] += add[i][j]
			}
			mean += row[j] / float64(len(row))
		}
		for _, v := range row {
			variance += (v - mean) * (v - mean) / float64(len(row))
		}
		for j, v := range row {
			row[j] = (v-mean)/math.Sqrt(variance+1e-12)*float64(gain[j]) + float64(bias[j])
		}
	}
	return x
}

func (w reference) attend(x [][]float64, name string, heads int) [][]float64 {
	q, k, v := w.linear(x, name+"query"), w.linear(x, name+"key"), w.linear(x, name+"value")
	size := len(x[0]) / heads
	out := make([][]float64, len(x))
	for i := range x {
		out[i] = make([]float64, len(x[0]))
		for from := 0; from < len(x[0]); from += size {
			var total float64
			share := make([]float64, len(x))
			for t := range x {
				var s float64
				for j := from; j < from+size; j++ {
					s += q[i][j] * k[t][j]
				}
				share[t] = math.Exp(s / math.Sqrt(float64(size)))
				total += share[t]
			}
			for t := range x {
				for j := from; j < from+size; j++ {
					out[i][j] += share[t] / total * v[t][j]
				}
			}
		}
	}
	return out
}

// run returns what the last layer makes of each token.
func (w reference) run(c Config, p Pair) [][]float64 {
	x := make([][]float64, len(p.IDs))
	for i, id := range p.IDs {
		segment := 0
		if p.Types != nil {
			segment = int(p.Types[i])
		}
		for j := range c.Hidden {
			x[i] = append(x[i], float64(w["embeddings.word_embeddings.weight"].Values[int(id)*c.Hidden+j])+
				float64(w["embeddings.position_embeddings.weight"].Values[(c.FirstPosition+i)*c.Hidden+j])+
				float64(w["embeddings.token_type_embeddings.weight"].Values[segment*c.Hidden+j]))
		}
	}
	x = w.norm(x, nil, "embeddings.LayerNorm")
	for l := range c.Layers {
		p := fmt.Sprintf("encoder.layer.%d.", l)
		attended := w.linear(w.attend(x, p+"attention.self.", c.Heads), p+"attention.output.dense")
		x = w.norm(x, attended, p+"attention.output.LayerNorm")
		wide := w.linear(x, p+"intermediate.dense")
		for _, row := range wide {
			for j, v := range row {
				row[j] = v / 2 * (1 + math.Erf(v/math.Sqrt2))
			}
		}
		x = w.norm(x, w.linear(wide, p+"output.dense"), p+"output.LayerNorm")
	}
	return x
}

func (w reference) vector(c Config, ids []int32) []float32 {
	x := w.run(c, Pair{IDs: ids})
	if c.Pooling == PoolingCLS {
		x = x[:1]
	}
	mean := make([]float64, c.Hidden)
	var length float64
	for j := range mean {
		for i := range x {
			mean[j] += x[i][j] / float64(len(x))
		}
		length += mean[j] * mean[j]
	}
	if c.Raw {
		length = 1
	}
	v := make([]float32, c.Hidden)
	for j := range v {
		v[j] = float32(mean[j] / math.Sqrt(length))
	}
	return v
}

func (w reference) score(c Config, p Pair) float64 {
	names := headNames[c.Architecture]
	pooled := w.linear(w.run(c, p)[:1], names[0])
	for j, v := range pooled[0] {
		pooled[0][j] = math.Tanh(v)
	}
	return w.linear(pooled, names[1])[0][0]
}

func TestVectorsAreTheTextbooks(t *testing.T) {
	w := reference{}
	for _, tensor := range tinyTensors(tinyConfig) {
		w[tensor.Name] = tensor
	}
	for _, k := range simd.Available() {
		r := NewRunner(tinyModel(t, exact, k), 2)
		for n := 1; n <= tinyConfig.Positions; n++ {
			ids := sequence(n, n)
			got, err := r.Embed(t.Context(), [][]int32{ids})
			if err != nil {
				t.Fatal(err)
			}
			if d := farthest(got[0], w.vector(tinyConfig, ids)); !(d < 1e-5) {
				t.Errorf("kernel %s, %d tokens: a component is off by %g", k.Name, n, d)
			}
		}
	}
}

func TestKernelsAgree(t *testing.T) {
	a, b := tinyModel(t, int8s, simd.Portable()), tinyModel(t, int8s, simd.Fastest())
	for n := 1; n <= tinyConfig.Positions; n++ {
		kernelsAgree(t, a, b, sequence(n, 3*n))
	}
}

func TestKernelsAgreeOnTheBuiltInModel(t *testing.T) {
	file := builtin(t)
	a, err := load(file, simd.Portable())
	if err != nil {
		t.Fatal(err)
	}
	b, err := load(file, simd.Fastest())
	if err != nil {
		t.Fatal(err)
	}
	kernelsAgree(t, a, b, []int32{101, 2129, 2146, 2003, 1996, 2558, 1997, 5060, 1029, 102})
}

func kernelsAgree(t *testing.T, a, b *Model, ids []int32) {
	t.Helper()
	x, err := NewRunner(a, 1).Embed(t.Context(), [][]int32{ids})
	if err != nil {
		t.Fatal(err)
	}
	y, err := NewRunner(b, 1).Embed(t.Context(), [][]int32{ids})
	if err != nil {
		t.Fatal(err)
	}
	if d := farthest(x[0], y[0]); !(d < 1e-4) {
		t.Errorf("%d tokens: kernels %s and %s differ by %g", len(ids), a.Kernel(), b.Kernel(), d)
	}
}

func TestVectorsDoNotDependOnTheBatchOrWhatRanBefore(t *testing.T) {
	m := tinyModel(t, int8s, simd.Fastest())
	var batch [][]int32
	for n := 1; n <= tinyConfig.Positions; n += 3 {
		batch = append(batch, sequence(n, n))
	}
	many, err := NewRunner(m, 3).Embed(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	for i, ids := range batch {
		alone, err := NewRunner(m, 1).Embed(t.Context(), [][]int32{ids})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(many[i], alone[0]); diff != "" {
			t.Errorf("%d tokens (-batch +alone):\n%s", len(ids), diff)
		}
	}
}
