// Package ragtest holds the conformance suites of the provider contracts, and fakes for tests. A provider's author runs the
// suite of the contract in one line:
//
//	func TestStore(t *testing.T) {
//		ragtest.TestVectorStore(t, func(t *testing.T, dir string) rag.VectorStore { return mystore.Open(dir) })
//	}
//
// A provider behind a network runs the suite of its faults too, with a server that is there:
//
//	func TestStoreFaults(t *testing.T) {
//		ragtest.TestVectorStoreFaults(t, "127.0.0.1:8000", func(t *testing.T, at string) rag.VectorStore { return mystore.Open(at) })
//	}
//
// Each subtest is named after the sentence of the contract that it checks.
package ragtest
