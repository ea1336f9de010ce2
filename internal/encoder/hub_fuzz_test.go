package encoder

import (
	"errors"
	"testing"
)

func FuzzParseConfig(f *testing.F) {
	for _, s := range []string{
		`{"model_type":"bert","num_hidden_layers":1,"hidden_size":384,"num_attention_heads":12,"intermediate_size":1536,"vocab_size":30522,"max_position_embeddings":512,"type_vocab_size":2,"layer_norm_eps":1e-12}`,
		`{"model_type":"xlm-roberta","pad_token_id":9223372036854775807,"max_position_embeddings":-9223372036854775808}`,
		`{"model_type":"bert","architectures":["BertForSequenceClassification"],"id2label":{"0":"a"},"hidden_size":0,"num_attention_heads":0}`,
		`{"model_type":"gpt2"}`, `{"hidden_act":"relu"}`, `[]`, `{"position_embedding_type":"relative_key"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := parseConfig(raw)
		if err == nil {
			if c.Logits == 0 {
				c.Pooling = PoolingMean // what a folder without a description of it has
			}
			err = c.validate()
		}
		if err != nil {
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrUnsupported) {
				t.Errorf("an error of another kind: %v", err)
			}
			return
		}
		for _, l := range c.layout() {
			if l.Rows < 1 || l.Cols < 1 {
				t.Fatalf("%s is taken for a model with %s of %d by %d", raw, l.Name, l.Rows, l.Cols)
			}
		}
	})
}
