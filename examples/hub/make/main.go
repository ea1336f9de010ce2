// Make draws the picture of the example. Run it in examples/hub with go run ./make.
package main

import (
	"log"
	"os"

	"github.com/seed-d8745b77/rag/examples/internal/drawing"
)

func main() {
	data, err := topology().PNG()
	if err == nil {
		err = os.WriteFile("docs/img/topology.png", data, 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// topology is that of the load test.
func topology() *drawing.Canvas {
	c := drawing.New(640, 200)
	c.Box(10, 20, 150, 50, "GENERATOR 1", "SALLOW")
	c.Box(10, 130, 150, 50, "GENERATOR 2", "SALLOW")
	c.Box(220, 75, 90, 50, "EDGE")
	c.Right(160, 220, 90)
	c.Right(160, 220, 110)
	c.Box(370, 75, 130, 50, "LEDGER", "OUTBOX")
	c.Right(310, 370, 100)
	c.Box(560, 75, 70, 50, "LOG")
	c.Right(500, 560, 100)
	return c
}
