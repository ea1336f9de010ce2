// Package pages makes one sequence of what is read page by page, so that no transaction is open while a reader works.
package pages

import (
	"context"
	"iter"
)

// Join joins the pages that next reads after a place, the first after start, into one sequence. It ends with the page whose
// last is "", and with an error, as it does where the start has failed already.
func Join[T any](ctx context.Context, start string, failed error, next func(after string) (page []T, last string, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		if failed != nil {
			yield(zero, failed)
			return
		}
		for after, more := start, true; more; {
			page, last, err := []T(nil), "", ctx.Err()
			if err == nil {
				page, last, err = next(after)
			}
			if err != nil {
				yield(zero, err)
				return
			}
			for _, x := range page {
				if !yield(x, nil) {
					return
				}
			}
			after, more = last, last != ""
		}
	}
}
