// Package ragtest holds the conformance suites of the provider contracts, and fakes for tests. A provider's author runs the
// suite of the contract in one line:
//
//	func TestStore(t *testing.T) {
//		ragtest.TestVectorStore(t, func(t *testing.T, dir string) rag.VectorStore { return mystore.Open(dir) })
//	}
//
// Each subtest is named after the sentence of the contract that it checks.
package ragtest
