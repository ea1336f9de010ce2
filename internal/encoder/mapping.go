package encoder

// mapping is a file's content. It must stay reachable while its bytes are read.
type mapping struct {
	bytes []byte
}
