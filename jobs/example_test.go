package jobs_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag/jobs"
)

func Example() {
	m := jobs.New(jobs.Options{})
	defer m.Close()
	job, err := m.Start(jobs.Spec{Owner: "ann", Kind: jobs.KindIngest, Work: func(context.Context, *jobs.Run) (any, error) {
		return "three documents", nil // jobs.Ingest is the work of an ingest
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range job.Follow(context.Background(), 0) { // each change, until the job has ended
	}
	result, err := job.Result()
	fmt.Println(job.Status().State, result, err)
	// Output: done three documents <nil>
}
