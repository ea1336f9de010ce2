//go:build race

package vectorstore_test

// slower is the factor that collections are made smaller by.
const slower = 4
