package examples_test

import (
	"os"
	"testing"

	"github.com/seed-d8745b77/rag/internal/systemtest"
)

func TestMain(m *testing.M) { os.Exit(systemtest.Run(m)) }
