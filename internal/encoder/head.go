package encoder

import "math"

// head turns the vector of a pair's first token into a score: a layer with tanh, then one with a single output.
type head struct {
	dense     []float32 // [Hidden][Hidden], a row for each output
	denseBias []float32 // [Hidden]
	out       []float32 // [Hidden]
	outBias   float32
}

// headNames are the two layers of a head by the names of the architecture.
func (c Config) headNames() (dense, out string) {
	if c.Architecture == ArchitectureRoBERTa {
		return "classifier.dense", "classifier.out_proj"
	}
	return "pooler.dense", "classifier"
}

// loadHead reads a head.
func loadHead(w *weights) (*head, error) {
	dense, out := w.config.headNames()
	hidden := w.config.Hidden
	h := &head{}
	var err error
	if h.dense, err = w.rows(dense+".weight", hidden, hidden); err != nil {
		return nil, err
	}
	if h.denseBias, err = w.vector(dense+".bias", hidden); err != nil {
		return nil, err
	}
	if h.out, err = w.vector(out+".weight", hidden); err != nil {
		return nil, err
	}
	bias, err := w.vector(out+".bias", 1)
	if err != nil {
		return nil, err
	}
	h.outBias = bias[0]
	return h, nil
}

// score returns the logit for the vector of the first token.
func (h *head) score(first []float32) float32 {
	logit := float64(h.outBias)
	for i, b := range h.denseBias {
		s := float64(b)
		for j, w := range h.dense[i*len(first) : (i+1)*len(first)] {
			s += float64(w) * float64(first[j])
		}
		logit += float64(h.out[i]) * math.Tanh(s)
	}
	return float32(logit)
}
